//! The commands of a command line that may change something, according to the shell analysis.

use std::collections::BTreeSet;

use crate::shell::{CommandPart, PartWord, analyse, program_name};

/// Programs that may change something in a command line.
#[derive(Debug)]
pub(super) enum Effects {
    /// No program changes anything.
    ReadOnly,
    /// The programs whose commands are not known to only read.
    Some(BTreeSet<String>),
    /// The command line is not understood, so any program may change something.
    Unknown,
}

impl Effects {
    /// Analyses a command line.
    pub(super) fn of(command: &str) -> Self {
        let analysis = analyse(command);
        if analysis.verdict.is_read_only() {
            return Self::ReadOnly;
        }
        let Some(parts) = analysis.line.all_commands() else {
            return Self::Unknown;
        };
        let only_reads = |part: &&CommandPart| {
            let text = command.get(part.span.clone()).unwrap_or_default();
            let is_reader = part.only_reads || analyse(text).verdict.is_read_only();
            is_reader && part.writes.is_empty()
        };
        let mut changing = parts.iter().filter(|part| !only_reads(part)).peekable();
        if changing.peek().is_none() {
            return Self::ReadOnly;
        }
        match changing.map(programs).collect::<Option<Vec<_>>>() {
            Some(programs) => Self::Some(programs.into_iter().flatten().collect()),
            None => Self::Unknown,
        }
    }

    /// Whether a command of this program may change something.
    pub(super) fn may_change(&self, program: &str) -> bool {
        match self {
            Self::ReadOnly => false,
            Self::Some(programs) => programs.contains(program),
            Self::Unknown => true,
        }
    }

    /// The programs that may change something, as far as known.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        let programs = match self {
            Self::Some(programs) => Some(programs),
            Self::ReadOnly | Self::Unknown => None,
        };
        programs.into_iter().flatten().map(String::as_str)
    }
}

/// Returns the program of a command, and the programs that it starts; `None` if none is known.
fn programs(part: &CommandPart) -> Option<Vec<String>> {
    let levels = part.levels().into_iter();
    let names = levels.filter_map(|level| level.words.first()?.value.clone());
    let names: Vec<String> = names.map(|name| program_name(&name).to_owned()).collect();
    (!names.is_empty()).then_some(names)
}

/// Whether the status of the command line ignores the status of the command at `index`: it feeds a
/// pipe, `||` precedes or follows, or other commands follow. An error of the last kind shows in the output
/// if the command `is_loud`.
pub(super) fn hides_status(commands: &[&CommandPart], index: usize, is_loud: bool) -> bool {
    use crate::shell::Follows::{And, Background, Next, Or, Pipe};
    let sets_pipefail = commands.iter().any(|command| {
        command
            .words
            .iter()
            .map(PartWord::label)
            .any(|word| word == "pipefail")
    });
    if commands
        .get(index)
        .is_some_and(|command| command.follows == Or)
    {
        return true;
    }
    let mut behind = commands
        .iter()
        .skip(index + 1)
        .map(|command| command.follows);
    match behind.next() {
        Some(Pipe) => !sets_pipefail,
        Some(Or | Background) => true,
        Some(And) => behind
            .find(|follows| !matches!(follows, And | Pipe))
            .is_some_and(|follows| follows == Or || follows == Next && !is_loud),
        Some(Next) => !is_loud || commands[index].discards_errors(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    #[test]
    fn commands_that_may_change_something_are_found() {
        let rows = [
            ("find . -name '*.log' -exec rm {} +", "find", true),
            ("find . -delete", "find", true),
            ("find . -name x", "find", false),
            ("find . -name x | xargs rm", "xargs", true),
            ("grep -rl a b | xargs sed -i s/a/b/", "sed", true),
            ("grep -rl a b | xargs sed -i s/a/b/", "grep", false),
            ("sed -n 3p a", "sed", false),
            ("sort -o a b", "sort", true),
            ("git log --output=a", "git", true),
            ("git log", "git", false),
            ("gh pr view 7", "gh", true),
            ("ls > a", "ls", true),
            ("ls 2>/dev/null", "ls", false),
            ("ls && $(echo rm) x", "ls", true),
        ];
        for (command, program, expected) in rows {
            let effects = Effects::of(command);
            assert_eq!(effects.may_change(program), expected, "{command}");
        }
    }

    #[test]
    fn statuses_are_hidden_by_pipes_and_alternatives() {
        let rows = [
            ("a", false),
            ("a | b", true),
            ("a && b | c", false),
            ("a && b || c", true),
            ("a || b", true),
            ("b || a", true),
            ("a; b", false),
            ("a 2>/dev/null; b", true),
            ("a 2>/dev/null", false),
            ("set -o pipefail; a | b", false),
        ];
        for (command, expected) in rows {
            let line = parse(command);
            let commands: Vec<&CommandPart> = line.commands.iter().collect();
            let mut programs = commands.iter().map(|command| command.program());
            let index = programs.position(|program| program == Some("a"));
            assert_eq!(
                hides_status(&commands, index.unwrap(), true),
                expected,
                "{command}"
            );
        }
    }
}
