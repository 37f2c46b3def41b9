//! Conclusions from the status of a command line about each of its commands.

use std::collections::HashSet;

use crate::shell::{CommandLine, CommandPart, Follows};
use crate::summaries::builtin::names::last_part;

/// The known end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Succeeded,
    /// The status of the line does not depend on it.
    Nothing,
    /// It failed, or another command of the same list did.
    MayHaveFailed,
}

/// Tells the ends of the commands of a line that ended well, or did not.
pub(super) fn known_ends(line: &CommandLine, commands: &[&CommandPart], is_ok: bool) -> Vec<Known> {
    // An option may end the line at the first failure.
    let has_set = commands
        .iter()
        .any(|command| command.own_program() == "set");
    let last = |starts: fn(Follows) -> bool| {
        commands
            .iter()
            .rposition(|command| starts(command.follows))
            .filter(|_| line.is_flat)
    };
    // The last list decides. Of alternatives, any may have succeeded; what `&&` adds behind them did.
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
            () if !is_ok && (decides || has_set) => Known::MayHaveFailed,
            () if is_ok && decides && at >= sure && line.is_flat => Known::Succeeded,
            () => Known::Nothing,
        }
    };
    (0..commands.len()).map(end).collect()
}

/// The names of shells in their messages.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "ksh", "fish", "(eval)"];

fn messages(output: &str) -> impl Iterator<Item = &str> {
    let lines = output.lines();
    lines.map(|line| line.trim_start().trim_start_matches("Output: "))
}

/// Returns the program that a line starts with, as in its errors.
fn speaker(line: &str) -> Option<&str> {
    match last_part(line.split_once(": ")?.0) {
        "fatal" => Some("git"),
        name => Some(name),
    }
}

/// Returns the programs that lines of an output start with.
pub(super) fn speakers(output: &str) -> HashSet<&str> {
    messages(output).filter_map(speaker).collect()
}

/// Whether an output consists of errors of this program.
pub(super) fn has_only_errors_of(program: &str, output: &str) -> bool {
    let mut lines = messages(output).filter(|line| !line.is_empty());
    lines.all(|line| speaker(line) == Some(program))
}

/// Returns the programs about which a shell has a message: it did not find them, or they are its own and failed. The
/// form is `bash: line 1: x: message`, `sh: 1: x: message`, `(eval):x:1: message`, `zsh:1: command not found: x` or
/// `Program 'x.exe' failed to run`.
pub(super) fn refused_programs(output: &str) -> HashSet<&str> {
    let names = messages(output).filter_map(|line| {
        let program = line.strip_prefix("Program '");
        if let Some((program, _)) = program.and_then(|rest| rest.split_once("' failed to run")) {
            return Some(program.trim_end_matches(".exe"));
        }
        let mut parts = line.split(':').map(str::trim);
        let shell = last_part(parts.next()?);
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = parts.filter(|part| {
            let is_place = *part == "-c" || is_number(part.trim_start_matches("line "));
            !is_place && *part != "command not found"
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
        use Known::{MayHaveFailed, Nothing, Succeeded};
        let rows: [(&str, &[Known], &[Known]); 10] = [
            ("a", &[Succeeded], &[MayHaveFailed]),
            ("a | b", &[Nothing, Succeeded], &[Nothing, MayHaveFailed]),
            ("a && b", &[Succeeded; 2], &[MayHaveFailed; 2]),
            (
                "a && b | c",
                &[Succeeded, Nothing, Succeeded],
                &[MayHaveFailed, Nothing, MayHaveFailed],
            ),
            ("a || b", &[Nothing; 2], &[MayHaveFailed; 2]),
            (
                "a || b && c",
                &[Nothing, Nothing, Succeeded],
                &[MayHaveFailed; 3],
            ),
            ("a; b", &[Nothing, Succeeded], &[Nothing, MayHaveFailed]),
            ("a & b", &[Nothing, Succeeded], &[Nothing, MayHaveFailed]),
            (
                "set -e; a; b",
                &[Nothing, Nothing, Succeeded],
                &[MayHaveFailed; 3],
            ),
            ("if a; then b; fi", &[Nothing; 2], &[MayHaveFailed; 2]),
        ];
        for (text, if_ok, if_failed) in rows {
            let line = parse(text);
            let commands: Vec<&CommandPart> = line.commands.iter().collect();
            assert_eq!(known_ends(&line, &commands, true), if_ok, "{text}");
            assert_eq!(known_ends(&line, &commands, false), if_failed, "{text}");
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
        for (output, speaker, refused) in rows {
            let one =
                |name: &'static str| HashSet::from_iter(Some(name).filter(|_| !name.is_empty()));
            assert_eq!(speakers(output), one(speaker), "{output}");
            assert_eq!(refused_programs(output), one(refused), "{output}");
        }
    }
}
