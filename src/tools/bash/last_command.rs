//! Which simple command gave a command line its exit status.
//!
//! A reader for display and for the reading of exit status 1, not for safety: it understands
//! plain words, quotes and the operators between commands, and gives up on everything else.

/// The words of the command that decided the exit status, quotes removed, without variable
/// assignments before it and without redirections.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LastCommand {
    /// Never empty.
    pub(super) words: Vec<String>,
    /// A `cd` stands before it with `&&`: it decides, too, but says so on stderr when it fails.
    pub(super) after_cd: bool,
}

/// Commands that may stand before `&&` without raising doubt whose exit status it is.
const NEVER_FAIL: &[&str] = &["echo", "printf", "true", ":", "pwd", "export"];

/// Commands after which a shell no longer behaves as this reader thinks.
const CHANGE_THE_RULES: &[&str] = &[
    "set", "trap", "exit", "exec", "eval", "return", "source", ".",
];

/// The deciding command, if it is certain which one that is.
pub(super) fn last_command(line: &str) -> Option<LastCommand> {
    let mut commands = split(line)?;
    if commands.iter().any(|command| {
        let first = command.words.first().map(String::as_str);
        first.is_some_and(|word| CHANGE_THE_RULES.contains(&word))
    }) {
        return None;
    }
    let last = commands.pop()?;
    let mut after_cd = false;
    for (before, operator) in commands
        .iter()
        .rev()
        .map(|command| (command, command.operator))
    {
        match operator {
            Operator::And => match before.words.first().map(String::as_str) {
                Some("cd") => after_cd = true,
                Some(word) if NEVER_FAIL.contains(&word) => {}
                _ => return None,
            },
            Operator::Pipe => {}
            // After `||` the last command decides, or everything went well before it.
            Operator::Or | Operator::End => break,
        }
    }
    if last.words.is_empty() {
        return None;
    }
    Some(LastCommand {
        words: last.words,
        after_cd,
    })
}

/// The words of every simple command of a line, if it consists of nothing else.
pub(super) fn simple_commands(line: &str) -> Option<Vec<Vec<String>>> {
    let commands = split(line)?;
    Some(commands.into_iter().map(|command| command.words).collect())
}

/// What stands between a command and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
    /// `;`, `&`, a line feed, or the end of the line: what follows does not depend on it.
    End,
}

#[derive(Debug)]
struct Simple {
    words: Vec<String>,
    operator: Operator,
}

/// Splits a line into simple commands; `None` for anything but words, quotes and operators.
fn split(line: &str) -> Option<Vec<Simple>> {
    let mut reader = Reader::default();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                let word = reader.word();
                loop {
                    match characters.next()? {
                        '\'' => break,
                        other => word.push(other),
                    }
                }
            }
            '"' => {
                let word = reader.word();
                loop {
                    match characters.next()? {
                        '"' => break,
                        '\\' => word.push(characters.next()?),
                        '`' => return None,
                        '$' if matches!(characters.peek(), Some('(' | '{')) => return None,
                        other => word.push(other),
                    }
                }
            }
            '\\' => match characters.next()? {
                '\n' => {}
                other => reader.word().push(other),
            },
            '$' if matches!(characters.peek(), Some('(' | '{' | '\'' | '"')) => return None,
            '`' | '(' | ')' => return None,
            '#' if reader.current.is_none() => {
                while characters.next_if(|next| *next != '\n').is_some() {}
            }
            '<' | '>' => {
                // Descriptor numbers belong to the redirection: `2>`.
                reader
                    .current
                    .take_if(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
                reader.end_word();
                let double = characters.next_if_eq(&character).is_some();
                if (character == '<' && double) || characters.peek() == Some(&'(') {
                    return None;
                }
                while characters
                    .next_if(|next| matches!(next, '&' | '|' | '>'))
                    .is_some()
                {}
                reader.expect_target = true;
            }
            '&' if characters.peek() == Some(&'>') => {
                characters.next();
                characters.next_if_eq(&'>');
                reader.end_word();
                reader.expect_target = true;
            }
            '&' if characters.next_if_eq(&'&').is_some() => reader.end_command(Operator::And)?,
            '|' if characters.next_if_eq(&'|').is_some() => reader.end_command(Operator::Or)?,
            '|' => {
                characters.next_if_eq(&'&');
                reader.end_command(Operator::Pipe)?;
            }
            ';' | '&' => {
                if characters.peek() == Some(&';') {
                    return None;
                }
                reader.end_command(Operator::End)?;
            }
            '\n' => reader.end_line()?,
            ' ' | '\t' => reader.end_word(),
            other => reader.word().push(other),
        }
    }
    reader.end_line()?;
    Some(reader.commands)
}

#[derive(Debug, Default)]
struct Reader {
    commands: Vec<Simple>,
    words: Vec<String>,
    current: Option<String>,
    /// The next word is the target of a redirection.
    expect_target: bool,
    /// The command has variable assignments before its words.
    assigns: bool,
}

impl Reader {
    fn word(&mut self) -> &mut String {
        self.current.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let Some(word) = self.current.take() else {
            return;
        };
        if std::mem::take(&mut self.expect_target) {
            return;
        }
        if self.words.is_empty() && is_assignment(&word) {
            self.assigns = true;
            return;
        }
        self.words.push(word);
    }

    /// `None` if there is no command to end.
    fn end_command(&mut self, operator: Operator) -> Option<()> {
        self.end_word();
        let is_nothing = self.words.is_empty() && !std::mem::take(&mut self.assigns);
        if is_nothing || self.expect_target {
            return None;
        }
        self.commands.push(Simple {
            words: std::mem::take(&mut self.words),
            operator,
        });
        Some(())
    }

    /// A line feed ends a command if there is one; after an operator the command goes on.
    fn end_line(&mut self) -> Option<()> {
        self.end_word();
        if self.words.is_empty() && !self.assigns && !self.expect_target {
            return Some(());
        }
        self.end_command(Operator::End)
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn quoted_words_come_back(words in prop::collection::vec("[^\0$`]{0,12}", 1..6)) {
            let line = shlex::try_join(words.iter().map(String::as_str)).unwrap();
            prop_assume!(!is_assignment(&words[0]) && !CHANGE_THE_RULES.contains(&words[0].as_str()));
            prop_assert_eq!(last_command(&line).map(|last| last.words), Some(words));
        }

        #[test]
        fn no_line_panics(line in "\\PC{0,60}|[ -~\n]{0,60}") {
            let _ = last_command(&line);
        }
    }
}
