//! Lengths and truncation in UTF-16 units, which JavaScript agents count as characters.

/// Returns the length of `text` in UTF-16 units: 2 for each character outside the Basic Multilingual Plane, 1
/// for all others.
pub fn utf16_length(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.chars().map(char::len_utf16).sum()
}

/// Truncates `text` to at most `units` UTF-16 units. A surrogate pair is never split, so the result may be one
/// unit shorter.
pub fn truncate_utf16(text: &str, units: usize) -> &str {
    match text.as_bytes().get(..units) {
        // No text has more units than bytes.
        None => return text,
        Some(beginning) if beginning.is_ascii() => return &text[..units],
        Some(_) => {}
    }
    let mut used = 0;
    for (offset, character) in text.char_indices() {
        used += character.len_utf16();
        if used > units {
            return &text[..offset];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_surrogate_pairs_twice() {
        for (text, length) in [
            ("", 0),
            ("abc", 3),
            ("é", 1),
            ("日本", 2),
            ("😀", 2),
            ("a😀b", 4),
        ] {
            assert_eq!(utf16_length(text), length, "{text}");
        }
    }

    #[test]
    fn cuts_before_a_pair_that_does_not_fit() {
        let table = [
            ("abc", 0, ""),
            ("abc", 2, "ab"),
            ("abc", 3, "abc"),
            ("abc", 9, "abc"),
            ("a😀b", 1, "a"),
            ("a😀b", 2, "a"),
            ("a😀b", 3, "a😀"),
            ("日本語", 2, "日本"),
        ];
        for (text, units, cut) in table {
            assert_eq!(truncate_utf16(text, units), cut, "{text} at {units}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_is_the_longest_beginning_that_fits(text in any::<String>(), units in 0_usize..80) {
            let cut = truncate_utf16(&text, units);
            prop_assert!(text.starts_with(cut));
            prop_assert!(utf16_length(cut) <= units);
            if let Some(next) = text[cut.len()..].chars().next() {
                prop_assert!(utf16_length(cut) + next.len_utf16() > units);
            }
            prop_assert_eq!(utf16_length(&text), text.encode_utf16().count());
        }
    }
}
