//! Programs that an invocation starts: those among its words, unknown ones, and shells that read its input.

use super::invocation::Invocation;
use super::programs;
use super::wildcard::begins_with_gap;
use crate::shell::{CommandPart, PartWord};

impl Invocation {
    /// Whether a word names a program that runs commands from a file.
    pub(super) fn may_run_a_file(&self) -> bool {
        self.words.iter().any(|word| {
            let name = programs::name(word.known_value());
            programs::SHELLS.contains(name) || programs::RUNS_FILES.contains(name)
        })
    }

    /// Whether it starts a command known only at run time.
    pub(super) fn starts_unknown(&self) -> bool {
        let program = self.program();
        let is_unknown = |at: usize| {
            let text = &self.outlines[at];
            begins_with_gap(programs::name(text))
        };
        let first_operand = (1..self.words.len()).find(|at| !self.outlines[*at].starts_with('-'));
        let first_operand = first_operand
            .filter(|_| programs::STARTS_BEHIND_OPERAND.contains_with(program, &self.words));
        (1..self.words.len()).any(|at| {
            let before = &self.words[at - 1];
            let is_behind_operand = first_operand.is_some_and(|first| first < at);
            let attached = self.outlines[at]
                .split_once('\0')
                .is_some_and(|(option, _)| {
                    programs::STARTS_INSIDE.is_mark(program, &PartWord::known(option))
                });
            attached
                || is_unknown(at)
                    && (is_behind_operand
                        || programs::COMMAND_OPTIONS.contains(before.known_value())
                        || (before.value.is_some()
                            && programs::STARTS_INSIDE.is_mark(program, before)))
        })
    }

    /// Whether the program, or one that it starts, runs commands from standard input.
    pub(super) fn may_be_shell(&self, level: &CommandPart) -> bool {
        let program = self.program();
        if programs::READS_COMMANDS.contains_with(program, &self.words) {
            return true;
        }
        let takes_names = programs::TAKES_NAMES.contains(program);
        let is_shell = |word: &PartWord| {
            let name = programs::name(word.known_value());
            programs::SHELLS.contains(name) || programs::READS_COMMANDS.contains(name)
        };
        if programs::SHELLS.contains(program) && (!takes_names || reads_script(&self.outlines[1..]))
        {
            // `sh -c sh`
            let mut operands = self.words.iter().skip(1);
            return reads_script(&self.outlines[1..]) || operands.any(is_shell);
        }
        // The command that `find` starts ends there.
        let behind = |at: usize| {
            let words = &self.outlines[at + 1..];
            words.split(|word| word == ";").next().unwrap_or_default()
        };
        let mut shells = (self.words.iter().enumerate()).filter(|(_, word)| is_shell(word));
        if takes_names {
            return shells.any(|(at, _)| at > 0);
        }
        self.begins_anywhere()
            && level.unwrapped().is_none()
            && shells.any(|(at, _)| reads_script(behind(at)))
    }

    /// Whether it, or a command that it starts, gives files other absolute paths.
    pub(super) fn remounts(&self) -> bool {
        let mut words = self.beginnings().map(|at| &self.words[at]);
        words.any(|word| {
            let name = programs::name(word.known_value());
            programs::REMOUNTS.contains_with(name, &self.words)
        })
    }

    /// Returns the words after the first program that satisfies `is_wanted`.
    pub(super) fn behind<'a>(
        &'a self,
        is_wanted: impl Fn(&str, &[PartWord]) -> bool + 'a,
    ) -> impl Iterator<Item = &'a PartWord> {
        let found = self.beginnings().find(|at| {
            let name = programs::name(self.words[*at].known_value());
            is_wanted(name, &self.words)
        });
        let first = found.map_or(self.words.len(), |program| program + 1);
        self.words.iter().skip(first)
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
