//! A program with its arguments, in the ways in which rules may write it.

use std::ops::Range;

use super::command_pattern::CommandPattern;
use super::named_file::outline;
use super::programs;
use super::surroundings::Surroundings;
use super::wildcard::GAP;
use crate::agent::patched_files;
use crate::shell::{CommandPart, PartInput, PartWord, analyse};

/// Maximum number of words that are combined to the names of copies.
const MAX_COPIED: usize = 16;

/// A program and its arguments, with the files that it is redirected from and to.
pub(super) struct Invocation {
    pub(super) words: Vec<PartWord>,
    pub(super) reads: Vec<PartWord>,
    pub(super) writes: Vec<PartWord>,
    /// Whether it may begin at any of the words, as behind `xargs`.
    pub(super) begins_anywhere: bool,
    /// Files that it changes without naming them in its words.
    patched: Vec<PartWord>,
    /// The words, with gaps for what is not known; the first one without directories.
    outlines: Vec<String>,
    /// Ways to write it.
    texts: Vec<String>,
}

impl Invocation {
    pub(super) fn new(
        words: Vec<PartWord>,
        is_guessed: bool,
        surroundings: &Surroundings<'_>,
    ) -> Self {
        let mut outlines: Vec<String> = words
            .iter()
            .map(|word| outline(word, surroundings))
            .collect();
        let arguments = words.get(1..).unwrap_or_default();
        let is_starter = |program: &String| {
            let program = programs::name(program);
            programs::STARTS.contains(program)
                || programs::STARTS_INSIDE.contains_with(program, arguments)
                || (programs::INTERPRETS.contains(program) && !is_known_to_read(&words))
        };
        let begins_anywhere = is_guessed || outlines.first().is_some_and(is_starter);
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
        if let Some(program) = outlines.first_mut() {
            *program = programs::name(program).to_owned();
        }
        let mut invocation = Self {
            words,
            reads: Vec::new(),
            writes: Vec::new(),
            begins_anywhere,
            patched: Vec::new(),
            outlines,
            texts: vec![written, meant, by_name],
        };
        // `git -C . push` is a `git push` as well, also behind `sudo`.
        let count = if begins_anywhere {
            invocation.outlines.len()
        } else {
            1
        };
        let is_known = |start: &usize| *start == 0 || !invocation.outlines[*start].starts_with(GAP);
        for start in (0..count).filter(is_known).collect::<Vec<usize>>() {
            for at in invocation.positions_from(start).into_iter().skip(1) {
                let program = invocation.outlines.iter().skip(start).take(1);
                let kept = program.chain(invocation.outlines.iter().skip(at));
                let text = joined(kept.map(String::as_str));
                invocation.texts.push(text);
            }
        }
        invocation.texts.dedup();
        invocation
    }

    /// The name of the program, without directories.
    pub(super) fn program(&self) -> &str {
        self.outlines.first().map_or("", String::as_str)
    }

    /// The indices of words that may be the first one after the program's own options: each option
    /// may have a value, or not. `docker container` counts as such an option.
    pub(super) fn operand_positions(&self) -> impl Iterator<Item = usize> + use<> {
        self.positions_from(0).into_iter()
    }

    /// The same for the program at this index.
    fn positions_from(&self, start: usize) -> Vec<usize> {
        let is_option = |at: usize| {
            self.outlines
                .get(at)
                .is_some_and(|word| word.starts_with('-'))
        };
        let mut at = start + 1;
        let mut positions = vec![at];
        while is_option(at) {
            at += 1;
            positions.push(at);
            let has_value = self
                .outlines
                .get(at - 1)
                .is_some_and(|word| word.contains('='));
            if !has_value && !is_option(at) && at < self.outlines.len() {
                at += 1;
                positions.push(at);
            }
        }
        let groups = |at: &usize| {
            let group = self.outlines.get(*at).map(String::as_str);
            let program = self
                .outlines
                .get(start)
                .map_or("", |word| programs::name(word));
            matches!(
                (program, group),
                ("docker" | "podman" | "nerdctl", Some("container"))
            )
        };
        let within: Vec<usize> = positions
            .iter()
            .filter(|at| groups(at))
            .map(|at| at + 1)
            .collect();
        positions.extend(within);
        positions.retain(|at| *at < self.outlines.len());
        positions
    }

    /// Adds files that it may change, by name.
    pub(super) fn add_changed<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names = names.filter(|name| !name.is_empty());
        self.patched.extend(names.map(|name| PartWord {
            span: Range::default(),
            text: name.to_owned(),
            value: Some(name.to_owned()),
        }));
    }

    /// Adds the files that copies of its operands are in each of its operands that may be a directory.
    pub(super) fn add_copies(&mut self) {
        let words = self.words.iter().skip(1).take(MAX_COPIED);
        let values = words.filter_map(|word| word.value.as_deref());
        let values = values.map(|value| value.rsplit_once('=').map_or(value, |(_, after)| after));
        let operands: Vec<&str> = values.filter(|value| !value.starts_with('-')).collect();
        let copies = operands.iter().flat_map(|to| {
            let names = operands.iter().map(|from| programs::name(from));
            names.map(move |name| format!("{to}/{name}"))
        });
        let copies: Vec<String> = copies.collect();
        self.add_changed(copies.iter().map(String::as_str));
    }

    /// Adds the files of the patch that it gets.
    pub(super) fn patch(&mut self, level: &CommandPart) {
        let input = match &level.input {
            PartInput::Text(Some(text)) => Some(text.as_str()),
            PartInput::Text(None) | PartInput::Given | PartInput::Inherited => None,
        };
        let arguments = self.words.iter().skip(1).map(|word| word.value.as_deref());
        let texts = arguments.chain(std::iter::once(input));
        let files: Vec<String> = texts
            .flatten()
            .flat_map(|text| patched_files(text).map(str::to_owned))
            .collect();
        if files.is_empty() {
            self.patched.push(PartWord {
                span: Range::default(),
                text: "$patch".to_owned(),
                value: None,
            });
        }
        self.add_changed(files.iter().map(String::as_str));
    }

    /// Whether it may match; what is not known matches.
    pub(super) fn may_be(&self, pattern: &CommandPattern) -> bool {
        pattern.may_cover_reordered(&self.outlines)
            || self.texts.iter().any(|text| {
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
            program == ">" || programs::CHANGES.contains_with(program, words)
        });
        operands.chain(&self.writes).chain(&self.patched)
    }
}

/// Whether the analysis says that a command only reads.
fn is_known_to_read(words: &[PartWord]) -> bool {
    let command = joined(words.iter().map(|word| word.text.as_str()));
    analyse(&command).verdict.is_read_only()
}

/// Words with blanks between them.
pub(super) fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}
