//! Variables that a command line may set.

use super::word::Word;

/// Lower-case names with a special meaning for the shell or programs.
const RESERVED: &str = "auto_resume histchars";

/// Upper-case names that no program reads. Single letters are accepted too.
const ORDINARY: &str = "BAR BAZ COUNT DIR FILE FILES FOO NAME OUT RESULT TOTAL";

/// Variables that may be passed to a command, with the form of their values.
const PASSED: &[(&str, Accepted)] = &[
    (
        "CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS FORCE_COLOR GREP_COLOR GREP_COLORS LANG LANGUAGE \
         LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_NUMERIC LC_TIME LINES LS_COLORS NO_COLOR TERM",
        Accepted::Plain,
    ),
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
    /// The same, and slashes inside.
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
    let is_reserved = name.ends_with("_proxy")
        || name.starts_with("npm_")
        || RESERVED.split(' ').any(|reserved| reserved == name);
    (is_plain && !is_reserved) || is_letter || ORDINARY.split(' ').any(|ordinary| ordinary == name)
}

/// Whether a command may be given this variable: `NAME=value command`.
pub(super) fn may_be_passed(name: &str, value: &Word) -> bool {
    let Some(value) = value.literal() else {
        return false;
    };
    PASSED
        .iter()
        .find(|(names, _)| names.split(' ').any(|passed| passed == name))
        .is_some_and(|(_, accepted)| match accepted {
            Accepted::Plain => value.bytes().all(is_plain),
            Accepted::TimeZone => {
                value.starts_with(|first: char| first.is_ascii_alphabetic())
                    && !value.contains("..")
                    && value.bytes().all(|byte| is_plain(byte) || byte == b'/')
            }
            Accepted::OneOf(values) => values.contains(&value),
        })
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-:;=@+,*".contains(&byte)
}
