//! `$'…'`: ANSI-C quoting.

/// The value of the quoted text that `text` begins with, and its length in bytes; `None` if an
/// escape is not understood or no quote closes it.
pub(super) fn decode(text: &str) -> Option<(String, usize)> {
    let inside = text.strip_prefix("$'")?;
    let mut value = String::new();
    let mut characters = inside.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '\'' => return Some((value, index + 3)),
            '\\' => value.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'a' => '\x07',
                'b' => '\x08',
                'e' | 'E' => '\x1b',
                'f' => '\x0c',
                'v' => '\x0b',
                escaped @ ('\\' | '\'' | '"' | '?') => escaped,
                'x' => {
                    let digits = inside.get(characters.offset()..characters.offset() + 2)?;
                    let code = u8::from_str_radix(digits, 16).ok()?;
                    characters.nth(1)?;
                    // Bytes of a longer character would have to be put together.
                    char::from(code.is_ascii().then_some(code).filter(|code| *code != 0)?)
                }
                _ => return None,
            }),
            _ => value.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_values() {
        let rows: &[(&str, Option<(&str, usize)>)] = &[
            ("$'a'", Some(("a", 4))),
            (r"$'a\tb\n'c", Some(("a\tb\n", 9))),
            (r"$'it\'s'", Some(("it's", 8))),
            (r"$'\x2d\x2dfix'", Some(("--fix", 14))),
            (r"$'\x00'", None),
            (r"$'\xff'", None),
            (r"$'\u002d'", None),
            (r"$'\055'", None),
            (r"$'\cA'", None),
            ("$'open", None),
            ("$''", Some(("", 3))),
        ];
        for (text, expected) in rows {
            let expected = expected.map(|(value, length)| (value.to_owned(), length));
            assert_eq!(decode(text), expected, "{text}");
        }
    }
}
