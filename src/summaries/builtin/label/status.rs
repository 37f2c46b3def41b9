//! Conclusions from the status of a command line about each of its commands.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::shell::{CommandLine, CommandPart, Follows};
use crate::text::pattern;

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

/// What errors say, in other words than `make: Nothing to be done`.
static ERROR: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)no such|not a |not found|cannot|can't|could ?n[o']t|unable|denied|refused|error|fail|fatal|invalid|illegal|unknown|unrecognized|unexpected|bad |missing|too (?:many|few|long)|is a directory|exists|busy|usage",
    )
});

/// Returns the programs whose errors an output shows: a line starts with the name, as programs do by convention, also
/// behind the name of a shell.
pub(super) fn programs_with_errors(output: &str) -> HashSet<&str> {
    let named = output.lines().filter_map(|line| {
        let line = line.strip_prefix("Output: ").unwrap_or(line);
        let message = behind_shell(line).or_else(|| line.strip_prefix("bash: "));
        let (name, what) = message.unwrap_or(line).split_once(": ")?;
        let is_error = message.is_some() || name == "fatal" || ERROR.is_match(what);
        is_error.then_some(match name.rsplit('/').next()? {
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
    fn programs_name_themselves_in_their_errors() {
        let rows = [
            ("ls", "ls: cannot access 'x'", true),
            ("ls", "x\n/bin/ls: x: No such file or directory", true),
            ("make", "make: Nothing to be done for 'all'.", false),
            ("go", "go: downloading example.com/x v1.0.0", false),
            ("grep", "grep: a.pyc: binary file matches", false),
            (
                "cd",
                "/bin/bash: line 1: cd: x: No such file or directory",
                true,
            ),
            ("foo", "sh: 1: foo: not found", true),
            ("cd", "bash: cd: x: No such file or directory", true),
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
