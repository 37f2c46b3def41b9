//! The variables that a command line may set, or pass to its commands.

use super::verdict::is_one_of;
use super::word::PartWord;

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
pub(super) fn may_be_passed(name: &str, value: &PartWord) -> bool {
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
