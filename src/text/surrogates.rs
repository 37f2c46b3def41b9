//! Repair of lone surrogate escapes in JSON text.
//!
//! JavaScript writes half of a surrogate pair as `\ud83d`; no UTF-8 string can hold that, so
//! parsers here refuse the whole line. The half becomes U+FFFD and everything else stays.

use std::borrow::Cow;

use memchr::memchr_iter;

/// Length of an escape of one UTF-16 unit: `\uXXXX`.
const ESCAPE_LENGTH: usize = 6;

/// Replaces every escaped half of a surrogate pair that has no other half by `\ufffd`. `json` is
/// JSON text, well formed or not; nothing but such escapes is touched, and no length changes.
pub fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let lone = lone_surrogates(json.as_bytes());
    if lone.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut repaired = String::with_capacity(json.len());
    let mut copied = 0;
    for offset in lone {
        repaired.push_str(&json[copied..offset]);
        repaired.push_str("\\ufffd");
        copied = offset + ESCAPE_LENGTH;
    }
    repaired.push_str(&json[copied..]);
    Cow::Owned(repaired)
}

/// Where the escapes of lone halves start.
fn lone_surrogates(json: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut resume = 0;
    for offset in memchr_iter(b'\\', json) {
        if offset < resume {
            continue;
        }
        resume = match escaped_unit(&json[offset..]) {
            Some(0xd800..=0xdbff) => {
                let second = offset + ESCAPE_LENGTH;
                if matches!(escaped_unit(&json[second..]), Some(0xdc00..=0xdfff)) {
                    second + ESCAPE_LENGTH
                } else {
                    lone.push(offset);
                    second
                }
            }
            Some(0xdc00..=0xdfff) => {
                lone.push(offset);
                offset + ESCAPE_LENGTH
            }
            Some(_) => offset + ESCAPE_LENGTH,
            // Any other escape: its second byte may be a backslash that begins nothing.
            None => offset + 2,
        };
    }
    lone
}

/// The UTF-16 unit of the `\uXXXX` that `bytes` begins with.
fn escaped_unit(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + char::from(*digit).to_digit(16)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        let table = [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00x""#, r#""\ufffdx""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r"\", r"\"),
        ];
        for (json, repaired) in table {
            assert_eq!(replace_lone_surrogates(json), repaired, "{json}");
        }
    }

    proptest! {
        #[test]
        fn what_serde_reads_stays_as_it_is(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(replace_lone_surrogates(&json), json.as_str());
        }

        #[test]
        fn any_units_parse_after_the_repair(units in prop::collection::vec(any::<u16>(), 0..20)) {
            let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let json = format!("\"{}\"", escapes.concat());
            let text: String = serde_json::from_str(&replace_lone_surrogates(&json)).unwrap();
            prop_assert_eq!(text, String::from_utf16_lossy(&units));
        }
    }
}
