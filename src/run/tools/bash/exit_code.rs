//! Exit statuses that are results, not failures, and commands that print nothing on success.

use crate::shell::{CommandLine, CommandPart, Follows, PartWord, program_name};

/// Commands whose exit status 1 is a result, with its meaning.
const RESULTS: &[(&str, &str)] = &[
    ("grep,egrep,fgrep,rg,git grep", "No matches found"),
    ("find", "Some directories were inaccessible"),
    ("diff,git diff", "Files differ"),
    ("test,[", "Condition is false"),
];

/// Commands that print nothing on success.
const SILENT_COMMANDS: &[&str] = &[
    ":", "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir",
    "touch", "true", "unset", "wait",
];

/// Returns the meaning of the exit status `code` if it is a result of a known command, not a failure. `printed_errors`
/// is whether standard error was not empty.
pub(super) fn interpret_status(
    line: &CommandLine,
    code: i32,
    printed_errors: bool,
) -> Option<&'static str> {
    let last = last_command(line).filter(|last| code == 1 && !(last.after_cd && printed_errors))?;
    let mut name = program_name_of(last.command).to_owned();
    if name == "git" {
        name = format!("git {}", last.command.operands().first().unwrap_or(&""));
    }
    let mut results = RESULTS.iter();
    let found = results.find(|(names, _)| names.split(',').any(|known| known == name));
    found.map(|(_, meaning)| *meaning)
}

/// Whether a command line prints nothing on success.
pub(super) fn is_silent_on_success(line: &CommandLine) -> bool {
    let is_silent = |command| SILENT_COMMANDS.contains(&program_name_of(command));
    is_certain(line) && !line.commands.is_empty() && line.commands.iter().all(is_silent)
}

/// Whether a line has only simple commands without here-documents, so that its last command is certain.
fn is_certain(line: &CommandLine) -> bool {
    line.is_flat && !line.commands.iter().any(CommandPart::has_here_document)
}

/// Returns the name of the program, which may be a wrapper.
fn program_name_of(command: &CommandPart) -> &str {
    first_word(command).map_or("", program_name)
}

/// Returns the label of the first word.
fn first_word(command: &CommandPart) -> Option<&str> {
    command.words.first().map(PartWord::label)
}

/// The command that determined the exit status.
#[derive(Debug, PartialEq, Eq)]
struct LastCommand<'line> {
    /// Never without words.
    command: &'line CommandPart,
    /// Whether `cd … &&` precedes it: a failing `cd` also determines the status, but prints an
    /// error.
    after_cd: bool,
}

/// Commands that, before `&&`, cannot be the source of the exit status.
const NEVER_FAIL: &[&str] = &["echo", "printf", "true", ":", "pwd", "export"];

/// Commands that may change which command determines the status.
const STATUS_CHANGING: &[&str] = &[
    "set", "trap", "exit", "exec", "eval", "return", "source", ".",
];

/// Returns the command that determines the status, if that is certain.
fn last_command(line: &CommandLine) -> Option<LastCommand<'_>> {
    let mut words = line.commands.iter().filter_map(first_word);
    if !is_certain(line) || words.any(|word| STATUS_CHANGING.contains(&word)) {
        return None;
    }
    let from_last = line.commands.iter().rev();
    let mut commands = from_last.filter(|command| !command.context.is_substituted);
    let command = commands.next().filter(|last| !last.words.is_empty())?;
    let mut after_cd = false;
    let mut follows = command.follows;
    for before in commands {
        match follows {
            Follows::And => match first_word(before) {
                Some("cd") => after_cd = true,
                Some(word) if NEVER_FAIL.contains(&word) => {}
                _ => return None,
            },
            Follows::Pipe => {}
            // After `||`, the last command determines the status, unless everything before it
            // succeeded.
            Follows::Or | Follows::Next | Follows::Background => break,
        }
        follows = before.follows;
    }
    Some(LastCommand { command, after_cd })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::parse;

    #[test]
    fn statuses_that_are_results_are_not_failures() {
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
            (
                "diff <(sort a) <(sort b | uniq)",
                1,
                false,
                Some("Files differ"),
            ),
            ("diff <(sort a", 1, false, None),
            ("diff <(sort a) b; false", 1, false, None),
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
                interpret_status(&parse(command), *code, *printed_errors),
                *expected,
                "{command}"
            );
        }
    }

    #[test]
    fn silent_commands_are_known() {
        for command in ["mkdir -p a", "cd a && rm b", "/bin/cp a b; touch c"] {
            assert!(is_silent_on_success(&parse(command)), "{command}");
        }
        for command in ["ls", "rm a; ls", "make; touch x", "git rm a", ""] {
            assert!(!is_silent_on_success(&parse(command)), "{command}");
        }
    }

    fn join_words(command: &CommandPart) -> String {
        let words: Vec<&str> = command.words.iter().map(PartWord::label).collect();
        words.join(" ")
    }

    const ALONE: bool = false;

    const AFTER_CD: bool = true;

    #[test]
    fn the_command_that_determines_the_status_is_found() {
        let rows: &[(&str, Option<(&str, bool)>)] = &[
            ("grep x f", Some(("grep x f", ALONE))),
            ("cat f | grep -q 'a b'", Some(("grep -q a b", ALONE))),
            ("make; grep x f", Some(("grep x f", ALONE))),
            ("make\ngrep x f\n", Some(("grep x f", ALONE))),
            ("make & grep x f", Some(("grep x f", ALONE))),
            ("cd d && grep x f", Some(("grep x f", AFTER_CD))),
            ("cd d && cat f | grep x", Some(("grep x", AFTER_CD))),
            ("echo hi && grep x f", Some(("grep x f", ALONE))),
            ("LC_ALL=C A=1 grep x f >out 2>&1", Some(("grep x f", ALONE))),
            ("grep x f &>/dev/null", Some(("grep x f", ALONE))),
            ("grep x f 2>/dev/null # why", Some(("grep x f", ALONE))),
            ("grep x \\\n f", Some(("grep x f", ALONE))),
            ("grep \"a \\\" b\" f", Some(("grep a \" b f", ALONE))),
            ("grep x <in", Some(("grep x", ALONE))),
            ("a=b; grep x$Y f", Some(("grep x$Y f", ALONE))),
            ("make && grep x f", None),
            ("make || grep x f", Some(("grep x f", ALONE))),
            ("set -e; grep x f", None),
            ("grep \"$(cat p)\" f", Some(("grep $() f", ALONE))),
            ("grep ${x:-a;b} f", Some(("grep ${x:-a;b} f", ALONE))),
            ("(grep x f)", None),
            ("grep x <<E\nx\nE", None),
            ("grep 'open", None),
            ("grep x `id`", None),
            ("case a in b) ;; esac", None),
            ("grep x f; a=b", None),
            ("grep x f >", None),
            ("| grep x", None),
            ("", None),
        ];
        for (line, expected) in rows {
            let line_read = parse(line);
            let found =
                last_command(&line_read).map(|last| (join_words(last.command), last.after_cd));
            let expected = expected.map(|(words, after_cd)| (words.to_owned(), after_cd));
            assert_eq!(found, expected, "{line}");
        }
    }
}
