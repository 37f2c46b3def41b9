//! Which simple command gave a command line its exit status.

use crate::shell::{Follows, simple_commands};

/// The words of the command that decided the exit status.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LastCommand {
    /// Never empty.
    pub(super) words: Vec<String>,
    /// A `cd` stands before it with `&&`: it decides, too, but says so on stderr if it fails.
    pub(super) after_cd: bool,
}

/// Commands that may stand before `&&` without raising doubt whose exit status it is.
const NEVER_FAIL: &[&str] = &["echo", "printf", "true", ":", "pwd", "export"];

/// Commands that change which command decides.
const CHANGE_THE_RULES: &[&str] = &[
    "set", "trap", "exit", "exec", "eval", "return", "source", ".",
];

/// The deciding command, if it is certain which one that is.
pub(super) fn last_command(line: &str) -> Option<LastCommand> {
    let read = simple_commands(line);
    let changes_the_rules = read.commands.iter().any(|command| {
        let first = command.words.first().map(String::as_str);
        first.is_some_and(|word| CHANGE_THE_RULES.contains(&word))
    });
    if !read.certain || changes_the_rules {
        return None;
    }
    let mut after_cd = false;
    let mut commands = read.commands.into_iter().rev();
    let last = commands.next()?;
    let mut follows = last.follows;
    for before in commands {
        match follows {
            Follows::And => match before.words.first().map(String::as_str) {
                Some("cd") => after_cd = true,
                Some(word) if NEVER_FAIL.contains(&word) => {}
                _ => return None,
            },
            Follows::Pipe => {}
            // After `||` the last command decides, or everything went well before it.
            Follows::Or | Follows::Next | Follows::Background => break,
        }
        follows = before.follows;
    }
    (!last.words.is_empty()).then_some(LastCommand {
        words: last.words,
        after_cd,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: bool = false;
    const AFTER_CD: bool = true;

    #[test]
    fn the_deciding_command() {
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
            ("grep \"$(cat p)\" f", None),
            ("grep ${x:-a;b} f", None),
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
            let found = last_command(line).map(|last| (last.words.join(" "), last.after_cd));
            let expected = expected.map(|(words, after_cd)| (words.to_owned(), after_cd));
            assert_eq!(found, expected, "{line}");
        }
    }
}
