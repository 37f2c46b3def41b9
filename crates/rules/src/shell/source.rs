//! The text of a command line during the walk through its tree: checks of the text between
//! commands, and of the variables that it sets.

use std::ops::Range;

use tree_sitter::Node;

use super::lexer::ends_word;
use super::verdict::{Checked, Refusal, excerpt, is_one_of};
use super::word::Word;

/// The text of a command line.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandText<'text>(pub(super) &'text str);

impl<'text> CommandText<'text> {
    /// Accepts an operator or a keyword between statements.
    pub(super) fn token(&self, span: &Range<usize>) -> Checked {
        let token = self.slice(span.clone());
        match token {
            "" | ";" | "&&" | "||" | "|" | "|&" | "(" | ")" | "$(" | "`" | "<(" | ">(" => Ok(()),
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "for"
            | "in" | "case" | "esac" | "{" | "}" | "!" => {
                let bytes = self.0.as_bytes();
                let before = span.start.checked_sub(1).and_then(|index| bytes.get(index));
                let after = bytes.get(span.end);
                if [before, after]
                    .into_iter()
                    .flatten()
                    .all(|byte| ends_word(*byte))
                {
                    Ok(())
                } else {
                    Err(Refusal::unknown(
                        span.clone(),
                        format!("`{token}` that is part of a word"),
                    ))
                }
            }
            "&" => Err(Refusal::unknown(
                span.clone(),
                "`&` leaves a process in the background",
            )),
            "((" | "))" => Err(Refusal::unknown(
                span.clone(),
                "`((…))` evaluates its contents",
            )),
            _ => Err(Refusal::unknown(
                span.clone(),
                format!("`{}` is not accepted", excerpt(token)),
            )),
        }
    }

    pub(super) fn comment(&self, span: &Range<usize>) -> Checked {
        let bytes = self.0.as_bytes();
        let begins = span
            .start
            .checked_sub(1)
            .and_then(|index| bytes.get(index))
            .is_none_or(|byte| ends_word(*byte));
        let ends = bytes.get(span.end).is_none_or(|byte| *byte == b'\n');
        let text = self.slice(span.clone());
        if begins && ends && text.starts_with('#') && !text.contains('\n') {
            Ok(())
        } else {
            Err(Refusal::unknown(span.clone(), "an ambiguous comment"))
        }
    }

    pub(super) fn may_be_set(&self, name: Range<usize>) -> Checked {
        let text = self.slice(name.clone());
        if may_be_set(text) {
            return Ok(());
        }
        Err(Refusal::unknown(
            name,
            format!("`{text}` has a special meaning for the shell or programs"),
        ))
    }

    pub(super) fn not_accepted(&self, node: Node<'_>) -> Refusal {
        let range = self.trimmed(node);
        let text = excerpt(self.slice(range.clone()));
        let kind = node.kind().replace('_', " ");
        Refusal::unknown(range, format!("{kind} is not accepted: `{text}`"))
    }

    pub(super) fn only_blanks(&self, range: Range<usize>) -> Checked {
        let between = self.slice(range.clone());
        if range.start <= range.end
            && between
                .split("\\\n")
                .all(|line| line.trim_matches([' ', '\t', '\n']).is_empty())
        {
            return Ok(());
        }
        Err(Refusal::unknown(
            range,
            format!("`{}` that the parser skips", excerpt(between)),
        ))
    }

    /// Whether bash also ends a word at this position.
    pub(super) fn ends_here(&self, end: usize) -> bool {
        self.0
            .as_bytes()
            .get(end)
            .is_none_or(|byte| ends_word(*byte))
    }

    /// Returns the range of a node, without blanks that the tree includes.
    pub(super) fn trimmed(&self, node: Node<'_>) -> Range<usize> {
        let range = node.byte_range();
        let text = self.slice(range.clone());
        let blanks = text.len() - text.trim_start_matches([' ', '\t', '\n']).len();
        range.start + blanks..range.end
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'text str {
        self.0.get(range).unwrap_or_default()
    }
}

/// Lower-case names with a special meaning for the shell or programs.
const RESERVED: &str = "auto_resume histchars";

/// Upper-case names that no program reads. Single letters are accepted too.
const ORDINARY: &str = "BAR BAZ COUNT DIR FILE FILES FOO NAME OUT RESULT TOTAL";

/// Variables that may be passed to a command, with the form of their values.
const PASSED: &[(&str, Accepted)] = &[
    (
        "CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS FORCE_COLOR GREP_COLOR GREP_COLORS LANGUAGE \
         LC_COLLATE LC_MESSAGES LC_NUMERIC LC_TIME LINES LS_COLORS NO_COLOR TERM",
        Accepted::Plain,
    ),
    ("LANG LC_ALL LC_CTYPE", Accepted::Locale),
    ("TZ", Accepted::TimeZone),
    (
        "GIT_OPTIONAL_LOCKS GIT_TERMINAL_PROMPT",
        Accepted::OneOf(&["0"]),
    ),
    ("GIT_PAGER PAGER", Accepted::OneOf(&["", "cat"])),
];

enum Accepted {
    /// Letters, digits and a few signs; no slash, so no path.
    Plain,
    /// The same, and ASCII bytes stand for themselves.
    Locale,
    /// Those of `Plain`, and slashes inside.
    TimeZone,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// Whether setting a variable of the shell changes nothing but its expansion. These
/// are names that no program reads: plain lower-case ones and a few more.
pub(super) fn may_be_set(name: &str) -> bool {
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let is_letter = name.len() == 1 && name.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    let is_reserved =
        name.ends_with("_proxy") || name.starts_with("npm_") || is_one_of(RESERVED, name);
    (is_plain && !is_reserved) || is_letter || is_one_of(ORDINARY, name)
}

/// Whether a command may be given this variable: `NAME=value command`.
pub(super) fn may_be_passed(name: &str, value: &Word) -> bool {
    let Some(value) = value.literal() else {
        return false;
    };
    PASSED
        .iter()
        .find(|(names, _)| is_one_of(names, name))
        .is_some_and(|(_, accepted)| match accepted {
            Accepted::Plain => value.bytes().all(is_plain),
            // With an empty value, another variable decides.
            Accepted::Locale => {
                !value.is_empty() && value.bytes().all(is_plain) && keeps_ascii(value)
            }
            Accepted::TimeZone => {
                value.starts_with(|first: char| first.is_ascii_alphabetic())
                    && !value.contains("..")
                    && value.bytes().all(|byte| is_plain(byte) || byte == b'/')
            }
            Accepted::OneOf(values) => values.contains(&value),
        })
}

/// Whether no character of a locale contains an ASCII byte besides ASCII characters, as `\` in GBK: `C` or UTF-8.
pub fn keeps_ascii(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase().replace('-', "");
    let charset = locale.split('@').next().unwrap_or_default();
    ["", "c", "posix"].contains(&&*locale) || charset.rsplit('.').next() == Some("utf8")
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-:;=@+,*".contains(&byte)
}
