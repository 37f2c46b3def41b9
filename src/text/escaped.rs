//! JSON on a terminal.

use std::borrow::Cow;
use std::fmt::Write;

use super::character_class::{CharacterClass, classify};

/// JSON text in which everything that a terminal would obey, hide or reorder is escaped. Such
/// characters can only stand inside of strings, where `\u009b` means the same. Line ends stay.
pub fn escape_hidden(json: &str) -> Cow<'_, str> {
    let is_harmless = |character: char| match classify(character) {
        CharacterClass::Hidden | CharacterClass::FlagTag | CharacterClass::CancelTag => false,
        CharacterClass::LineBreak => matches!(character, '\n' | '\r'),
        _ => true,
    };
    if json.chars().all(is_harmless) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 32);
    for character in json.chars() {
        if is_harmless(character) {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let rows = [
            ("{\"a\":\"字 👍\"}\n", "{\"a\":\"字 👍\"}\n"),
            ("\"\u{9b}31m\u{9d}\u{85}\"", "\"\\u009b31m\\u009d\\u0085\""),
            ("\"\u{202e}\u{200b}\u{2028}\"", "\"\\u202e\\u200b\\u2028\""),
            ("\"\u{e0041}\"", "\"\\udb40\\udc41\""),
            ("{\u{1b}[2J torn\r\n", "{\\u001b[2J torn\r\n"),
        ];
        for (json, expected) in rows {
            assert_eq!(escape_hidden(json), expected, "{json:?}");
        }
    }
}
