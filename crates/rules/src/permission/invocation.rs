//! A program with its arguments, in all spellings that rules may use.

use super::command_pattern::CommandPattern;
use super::outline::{outline, outlines, with_pathspecs, with_placeholders};
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB, begins_with_gap};
use crate::shell::{CommandPart, PartAssignment, PartWord, analyse};

/// The work of one invocation, compared with looking at a byte: a nested command line may have very many
/// (`decision_tests::a_line_that_takes_too_much_work_needs_approval`).
const WORK: usize = 512;

/// A program, its arguments and its redirections.
pub(super) struct Invocation {
    pub(super) words: Vec<PartWord>,
    pub(super) reads: Vec<PartWord>,
    pub(super) writes: Vec<PartWord>,
    /// Index of the first word at which another command may start, as after `xargs`; at least 1.
    begins_at: usize,
    /// Files that the program changes without naming them in its arguments.
    pub(super) patched: Vec<PartWord>,
    /// The words, with gaps for unknown parts; the first one without directories.
    pub(super) outlines: Vec<String>,
    /// All spellings of the command.
    texts: Vec<String>,
    /// The first two of them, if nothing in them is unknown, to see quickly what it is not.
    known: Option<String>,
    /// The command with assignments before it and redirections behind it.
    surrounded: Vec<String>,
    /// The assignments before it, as `NAME=value`.
    assigned: Vec<String>,
    /// The words with `~` for the home directory, if one is below it.
    below_home: Option<Vec<String>>,
    /// The words without messages known only at run time, if it has any: they are no options.
    options: Option<Vec<String>>,
}

impl Invocation {
    pub(super) fn new(words: &[PartWord], is_guessed: bool, context: &PathContext<'_>) -> Self {
        context.spend(WORK);
        let words: Vec<PartWord> = words.iter().flat_map(PartWord::alternatives).collect();
        let mut words = with_pathspecs(with_placeholders(words));
        for word in words.iter_mut().filter(|word| word.value.is_none()) {
            // `o=--output; git diff $o x`
            if let [value] = outlines(word, context).as_slice()
                && !value.contains([GAP, GLOB])
            {
                word.value = Some(value.clone());
            }
        }
        // The shell removes `$x` without quotes if it is empty.
        words.retain(|word| {
            word.value.as_deref() != Some("")
                || word.text.contains(['"', '\''])
                || !word.text.contains('$')
        });
        let mut outlines: Vec<String> = words.iter().map(|word| outline(word, context)).collect();
        let program = outlines.first().map_or("", |word| programs::name(word));
        let begins_at = if is_guessed {
            1
        } else {
            begins_at(program, &words)
        };
        let written = joined(words.iter().map(|word| word.text.as_str()));
        let meant = joined(outlines.iter().map(String::as_str));
        // The program is matched by name only.
        let by_name = joined(outlines.iter().enumerate().map(|(index, word)| {
            if index == 0 || index >= begins_at {
                programs::name(word)
            } else {
                word
            }
        }));
        if let Some(program) = outlines.first_mut() {
            *program = programs::name(program).to_owned();
        }
        let known = format!("{written} {meant}");
        let known = respelled(&known).fold(known.clone(), |known, text| format!("{known} {text}"));
        let mut invocation = Self {
            known: Some(known).filter(|text| !text.contains([GAP, GLOB])),
            words,
            reads: Vec::new(),
            writes: Vec::new(),
            begins_at,
            patched: Vec::new(),
            outlines,
            texts: vec![written, meant, by_name],
            surrounded: Vec::new(),
            assigned: Vec::new(),
            below_home: None,
            options: None,
        };
        invocation.below_home = invocation.with_tildes(context);
        invocation.options = invocation.without_messages();
        // `git -C . push` is also a `git push`, even after `sudo`.
        let is_known =
            |start: &usize| *start == 0 || !begins_with_gap(&invocation.outlines[*start]);
        let starts = invocation.beginnings().filter(is_known);
        let size = meant_size(&invocation.outlines);
        let starts: Vec<usize> = starts.collect();
        // Each start reads all words.
        context.spend(starts.len() * size);
        for start in starts {
            if context.is_exhausted() {
                break;
            }
            for at in invocation.positions_from(start).into_iter().skip(1) {
                let program = invocation.outlines.iter().skip(start).take(1);
                let kept = program.chain(invocation.outlines.iter().skip(at));
                let text = joined(kept.map(String::as_str));
                context.spend(text.len());
                invocation.texts.push(text);
            }
        }
        // `git bisect view push` is a `git push`.
        let is_view = |word: &String| word == "view" || word == "visualize";
        let view = invocation.outlines.iter().position(is_view);
        let bisects = invocation.outlines.iter().any(|word| word == "bisect");
        if let Some(at) = view.filter(|_| bisects && invocation.program() == "git") {
            let rest = invocation.outlines[at + 1..].iter().map(String::as_str);
            let text = joined(std::iter::once("git").chain(rest));
            invocation.texts.push(text);
        }
        let respelled: Vec<String> = invocation
            .texts
            .iter()
            .flat_map(|text| respelled(text))
            .collect();
        invocation.texts.extend(respelled);
        invocation.texts.dedup();
        invocation
    }

    /// Creates the invocation of a command with its redirections, for which these variables are set.
    pub(super) fn of(
        level: &CommandPart,
        assigned: &[PartAssignment],
        context: &PathContext<'_>,
    ) -> Self {
        let mut invocation = Self::new(&level.words, false, context);
        invocation.add_surroundings(level, assigned, context);
        invocation.reads.clone_from(&level.reads);
        invocation.writes.clone_from(&level.writes);
        if context.writes_through_descriptors() {
            invocation.writes.extend_from_slice(&level.reads);
        }
        // `>!` of zsh.
        if level.writes.iter().any(|word| word.text == "!") {
            invocation.writes.extend_from_slice(&level.words);
        }
        invocation
    }

    /// Returns its words without messages of git known only at run time, if it has any: `-m "$x"`.
    fn without_messages(&self) -> Option<Vec<String>> {
        self.subcommand()
            .filter(|word| programs::TAKES_MESSAGE.is_mark(self.program(), word))?;
        let is_message = |at: usize| {
            let before = at
                .checked_sub(1)
                .map_or("", |before| &self.words[before].text);
            let letters = before.strip_prefix('-');
            let letters = letters.and_then(|letters| letters.strip_suffix('m'));
            let is_option =
                letters.is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_alphabetic()));
            self.words[at].value.is_none()
                && self.words[at].text.starts_with('"')
                && (is_option || before == "--message")
        };
        (0..self.words.len()).any(is_message).then(|| {
            let word = |at| {
                if is_message(at) {
                    String::new()
                } else {
                    self.outlines[at].clone()
                }
            };
            (0..self.words.len()).map(word).collect()
        })
    }

    /// Returns its words with `~` for the home directory, if one is below it.
    fn with_tildes(&self, context: &PathContext<'_>) -> Option<Vec<String>> {
        let home = format!("{}/", context.home()?.display());
        let is_below = |word: &String| word.starts_with(&home);
        self.outlines.iter().any(is_below).then(|| {
            let words = self.outlines.iter();
            words.map(|word| word.replacen(&home, "~/", 1)).collect()
        })
    }

    /// Adds its text with assignments before it and redirections behind it.
    fn add_surroundings(
        &mut self,
        level: &CommandPart,
        assigned: &[PartAssignment],
        context: &PathContext<'_>,
    ) {
        let meant = joined(self.outlines.iter().map(String::as_str));
        let operators = [
            (&level.reads, "<"),
            (&level.writes, ">"),
            (&level.writes, ">>"),
        ];
        let mut texts = vec![meant];
        for (words, operator) in operators {
            let redirected = words.iter().flat_map(|word| {
                let target = outline(word, context);
                texts[0..1]
                    .iter()
                    .map(move |text| format!("{text} {operator} {target}"))
            });
            let redirected: Vec<String> = redirected.collect();
            texts.extend(redirected);
        }
        let set = assigned.iter().chain(&level.assignments).map(|set| {
            let value = outline(&set.word, context);
            format!("{}={value}", set.name)
        });
        self.assigned.extend(set);
        let set = self.assigned.join(" ");
        if !set.is_empty() {
            let assigned = texts.iter().map(|text| format!("{set} {text}"));
            let assigned: Vec<String> = assigned.collect();
            texts.extend(assigned);
        }
        self.surrounded.extend(texts.into_iter().skip(1));
    }

    /// Whether another command may start at one of its words.
    pub(super) fn begins_anywhere(&self) -> bool {
        self.begins_at < self.words.len()
    }

    /// Returns the indices of words at which a command may start.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = usize> + use<> {
        let first = usize::from(!self.words.is_empty());
        (0..first).chain(self.begins_at..self.words.len())
    }

    /// Whether a word precedes every word at which another command may start.
    pub(super) fn is_subcommand(&self, at: usize) -> bool {
        let has_one =
            self.begins_at != usize::MAX || programs::STARTS_INSIDE.has_marks(self.program());
        has_one && at < self.begins_at
    }

    /// Returns the name of the program, without directories.
    pub(super) fn program(&self) -> &str {
        self.outlines.first().map_or("", String::as_str)
    }

    /// Returns the indices of words that may be the first operand: each option may or may not have
    /// a value. `container` of `docker` counts as an option.
    pub(super) fn operand_positions(&self) -> impl Iterator<Item = usize> + use<> {
        self.positions_from(0).into_iter()
    }

    /// Like `operand_positions`, for the program at index `start`.
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
        let program = self.outlines.get(start);
        let program = program.map_or("", |word| programs::name(word));
        let groups = |at: &usize| {
            let group = self.outlines.get(*at);
            group.is_some_and(|group| programs::is_optional(program, group))
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

    /// Whether it matches; parts known only at run time match only stars.
    pub(super) fn is(&self, pattern: &CommandPattern) -> bool {
        self.has_text(pattern, |text| pattern.covers_by_name(text), false)
    }

    /// Whether it may match; unknown parts match.
    pub(super) fn may_be(&self, pattern: &CommandPattern) -> bool {
        self.has_text(pattern, |text| pattern.may_cover(text), true)
    }

    fn has_text(
        &self,
        pattern: &CommandPattern,
        is_covered: impl Fn(&str) -> bool,
        fills_gaps: bool,
    ) -> bool {
        let is_foreign = |known: &String| pattern.is_foreign_to(known);
        if self.known.as_ref().is_some_and(is_foreign) {
            return false;
        }
        // A program known only at run time needs approval.
        let is_known = |text: &str| !begins_with_gap(text);
        let options = self.options.as_ref().unwrap_or(&self.outlines);
        self.outlines.first().is_some_and(|first| is_known(first))
            && self.beginnings().any(|start| {
                let below_home = self.below_home.as_ref().map(|words| [&words[start..]; 2]);
                let words = [&self.outlines[start..], &options[start..]];
                let mut spellings = std::iter::once(words).chain(below_home);
                spellings.any(|words| pattern.covers_words(&self.assigned, words, fills_gaps))
            })
            || self.is_short_for(pattern)
            || self.surrounded.iter().any(|text| is_covered(text))
            || self.texts.iter().any(|text| {
                is_known(text) && is_covered(text)
                    || (self.begins_anywhere()
                        && text
                            .match_indices(' ')
                            .skip(self.begins_at - 1)
                            .filter_map(|(at, _)| text.get(at + 1..))
                            .any(|rest| !begins_with_gap(rest) && is_covered(rest)))
            })
    }

    /// Whether it has a shortened subcommand that may match, as in `npm pub`.
    fn is_short_for(&self, pattern: &CommandPattern) -> bool {
        pattern.may_start_with(self.program())
            && programs::ABBREVIATES.contains(self.program())
            && self.operand_positions().any(|at| {
                let expanded = pattern.expanded(&self.outlines[at]);
                // `npm run i` runs a script.
                let is_behind = programs::is_optional(self.program(), &self.outlines[at - 1]);
                let expanded = expanded.filter(|_| !is_behind);
                expanded.is_some_and(|subcommand| {
                    let words = self.outlines.iter().map(String::as_str);
                    let rest = words.clone().skip(at + 1);
                    let words = words.take(1).chain(std::iter::once(subcommand)).chain(rest);
                    pattern.may_cover(&joined(words))
                })
            })
    }
}

/// Returns a text with other spellings of two words: `git-push` is `git push`.
fn respelled(text: &str) -> impl Iterator<Item = String> {
    const SAME: [(&str, &str); 3] = [
        ("git-", "git "),
        ("docker-compose", "docker compose"),
        ("docker compose", "docker-compose"),
    ];
    let found = SAME.into_iter().filter(|(one, _)| text.contains(one));
    found.map(|(one, other)| text.replace(one, other))
}

/// Returns the length of some words, in bytes.
fn meant_size(words: &[String]) -> usize {
    words.iter().map(|word| word.len() + 1).sum()
}

/// Returns the index of the first word of a program at which it may start another.
fn begins_at(program: &str, words: &[PartWord]) -> usize {
    let inside = &programs::STARTS_INSIDE;
    let is_word = |at: usize| {
        let value = words.get(at).and_then(|word| word.value.as_deref());
        value.is_some_and(|value| !value.starts_with('-'))
    };
    if inside.contains(program) && programs::SUBCOMMANDS.contains(program) && is_word(1) {
        let is_group = programs::SUBCOMMANDS.is_mark(program, &words[1]);
        return 2 + usize::from(is_group && is_word(2));
    }
    let is_starter = programs::STARTS.contains_with(program, words)
        || inside.contains(program)
        || programs::starts_operand(program, words)
        || (programs::INTERPRETS.contains(program) && !is_known_to_read(words));
    if is_starter {
        return 1;
    }
    let mut arguments = words.iter().skip(1);
    let mark = arguments.position(|word| inside.is_mark(program, word));
    mark.map_or(usize::MAX, |at| at + 2)
}

/// Whether the analysis finds a command read-only.
fn is_known_to_read(words: &[PartWord]) -> bool {
    let command = joined(words.iter().map(|word| word.text.as_str()));
    analyse(&command).verdict.is_read_only()
}

/// Joins words with spaces.
pub(super) fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}
