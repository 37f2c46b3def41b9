//! Conclusions from the status of a command line about each of its commands.

use std::collections::HashSet;

use crate::shell::{CommandLine, CommandPart, Follows};

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
    let sets = |is_option: fn(&str) -> bool| {
        let set = commands
            .iter()
            .filter(|command| command.own_program() == "set");
        set.flat_map(|command| command.own_words())
            .any(|word| is_option(word.label()))
    };
    let has_pipefail = sets(|word| word == "pipefail");
    let has_errexit = sets(|word| word.starts_with('-') && word.contains('e'));
    let is_flat = line.is_flat;
    // The last list decides, unless the first failure ends the line.
    let starts =
        |command: &&CommandPart| matches!(command.follows, Follows::Next | Follows::Background);
    let last = commands
        .iter()
        .rposition(starts)
        .filter(|_| is_flat && !has_errexit);
    let last = last.unwrap_or(0);
    // Of alternatives, any may have succeeded; what `&&` adds behind them did.
    let alternative = commands
        .iter()
        .rposition(|command| command.follows == Follows::Or)
        .filter(|at| *at > last);
    let sure = alternative.map_or(last, |alternative| {
        let rest = commands[alternative..].iter();
        let mut behind = rest.map(|command| command.follows == Follows::And);
        alternative + behind.position(|is_and| is_and).unwrap_or(commands.len())
    });
    let end = |at: usize| {
        let feeds = commands
            .get(at + 1)
            .is_some_and(|next| next.follows == Follows::Pipe);
        match () {
            () if at < last || feeds && !has_pipefail => Known::Nothing,
            () if !is_ok => Known::MayHaveFailed,
            () if is_flat && at >= sure => Known::Succeeded,
            () => Known::Nothing,
        }
    };
    (0..commands.len()).map(end).collect()
}

/// Returns the programs whose errors an output shows: a line starts with the name, as programs do by convention, also
/// behind the name of a shell.
pub(super) fn programs_with_errors(output: &str) -> HashSet<&str> {
    let named = output.lines().filter_map(|line| {
        let line = line.strip_prefix("Output: ").unwrap_or(line);
        let (name, _) = behind_shell(line).unwrap_or(line).split_once(": ")?;
        Some(match name.rsplit('/').next()? {
            "fatal" | "error" => "git",
            name => name,
        })
    });
    named.collect()
}

/// Whether an output shows an error of a shell.
pub(super) fn has_error_of_shell(output: &str) -> bool {
    output.lines().any(|line| behind_shell(line).is_some())
}

/// Returns the message in `bash: line 1: message`, `sh: 1: message` or `(eval):1: message`.
fn behind_shell(line: &str) -> Option<&str> {
    let (shell, rest) = line.split_once(':')?;
    let shell = shell.rsplit('/').next()?;
    let (number, message) = rest.split_once(": ")?;
    let number = number
        .trim_start()
        .trim_start_matches("line ")
        .trim_start_matches("-c: line ");
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (shell.ends_with("sh") || shell == "(eval)")).then_some(message)
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
            ("set -e; a; b", &[Succeeded; 3], &[MayHaveFailed; 3]),
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
    fn programs_name_themselves_in_their_errors() {
        let rows = [
            ("ls", "ls: cannot access 'x'", true),
            ("ls", "x\n/bin/ls: x", true),
            (
                "cd",
                "/bin/bash: line 1: cd: x: No such file or directory",
                true,
            ),
            ("foo", "sh: 1: foo: not found", true),
            ("git", "fatal: not a git repository", true),
            ("ls", "false: x\ntools: y", false),
            ("ls", "ls", false),
        ];
        for (program, output, expected) in rows {
            assert_eq!(
                programs_with_errors(output).contains(program),
                expected,
                "{output}"
            );
        }
    }
}
