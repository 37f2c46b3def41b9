//! The variables that a command line may set, or pass to its commands.

use super::verdict::is_one_of;
use super::word::PartWord;

/// Lower-case names with a meaning for the shell or programs.
const SPECIAL_VARIABLES: &str = "auto_resume histchars";

/// Upper-case names that no program reads. Single letters are accepted too.
const ORDINARY_VARIABLES: &str = "BAR BAZ COUNT DIR FILE FILES FOO NAME OUT RESULT TOTAL";

/// Variables that may be passed to a command with any plain value.
const PASSED_VARIABLES: &str = "CLICOLOR CLICOLOR_FORCE COLORTERM COLUMNS FORCE_COLOR GREP_COLOR GREP_COLORS LANGUAGE LC_COLLATE \
    LC_MESSAGES LC_NUMERIC LC_TIME LINES LS_COLORS NO_COLOR TERM";

/// Whether setting a variable of the shell changes nothing but its expansion: no program reads plain lower-case names
/// and a few others.
pub(super) fn may_be_set(name: &str) -> bool {
    let is_in_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_plain =
        name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_in_name);
    let is_letter = name.len() == 1 && name.as_bytes().first().is_some_and(u8::is_ascii_uppercase);
    let is_reserved =
        name.ends_with("_proxy") || name.starts_with("npm_") || is_one_of(SPECIAL_VARIABLES, name);
    (is_plain && !is_reserved) || is_letter || is_one_of(ORDINARY_VARIABLES, name)
}

/// Whether a command may be given a variable with this value: `NAME=value command`.
pub(super) fn may_be_passed(name: &str, value: &PartWord) -> bool {
    let Some(value) = value.literal() else {
        return false;
    };
    let is_plain = |others: &str| {
        value.chars().all(|letter| {
            letter.is_ascii_alphanumeric()
                || "._-:;=@+,*".contains(letter)
                || others.contains(letter)
        })
    };
    match name {
        // With an empty value, another variable decides.
        "LANG" | "LC_ALL" | "LC_CTYPE" => !value.is_empty() && is_plain("") && keeps_ascii(value),
        "TZ" => {
            let is_name = value.starts_with(|first: char| first.is_ascii_alphabetic());
            is_name && is_plain("/") && !value.contains("..")
        }
        "GIT_OPTIONAL_LOCKS" | "GIT_TERMINAL_PROMPT" => value == "0",
        "GIT_PAGER" | "PAGER" => matches!(value, "" | "cat"),
        _ => is_one_of(PASSED_VARIABLES, name) && is_plain(""),
    }
}

/// Whether the encoding of a locale, `C` or UTF-8, has ASCII bytes only in ASCII characters. In GBK, `\` is part of
/// others.
pub fn keeps_ascii(locale: &str) -> bool {
    let normalised = locale.to_ascii_lowercase().replace('-', "");
    let charset = normalised.split('@').next().unwrap_or_default();
    ["", "c", "posix"].contains(&&*normalised) || charset.rsplit('.').next() == Some("utf8")
}
