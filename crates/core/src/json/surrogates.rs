//! Escapes of surrogates in JSON text.

use memchr::{memchr, memmem};

/// Replaces every `\uD800`…`\uDFFF` escape that is not part of a pair with `\ufffd`. The result has the
/// same length; it is unspecified if `json` is malformed. Returns `None` if there is nothing to replace.
#[must_use]
pub fn replace_lone_surrogates(json: &str) -> Option<String> {
    // The fast path: most escapes are not surrogates.
    let mut escapes = memmem::find_iter(json.as_bytes(), b"\\u");
    if !escapes.any(|at| matches!(json.as_bytes().get(at + 2), Some(b'd' | b'D'))) {
        return None;
    }
    let mut replaced = String::new();
    let mut copied_end = 0;
    let mut at = 0;
    while let Some(distance) = memchr(b'\\', &json.as_bytes()[at..]) {
        at += distance;
        let (length, is_lone) = match surrogate_at(json, at) {
            // Other escapes are skipped with their first character.
            None => (2, false),
            Some(Half::High) if surrogate_at(json, at + 6) == Some(Half::Low) => (12, false),
            Some(_) => (6, true),
        };
        if is_lone {
            replaced.push_str(&json[copied_end..at]);
            replaced.push_str("\\ufffd");
            copied_end = at + length;
        }
        at = (at + length).min(json.len());
    }
    (copied_end > 0).then(|| {
        replaced.push_str(&json[copied_end..]);
        replaced
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Returns the surrogate in the escape at `at`, if any.
fn surrogate_at(json: &str, at: usize) -> Option<Half> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replaces_halves_only() {
        let table = [
            (r#""abc""#, None),
            (r#""\ud83d\ude00""#, None),
            (r#""\\ud83d""#, None),
            (r#""\u00e9\n""#, None),
            (r#""\ud83d""#, Some(r#""\ufffd""#)),
            (r#""\uDE00\uD83D""#, Some(r#""\ufffd\ufffd""#)),
            (r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#)),
            (r#""\ud83d\n\ude00""#, Some(r#""\ufffd\n\ufffd""#)),
            (r#""\\\ud83dé""#, Some(r#""\\\ufffdé""#)),
            (r#""\ud83d\\ude00""#, Some(r#""\ufffd\\ude00""#)),
        ];
        for (json, expected) in table {
            assert_eq!(replace_lone_surrogates(json).as_deref(), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn the_result_can_be_decoded(
            parts in prop::collection::vec(
                prop::sample::select(vec!["\\ud83d", "\\uDE00", "\\\\", "u", "d83d", "\\n", "é", "\\u0041"]),
                0..12,
            )
        ) {
            let json = format!("\"{}\"", parts.concat());
            let decoded: Result<String, _> = serde_json::from_str(&json);
            match replace_lone_surrogates(&json) {
                None => prop_assert!(decoded.is_ok()),
                Some(repaired) => {
                    prop_assert!(decoded.is_err());
                    prop_assert_eq!(repaired.len(), json.len());
                    prop_assert!(serde_json::from_str::<String>(&repaired).is_ok());
                    prop_assert_eq!(replace_lone_surrogates(&repaired), None);
                }
            }
        }
    }
}
