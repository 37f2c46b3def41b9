//! The exact validator against `serde_json`.

use serde::de::IgnoredAny;
use turnpipe::jsonl::{Kind, Verdict, validate};

/// Panics if the two disagree about `text`.
pub(crate) fn check(text: &[u8]) {
    let theirs = first_value(text);
    match validate(text) {
        Verdict::Blank => assert_eq!(theirs, First::None),
        // A scalar may be followed by anything here, but not there.
        Verdict::Whole {
            kind: Kind::Scalar,
            span,
        } => assert_eq!(first_value(&text[..span.end]), First::EndsAt(span.end)),
        Verdict::Whole { span, .. } => {
            assert_eq!(theirs, First::EndsAt(span.end));
            assert!(span.start < span.end);
        }
        Verdict::CutOff => assert_eq!(theirs, First::Bad),
        Verdict::Broken(fault) => {
            assert_eq!(theirs, First::Bad);
            // It is the first fault, and it is that byte.
            let before = validate(&text[..fault.at]);
            assert!(matches!(before, Verdict::CutOff | Verdict::Blank));
            let broken = validate(&text[..=fault.at]);
            assert_eq!(broken, Verdict::Broken(fault));
        }
    }
}

/// The first value, as the peer sees it.
#[derive(Debug, PartialEq, Eq)]
enum First {
    None,
    EndsAt(usize),
    Bad,
}

fn first_value(text: &[u8]) -> First {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match values.next() {
        None => First::None,
        Some(Ok(_)) => First::EndsAt(values.byte_offset()),
        Some(Err(_)) => First::Bad,
    }
}
