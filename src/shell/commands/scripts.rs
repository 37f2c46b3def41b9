//! Text between delimiters in the scripts of `sed` and `awk`.

/// Returns the length of the text including its closing delimiter; `None` if versions of the
/// programs may disagree.
pub(super) fn delimited_length(text: &str, delimiter: char) -> Option<usize> {
    /// Letters with a special meaning after a backslash that do not denote a character.
    const ESCAPED: &str = "nstwWbBdDSULEul";
    let mut letters = text.char_indices();
    let mut in_set = false;
    while let Some((index, letter)) = letters.next() {
        match letter {
            _ if letter == delimiter && !in_set => return Some(index + letter.len_utf8()),
            _ if letter == delimiter || letter == '\n' => return None,
            '\\' | '[' if in_set => return None,
            '\\' => {
                let (_, escaped) = letters.next()?;
                let is_plain = escaped.is_ascii_punctuation()
                    || escaped.is_ascii_digit()
                    || ESCAPED.contains(escaped);
                if !is_plain {
                    return None;
                }
            }
            '[' => {
                // A leading bracket belongs to the set in some versions.
                in_set = true;
                let rest = text.get(index + 1..).unwrap_or_default();
                if rest.trim_start_matches('^').starts_with(']') {
                    return None;
                }
            }
            ']' => in_set = false,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::delimited_length;

    #[test]
    fn where_texts_end() {
        let rows = [
            ("a/b", '/', Some(2)),
            ("a\\/b/", '/', Some(5)),
            ("[a-z]x/", '/', Some(7)),
            ("a|b|", '|', Some(2)),
            ("[/]/", '/', None),
            ("[[:alpha:]]/", '/', None),
            ("[]a]/", '/', None),
            ("\\cX/", '/', None),
            ("\\x2f/", '/', None),
            ("a\nb/", '/', None),
            ("a", '/', None),
            ("a\\", '/', None),
        ];
        for (text, delimiter, expected) in rows {
            assert_eq!(delimited_length(text, delimiter), expected, "{text}");
        }
    }
}
