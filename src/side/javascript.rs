//! Blanks as JavaScript has them: the services that are followed here were written in it, and
//! their rules are told in its terms.

/// Whether `\s` and `trim()` take a character: Unicode's white space without U+0085, but with
/// U+FEFF.
pub(super) fn is_blank(character: char) -> bool {
    character == '\u{feff}' || character.is_whitespace() && character != '\u{85}'
}

/// `trim()`.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_blank)
}

/// `trimStart()`.
pub(super) fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_blank)
}

/// `trimEnd()`.
pub(super) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_blank)
}

/// What follows `prefix`, its letters in either case; only ASCII letters have two.
pub(super) fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Whether `rest`, which follows a word, begins with something that is no part of it (`\b`).
pub(super) fn ends_word(rest: &str) -> bool {
    !rest.starts_with(|character: char| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_those_of_javascript() {
        assert_eq!(trim("\u{feff}\u{a0} a\u{85} \n"), "a\u{85}");
        assert_eq!(trim_start(" a "), "a ");
        assert_eq!(trim_end(" a "), " a");
    }

    #[test]
    fn only_ascii_letters_have_two_cases() {
        assert_eq!(strip_prefix("SORRY, x", "sorry,"), Some(" x"));
        assert_eq!(strip_prefix("ſorry, x", "sorry,"), None);
        assert!(ends_word(" x") && ends_word("") && !ends_word("s"));
    }
}
