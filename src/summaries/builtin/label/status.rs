//! Conclusions from the status of a command line about each of its commands.

use std::collections::HashSet;

use crate::shell::{CommandLine, CommandPart, Follows};
use crate::summaries::builtin::names::last_part;

/// The end of a command, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandEnd {
    Succeeded,
    /// Unknown, because the status of the line does not depend on the command.
    Unknown,
    /// The command failed, or another command of the same list did.
    MayHaveFailed,
}

/// Infers the end of each command from the status of the line. `is_ok` says whether the status is 0.
pub(super) fn infer_ends(
    line: &CommandLine,
    commands: &[&CommandPart],
    is_ok: bool,
) -> Vec<CommandEnd> {
    // An option may end the line at the first failure.
    let mut programs = commands.iter().map(|command| command.own_program());
    let has_set = programs.any(|program| program == "set");
    let last = |starts: fn(Follows) -> bool| {
        let last = commands.iter().rposition(|command| starts(command.follows));
        last.filter(|_| line.is_flat)
    };
    // The last list decides. Any of its alternatives may have succeeded, but a command behind a later `&&` did.
    let start = last(|follows| matches!(follows, Follows::Next | Follows::Background)).unwrap_or(0);
    let sure = match last(|follows| follows == Follows::Or).filter(|at| *at > start) {
        Some(alternative) => {
            let mut rest = commands[alternative..].iter();
            let behind = rest.position(|command| command.follows == Follows::And);
            behind.map_or(commands.len(), |behind| alternative + behind)
        }
        None => start,
    };
    let end = |at: usize| {
        let next = commands.get(at + 1);
        let decides = at >= start && next.is_none_or(|next| next.follows != Follows::Pipe);
        match () {
            () if !is_ok && (decides || has_set) => CommandEnd::MayHaveFailed,
            () if is_ok && decides && at >= sure && line.is_flat => CommandEnd::Succeeded,
            () => CommandEnd::Unknown,
        }
    };
    (0..commands.len()).map(end).collect()
}

/// The names of shells in their messages.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "ksh", "fish", "(eval)"];

fn message_lines(output: &str) -> impl Iterator<Item = &str> {
    let lines = output.lines();
    lines.map(|line| line.trim_start().trim_start_matches("Output: "))
}

/// Returns the program whose name starts a line, as in its error messages.
fn named_program(line: &str) -> Option<&str> {
    match last_part(line.split_once(": ")?.0) {
        "fatal" => Some("git"),
        name => Some(name),
    }
}

/// Returns the programs whose names start lines of an output.
pub(super) fn named_programs(output: &str) -> HashSet<&str> {
    message_lines(output).filter_map(named_program).collect()
}

/// Whether an output consists of errors of this program, or of any one that calls them `error`.
pub(super) fn has_only_errors_of(program: &str, output: &str) -> bool {
    let lines = message_lines(output).filter(|line| !line.is_empty());
    let mut lines = lines.map(named_program).peekable();
    lines.peek().is_some() && lines.all(|name| name == Some(program))
}

/// Returns the programs that a shell could not find, and its own commands that failed. The messages have the form `bash: line 1: x: message`, `sh: 1: x: message`, `(eval):x:1: message`, `zsh:1: command not found: x` or
/// `Program 'x.exe' failed to run`.
pub(super) fn refused_programs(output: &str) -> HashSet<&str> {
    let names = message_lines(output).filter_map(|line| {
        let program = line.strip_prefix("Program '");
        if let Some((program, _)) = program.and_then(|rest| rest.split_once("' failed to run")) {
            return Some(program.trim_end_matches(".exe"));
        }
        let mut parts = line.split(':').map(str::trim);
        let shell = last_part(parts.next()?);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = parts.filter(|part| {
            let is_position = *part == "-c" || is_number(part.trim_start_matches("line "));
            !is_position && *part != "command not found"
        });
        parts.next().filter(|_| SHELLS.contains(&shell))
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    #[test]
    fn a_status_tells_about_the_commands_that_decide_it() {
        use CommandEnd::{MayHaveFailed, Succeeded, Unknown};
        let rows: [(&str, &[CommandEnd], &[CommandEnd]); 10] = [
            ("a", &[Succeeded], &[MayHaveFailed]),
            ("a | b", &[Unknown, Succeeded], &[Unknown, MayHaveFailed]),
            ("a && b", &[Succeeded; 2], &[MayHaveFailed; 2]),
            (
                "a && b | c",
                &[Succeeded, Unknown, Succeeded],
                &[MayHaveFailed, Unknown, MayHaveFailed],
            ),
            ("a || b", &[Unknown; 2], &[MayHaveFailed; 2]),
            (
                "a || b && c",
                &[Unknown, Unknown, Succeeded],
                &[MayHaveFailed; 3],
            ),
            ("a; b", &[Unknown, Succeeded], &[Unknown, MayHaveFailed]),
            ("a & b", &[Unknown, Succeeded], &[Unknown, MayHaveFailed]),
            (
                "set -e; a; b",
                &[Unknown, Unknown, Succeeded],
                &[MayHaveFailed; 3],
            ),
            ("if a; then b; fi", &[Unknown; 2], &[MayHaveFailed; 2]),
        ];
        for (text, if_ok, if_failed) in rows {
            let line = parse(text);
            let commands: Vec<&CommandPart> = line.commands.iter().collect();
            assert_eq!(infer_ends(&line, &commands, true), if_ok, "{text}");
            assert_eq!(infer_ends(&line, &commands, false), if_failed, "{text}");
        }
    }

    #[test]
    fn errors_name_their_program() {
        let rows = [
            ("ls: cannot access 'x'", "ls", ""),
            ("/bin/ls: x: No such file or directory", "ls", ""),
            ("fatal: not a git repository", "git", ""),
            ("ls", "", ""),
            ("/bin/bash: line 1: cd: x: No such file", "bash", "cd"),
            ("bash: -c: line 1: unexpected EOF", "bash", "unexpected EOF"),
            ("sh: 1: foo: not found", "sh", "foo"),
            ("bash: cd: x: No such file or directory", "bash", "cd"),
            ("/bin/sh: psql: command not found", "sh", "psql"),
            ("zsh:1: command not found: psql", "zsh:1", "psql"),
            ("(eval):cd:1: no such file: x", "(eval):cd:1", "cd"),
            (
                "Program 'rg.exe' failed to run: no access",
                "Program 'rg.exe' failed to run",
                "rg",
            ),
            ("./run.sh: line 3: foo: command not found", "run.sh", ""),
            ("refresh: foo: x", "refresh", ""),
        ];
        for (output, named_program, refused) in rows {
            let one =
                |name: &'static str| HashSet::from_iter(Some(name).filter(|_| !name.is_empty()));
            assert_eq!(named_programs(output), one(named_program), "{output}");
            assert_eq!(refused_programs(output), one(refused), "{output}");
        }
    }
}
