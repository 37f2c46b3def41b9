//! The exact validator against `serde_json`.

use serde::de::IgnoredAny;
use turnpipe::jsonl::{Kind, Verdict, validate};

/// Panics if the two disagree about `text`.
pub(crate) fn check(text: &[u8]) {
    let theirs = first_value(text);
    match validate(text) {
        Verdict::Blank => assert_eq!(theirs, Some(None)),
        // A scalar may be followed by anything here, but not there.
        Verdict::Whole {
            kind: Kind::Scalar,
            span,
        } => assert_eq!(first_value(&text[..span.end]), Some(Some(span.end))),
        Verdict::Whole { span, .. } => {
            assert_eq!(theirs, Some(Some(span.end)));
            assert!(span.start < span.end);
        }
        Verdict::CutOff => assert_eq!(theirs, None),
        Verdict::Broken(fault) => {
            assert_eq!(theirs, None);
            // It is the first fault, and it is that byte.
            let before = validate(&text[..fault.at]);
            assert!(matches!(before, Verdict::CutOff | Verdict::Blank));
            let broken = validate(&text[..=fault.at]);
            assert_eq!(broken, Verdict::Broken(fault));
        }
    }
}

/// Where the first value ends: nothing if it is none, `Some(None)` if there is none.
fn first_value(text: &[u8]) -> Option<Option<usize>> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match values.next() {
        None => Some(None),
        Some(Ok(_)) => Some(Some(values.byte_offset())),
        Some(Err(_)) => None,
    }
}
