//! Exit statuses that mean an answer, not a failure; commands that print nothing when all is well.

use super::last_command::last_command;
use crate::shell::simple_commands;

/// Commands whose exit status 1 is an answer, and what it says.
const ANSWERS: &[(&str, &str)] = &[
    ("grep,egrep,fgrep,rg,git grep", "No matches found"),
    ("find", "Some directories were inaccessible"),
    ("diff,git diff", "Files differ"),
    ("test,[", "Condition is false"),
];

/// Options of `git` before its subcommand that take a word of their own.
const GIT_OPTIONS_WITH_VALUE: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Commands whose success is silent.
const SILENT: &[&str] = &[
    ":", "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir",
    "touch", "true", "unset", "wait",
];

/// What exit status `code` of a command line says, if it is an answer of a known command and no
/// failure. `printed_errors`: something arrived on stderr.
pub(super) fn interpretation(
    command: &str,
    code: i32,
    printed_errors: bool,
) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    let last = last_command(command)?;
    if last.after_cd && printed_errors {
        return None;
    }
    let mut name = program_of(&last.words).to_owned();
    if name == "git" {
        name = format!("git {}", git_subcommand(&last.words));
    }
    ANSWERS
        .iter()
        .find(|(names, _)| names.split(',').any(|known| known == name))
        .map(|(_, meaning)| *meaning)
}

/// Whether a command line that went well prints nothing.
pub(super) fn expects_no_output(command: &str) -> bool {
    let list = simple_commands(command);
    list.certain
        && !list.commands.is_empty()
        && list
            .commands
            .iter()
            .all(|command| SILENT.contains(&program_of(&command.words)))
}

/// The last part of the program's path.
fn program_of(words: &[String]) -> &str {
    let program = words.first().map_or("", String::as_str);
    program.rsplit('/').next().unwrap_or(program)
}

fn git_subcommand(words: &[String]) -> &str {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if GIT_OPTIONS_WITH_VALUE.contains(&word.as_str()) {
            words.next();
        } else if !word.starts_with('-') {
            return word;
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_no_failures() {
        let rows: &[(&str, i32, bool, Option<&str>)] = &[
            ("grep x f", 1, false, Some("No matches found")),
            ("grep x f", 2, true, None),
            ("grep x f", 0, false, None),
            ("cat f | rg x", 1, false, Some("No matches found")),
            ("/usr/bin/egrep x f", 1, false, Some("No matches found")),
            (
                "find / -name x",
                1,
                true,
                Some("Some directories were inaccessible"),
            ),
            ("diff a b", 1, false, Some("Files differ")),
            ("test -f x", 1, false, Some("Condition is false")),
            ("[ -f x ]", 1, false, Some("Condition is false")),
            ("git diff --exit-code", 1, false, Some("Files differ")),
            (
                "git -C sub -c a=b --no-pager grep x",
                1,
                false,
                Some("No matches found"),
            ),
            ("git commit -m x", 1, false, None),
            ("git -C diff status", 1, false, None),
            ("git", 1, false, None),
            ("cd d && grep x f", 1, false, Some("No matches found")),
            ("cd nowhere && grep x f", 1, true, None),
            ("npm test && grep x f", 1, false, None),
            ("grep x f | wc -l", 1, false, None),
            ("grep x f; false", 1, false, None),
            ("false", 1, false, None),
            ("! grep x f", 1, false, None),
        ];
        for (command, code, printed_errors, expected) in rows {
            assert_eq!(
                interpretation(command, *code, *printed_errors),
                *expected,
                "{command}"
            );
        }
    }

    #[test]
    fn silent_commands() {
        for command in ["mkdir -p a", "cd a && rm b", "/bin/cp a b; touch c"] {
            assert!(expects_no_output(command), "{command}");
        }
        for command in ["ls", "rm a; ls", "make; touch x", "git rm a", ""] {
            assert!(!expects_no_output(command), "{command}");
        }
    }
}
