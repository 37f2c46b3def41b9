//! A program with its arguments, in all spellings that rules may use.

use super::command_pattern::CommandPattern;
use super::outline::{found_by, outline, with_pathspecs, with_placeholders};
use super::path_context::PathContext;
use super::programs::{self, Programs};
use super::wildcard::begins_with_gap;
use crate::shell::{CommandPart, PartWord, analyse};
use crate::tool_facts::patched_files;

/// Maximum number of words that are combined into the names of copies.
const MAX_COPIED: usize = 16;

/// A program, its arguments and its redirections.
pub(super) struct Invocation {
    pub(super) words: Vec<PartWord>,
    pub(super) reads: Vec<PartWord>,
    pub(super) writes: Vec<PartWord>,
    /// Whether the command may start at any word, as after `xargs`.
    pub(super) begins_anywhere: bool,
    /// Files that it changes without naming them in its arguments.
    patched: Vec<PartWord>,
    /// The words, with gaps for unknown parts; the first one without directories.
    outlines: Vec<String>,
    /// All spellings of the command.
    texts: Vec<String>,
}

impl Invocation {
    pub(super) fn new(words: &[PartWord], is_guessed: bool, context: &PathContext<'_>) -> Self {
        let words: Vec<PartWord> = words.iter().flat_map(PartWord::alternatives).collect();
        let words = with_pathspecs(with_placeholders(words));
        let mut outlines: Vec<String> = words.iter().map(|word| outline(word, context)).collect();
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
        // The program is matched by name only.
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
        // `git -C . push` is also a `git push`, even after `sudo`.
        let count = if begins_anywhere {
            invocation.outlines.len()
        } else {
            1
        };
        let is_known =
            |start: &usize| *start == 0 || !begins_with_gap(&invocation.outlines[*start]);
        for start in (0..count).filter(is_known).collect::<Vec<usize>>() {
            for at in invocation.positions_from(start).into_iter().skip(1) {
                let program = invocation.outlines.iter().skip(start).take(1);
                let kept = program.chain(invocation.outlines.iter().skip(at));
                let text = joined(kept.map(String::as_str));
                invocation.texts.push(text);
            }
        }
        // `git-push` is a `git push`.
        let split = invocation.texts.iter().filter(|text| text.contains("git-"));
        let split: Vec<String> = split.map(|text| text.replace("git-", "git ")).collect();
        invocation.texts.extend(split);
        invocation.texts.dedup();
        invocation
    }

    /// Creates the invocation of a command with its redirections.
    pub(super) fn of(level: &CommandPart, context: &PathContext<'_>) -> Self {
        let mut invocation = Self::new(&level.words, false, context);
        invocation.reads.clone_from(&level.reads);
        invocation.writes.clone_from(&level.writes);
        // `>!` of zsh.
        if level.writes.iter().any(|word| word.text == "!") {
            invocation.writes.extend_from_slice(&level.words);
        }
        invocation
    }

    /// Adds the files that variables name.
    pub(super) fn add_variables(&mut self, set: &[(String, Option<String>)]) {
        let files = set
            .iter()
            .filter(|(name, _)| programs::FILE_VARIABLES.contains(name));
        for (_, value) in files {
            let unknown = || PartWord::unknown(0..0, "$file");
            let word = value.as_deref().map_or_else(unknown, PartWord::known);
            self.reads.push(word.clone());
            self.writes.push(word);
        }
    }

    /// Adds the files that it changes without naming them.
    pub(super) fn add_effects(&mut self, level: &CommandPart) {
        if self.patches() {
            self.patch(level);
        }
        if programs::COPIES.contains(self.program()) {
            self.add_copies();
        }
        if self.program() == "find" {
            self.add_found();
        }
    }

    /// Whether it has the name of a program that runs the commands in a file.
    pub(super) fn may_run_a_file(&self) -> bool {
        self.words.iter().any(|word| {
            let name = programs::name(word.value.as_deref().unwrap_or_default());
            programs::SHELLS.contains(name) || programs::RUNS_FILES.contains(name)
        })
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

    /// Adds the names of files that it may change.
    pub(super) fn add_changed<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names = names.filter(|name| !name.is_empty());
        self.patched.extend(names.map(PartWord::known));
    }

    /// Adds the copies of each operand in every operand that may be a directory.
    fn add_copies(&mut self) {
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

    /// Adds the files that `find` finds, if it changes them.
    fn add_found(&mut self) {
        if programs::CHANGES.contains_with(self.program(), &self.words) {
            self.patched.push(PartWord {
                pieces: found_by(&self.words),
                ..PartWord::unknown(0..0, "{}")
            });
        }
    }

    /// Whether it, or a command that it starts, changes the files that a patch names.
    fn patches(&self) -> bool {
        let count = if self.begins_anywhere {
            self.words.len()
        } else {
            1
        };
        (0..count.min(self.words.len())).any(|at| {
            let name = self.words[at].value.as_deref().unwrap_or_default();
            programs::PATCHES.contains_with(programs::name(name), &self.words[at + 1..])
        })
    }

    /// Adds the files named in its patch.
    fn patch(&mut self, level: &CommandPart) {
        let arguments = self.words.iter().skip(1).map(|word| word.value.as_deref());
        let texts = arguments.chain(std::iter::once(level.input.text()));
        let files: Vec<String> = texts
            .flatten()
            .flat_map(patched_files)
            // `diff` writes the time behind a tab.
            .map(|name| name.split('\t').next().unwrap_or_default().to_owned())
            .collect();
        if files.is_empty() {
            self.patched.push(PartWord::unknown(0..0, "$patch"));
        }
        self.add_changed(files.iter().map(String::as_str));
    }

    /// Whether it may match; unknown parts match.
    pub(super) fn may_be(&self, pattern: &CommandPattern) -> bool {
        // A program known only at run time needs approval.
        let is_known = |text: &str| !begins_with_gap(text);
        self.outlines.first().is_some_and(|first| is_known(first))
            && pattern.may_cover_reordered(&self.outlines)
            || self.texts.iter().any(|text| {
                is_known(text) && pattern.may_cover(text)
                    || (self.begins_anywhere
                        && text
                            .match_indices(' ')
                            .filter_map(|(at, _)| text.get(at + 1..))
                            .any(|rest| !begins_with_gap(rest) && pattern.may_cover(rest)))
            })
    }

    /// Returns the words that may name a file that it reads.
    pub(super) fn read_words(&self) -> impl Iterator<Item = &PartWord> {
        let program = self.program();
        let skipped = if self.takes_only_text() {
            self.words.len()
        } else {
            1
        };
        // Their first operand is a script.
        let script = self.words.iter().skip(1).position(|word| {
            matches!(program, "awk" | "gawk" | "mawk" | "sed" | "gsed")
                && !word.text.starts_with('-')
        });
        let before = self.words.iter().take(1).chain(&self.words);
        let words = self.words.iter().zip(before).enumerate();
        let words = words.filter(move |(index, (word, before))| {
            let is_message = |word| programs::TEXT_OPTIONS.is_mark(program, word);
            // Names from standard input have an empty span.
            let is_taken = word.value.is_none() && word.span.is_empty();
            *index >= skipped
                && !is_taken
                && script.is_none_or(|script| *index != script + 1)
                && !is_message(before)
                && !is_message(word)
        });
        words.map(|(_, (word, _))| word).chain(&self.reads)
    }

    /// Whether none of its words name a file.
    fn takes_only_text(&self) -> bool {
        let subcommand = self.words.get(1).map_or(&[][..], std::slice::from_ref);
        programs::TEXTS.contains_with(self.program(), subcommand)
    }

    /// Whether it passes its input only to programs that treat it as text, as in
    /// `xargs -n 1 echo`.
    pub(super) fn passes_text_only(&self) -> bool {
        let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        let starts = self
            .operand_positions()
            .map(|at| self.outlines[at].as_str());
        let mut starts = starts.filter(|word| !word.starts_with('-') && !is_number(word));
        let first = starts.next();
        self.program() == "xargs"
            && first.is_some()
            && (first.into_iter().chain(starts)).all(|program| programs::TEXTS.contains(program))
    }

    /// Returns the values of some options.
    pub(super) fn option_values<'a>(
        &'a self,
        options: &'a Programs,
    ) -> impl Iterator<Item = PartWord> + 'a {
        self.words.iter().enumerate().filter_map(|(index, word)| {
            let text = word.value.as_deref().unwrap_or(&word.text);
            if options.has_option(text) {
                return self.words.get(index + 1).cloned();
            }
            let (name, value) = text.split_once('=').or_else(|| text.split_at_checked(2))?;
            let is_attached = !value.is_empty() && options.has_option(name);
            is_attached.then(|| match &word.value {
                Some(_) => PartWord::known(value),
                None => PartWord::unknown(0..0, value),
            })
        })
    }

    /// Whether it starts a command known only at run time.
    pub(super) fn starts_unknown(&self) -> bool {
        let program = self.program();
        let is_unknown = |at: usize| {
            let text = &self.outlines[at];
            begins_with_gap(text) || (program == "find" && begins_with_gap(programs::name(text)))
        };
        let first_operand = (1..self.words.len()).find(|at| !self.outlines[*at].starts_with('-'));
        (1..self.words.len()).any(|at| {
            let before = &self.words[at - 1];
            let is_behind_operand = programs::STARTS_BEHIND_OPERAND
                .contains_with(program, &self.words)
                && first_operand.is_some_and(|first| first < at);
            let attached = self.outlines[at]
                .split_once('\0')
                .is_some_and(|(option, _)| {
                    programs::STARTS_INSIDE.is_mark(program, &PartWord::known(option))
                });
            attached
                || is_unknown(at)
                    && (is_behind_operand
                        || programs::COMMAND_OPTIONS
                            .contains(before.value.as_deref().unwrap_or_default())
                        || programs::STARTS_INSIDE.is_mark(program, before))
        })
    }

    /// Whether it is, or starts, a program that runs commands from its input.
    pub(super) fn may_be_shell(&self, level: &CommandPart) -> bool {
        let program = self.program();
        if programs::READS_COMMANDS.contains_with(program, &self.words) {
            return true;
        }
        let takes_names = programs::TAKES_NAMES.contains(program);
        if programs::SHELLS.contains(program) && (!takes_names || reads_script(&self.outlines[1..]))
        {
            return reads_script(&self.outlines[1..]);
        }
        let is_shell = |word: &PartWord| {
            let value = word.value.as_deref().unwrap_or_default();
            let name = programs::name(value);
            programs::SHELLS.contains(name) || programs::READS_COMMANDS.contains(name)
        };
        // The command that `find` starts ends there.
        let behind = |at: usize| {
            let words = &self.outlines[at + 1..];
            words.split(|word| word == ";").next().unwrap_or_default()
        };
        let mut shells = (self.words.iter().enumerate()).filter(|(_, word)| is_shell(word));
        if takes_names {
            return shells.any(|(at, _)| at > 0);
        }
        self.begins_anywhere
            && level.unwrapped().is_none()
            && shells.any(|(at, _)| reads_script(behind(at)))
    }

    /// Returns the words after the first program that satisfies `is_wanted`.
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

    /// Returns the words that name files it changes directly.
    pub(super) fn changed(&self) -> impl Iterator<Item = PartWord> {
        let operands = self.behind(|program, words| {
            program == ">" || programs::CHANGES.contains_with(program, words)
        });
        let written = self.option_values(&programs::OUTPUT_OPTIONS);
        let written = written.filter(|word| word.value.is_some());
        let named = operands.chain(&self.writes).chain(&self.patched);
        named.cloned().chain(written)
    }
}

/// Whether a shell with these arguments runs its standard input. An unknown word may be an option.
fn reads_script(arguments: &[String]) -> bool {
    let is_stdin = |value: &str| {
        // A process substitution counts as standard input.
        value == "/dev/stdin" || value.starts_with("/dev/fd/") || value.starts_with("/proc/")
    };
    let mut values = arguments.iter().map(String::as_str);
    while let Some(value) = values.next() {
        match value {
            value if begins_with_gap(value) => return true,
            "-" | "--" => return values.next().is_none_or(is_stdin),
            "--rcfile" | "--init-file" => _ = values.next(),
            option if option.starts_with("--") => {}
            option if option.starts_with(['-', '+']) => {
                if option.contains(['c', 's', '\0']) {
                    return !option.contains('c');
                }
                if option.ends_with(['o', 'O']) {
                    values.next();
                }
            }
            operand => return is_stdin(operand),
        }
    }
    true
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
