//! What a command may start: itself, what it is a wrapper of, and what is in its arguments.

use super::command_pattern::CommandPattern;
use super::named_file::outline;
use super::programs;
use super::surroundings::Surroundings;
use super::wildcard::GAP;
use crate::shell::{CommandPart, PartWord, analyse};

/// How deep command lines in the arguments of commands are looked at.
const DEEPEST: usize = 4;

/// Keywords behind which a command begins.
const BEFORE_COMMANDS: &[&str] = &[
    "!", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while",
];

/// A program and its arguments, with the files that it is redirected from and to.
pub(super) struct Invocation {
    pub(super) words: Vec<PartWord>,
    pub(super) reads: Vec<PartWord>,
    pub(super) writes: Vec<PartWord>,
    /// Whether it may begin at any of the words, as behind `xargs`.
    begins_anywhere: bool,
    /// Ways to write it.
    texts: Vec<String>,
}

/// All that may be run by a command, which is given with those that it starts in its place.
pub(super) fn started(levels: &[CommandPart], surroundings: &Surroundings<'_>) -> Vec<Invocation> {
    let mut found = Vec::new();
    collect(levels, DEEPEST, surroundings, &mut found);
    found
}

fn collect(
    levels: &[CommandPart],
    deeper: usize,
    surroundings: &Surroundings<'_>,
    found: &mut Vec<Invocation>,
) {
    for level in levels {
        let invocation = Invocation {
            reads: level.reads.clone(),
            writes: level.writes.clone(),
            ..Invocation::new(level.words.clone(), false, surroundings)
        };
        let is_starter = invocation.begins_anywhere;
        let arguments = level.words.iter().skip(1).filter(|_| is_starter);
        found.push(invocation);
        for script in arguments.filter_map(|word| word.value.as_deref()) {
            if !script.contains([' ', '\t', '\n', ';', '|', '&']) {
                continue;
            }
            match analyse(script).parts.filter(|_| deeper > 0) {
                Some(parts) => {
                    for part in parts.iter() {
                        collect(&part.levels(), deeper - 1, surroundings, found);
                    }
                }
                None => found.extend(guessed(script, surroundings)),
            }
        }
    }
}

/// What may be run by a text that is not understood: anything between signs that separate commands.
pub(super) fn guessed(script: &str, surroundings: &Surroundings<'_>) -> Vec<Invocation> {
    let script = script.replace("\\\n", "").replace('>', " > ");
    let mut found = Vec::new();
    for piece in script.split([';', '|', '&', '\n', '(', ')', '{', '}', '`']) {
        let piece = piece.replace(['"', '\'', '\\'], "");
        let words = piece.split_whitespace().map(|word| PartWord {
            span: 0..0,
            text: word.to_owned(),
            value: (!word.contains('$')).then(|| word.to_owned()),
        });
        let words: Vec<PartWord> = words.collect();
        let command = CommandPart {
            words: without_beginning(&words).to_vec(),
            ..CommandPart::default()
        };
        let levels = command.levels().into_iter().map(|level| level.words);
        let ways = std::iter::once(words).chain(levels);
        found.extend(
            ways.filter(|words| !words.is_empty())
                .map(|words| Invocation::new(words, true, surroundings)),
        );
    }
    found
}

/// Without the keywords, assignments and redirections before a command.
fn without_beginning(mut words: &[PartWord]) -> &[PartWord] {
    while let Some((first, rest)) = words.split_first() {
        let text = first.text.as_str();
        words = match text {
            ">" | "<" => rest.get(1..).unwrap_or_default(),
            _ if BEFORE_COMMANDS.contains(&text) || text.contains(['=', '<']) => rest,
            // The descriptor that is redirected.
            _ if text.bytes().all(|byte| byte.is_ascii_digit()) => rest,
            _ => break,
        };
    }
    words
}

impl Invocation {
    fn new(words: Vec<PartWord>, is_guessed: bool, surroundings: &Surroundings<'_>) -> Self {
        let outlines: Vec<String> = words
            .iter()
            .map(|word| outline(word, surroundings))
            .collect();
        let begins_anywhere = is_guessed
            || outlines
                .first()
                .is_some_and(|program| programs::STARTS.contains(programs::name(program)));
        let written = joined(words.iter().map(|word| word.text.as_str()));
        let meant = joined(outlines.iter().map(String::as_str));
        // By whatever path.
        let by_name = joined(outlines.iter().enumerate().map(|(index, word)| {
            if index == 0 || begins_anywhere {
                programs::name(word)
            } else {
                word
            }
        }));
        let mut texts = vec![written, meant, by_name];
        texts.dedup();
        Self {
            words,
            reads: Vec::new(),
            writes: Vec::new(),
            begins_anywhere,
            texts,
        }
    }

    /// Whether it may match; what is not known matches.
    pub(super) fn may_be(&self, pattern: &CommandPattern) -> bool {
        self.texts.iter().any(|text| {
            pattern.may_cover(text)
                || (self.begins_anywhere
                    && text
                        .match_indices(' ')
                        .filter_map(|(at, _)| text.get(at + 1..))
                        .any(|rest| !rest.starts_with(GAP) && pattern.may_cover(rest)))
        })
    }

    /// The words behind the first program that is wanted.
    pub(super) fn behind<'a>(
        &'a self,
        is_wanted: impl Fn(&str, &[PartWord]) -> bool + 'a,
    ) -> impl Iterator<Item = &'a PartWord> {
        let beginnings = if self.begins_anywhere {
            self.words.len()
        } else {
            1
        };
        let found = self.words.iter().take(beginnings).position(|word| {
            let program = programs::name(word.value.as_deref().unwrap_or_default());
            is_wanted(program, &self.words)
        });
        let first = found.map_or(self.words.len(), |program| program + 1);
        self.words.iter().skip(first)
    }

    /// The words that name files which it changes by itself.
    pub(super) fn changed(&self) -> impl Iterator<Item = &PartWord> {
        let operands = self.behind(|program, words| {
            program == ">"
                || (programs::CHANGES.contains(program)
                    && (program != "sed" || words.iter().any(edits_in_place)))
        });
        operands.chain(&self.writes)
    }
}

/// Words with blanks between them.
pub(super) fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

/// Whether it is an option by which `sed` changes its files.
pub(super) fn edits_in_place(word: &PartWord) -> bool {
    word.text.starts_with("--in-place")
        || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('i'))
}
