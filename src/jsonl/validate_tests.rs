use proptest::prelude::*;

use super::super::samples::{json_text, mutated};
use super::{Fault, Kind, Verdict, Wrong, length_of_plain_text, validate};

fn whole(kind: Kind, start: usize, end: usize) -> Verdict {
    Verdict::Whole {
        kind,
        span: start..end,
    }
}

fn broken(at: usize, wrong: Wrong) -> Verdict {
    Verdict::Broken(Fault { at, wrong })
}

#[test]
fn verdicts() {
    use Kind::{Array, Object, Scalar};
    let table: &[(&str, Verdict)] = &[
        ("", Verdict::Blank),
        (" \t\r\n", Verdict::Blank),
        ("{}", whole(Object, 0, 2)),
        (" { } x", whole(Object, 1, 4)),
        ("[]", whole(Array, 0, 2)),
        ("[1,[2,{}],\"\"]", whole(Array, 0, 13)),
        ("{\"a\":1}{\"b\":2}", whole(Object, 0, 7)),
        ("{\"a\" : [ true , false , null ] }", whole(Object, 0, 32)),
        ("0", whole(Scalar, 0, 1)),
        ("01", whole(Scalar, 0, 1)),
        ("-0.50e+10,", whole(Scalar, 0, 9)),
        ("1e999", whole(Scalar, 0, 5)),
        ("123456789012345678901234567890", whole(Scalar, 0, 30)),
        ("\"\\ud83d \\u00e9 \\/\"", whole(Scalar, 0, 18)),
        ("nullx", whole(Scalar, 0, 4)),
        ("{\"a\":1,\"a\":2}", whole(Object, 0, 13)),
        ("{", Verdict::CutOff),
        ("{\"a", Verdict::CutOff),
        ("{\"a\\", Verdict::CutOff),
        ("{\"a\\u12", Verdict::CutOff),
        ("{\"a\":", Verdict::CutOff),
        ("{\"a\":1", Verdict::CutOff),
        ("{\"a\":1,", Verdict::CutOff),
        ("[tru", Verdict::CutOff),
        ("-", Verdict::CutOff),
        ("1.", Verdict::CutOff),
        ("1e", Verdict::CutOff),
        ("}", broken(0, Wrong::NotAValue)),
        ("\u{feff}{}", broken(0, Wrong::NotAValue)),
        ("{a", broken(1, Wrong::NotAKey)),
        ("{1", broken(1, Wrong::NotAKey)),
        ("{]", broken(1, Wrong::NotAKey)),
        ("{\"a\"}", broken(4, Wrong::NotAColon)),
        ("{\"a\":}", broken(5, Wrong::NotAValue)),
        ("{\"a\":1,}", broken(7, Wrong::NotAKey)),
        ("[1,]", broken(3, Wrong::NotAValue)),
        ("[1}", broken(2, Wrong::NotASeparator)),
        ("{\"a\":1]", broken(6, Wrong::NotASeparator)),
        ("[1 2]", broken(3, Wrong::NotASeparator)),
        ("[01]", broken(2, Wrong::NotASeparator)),
        ("[+1]", broken(1, Wrong::NotAValue)),
        ("[-a]", broken(2, Wrong::Number)),
        ("[1.]", broken(3, Wrong::Number)),
        ("[1e+]", broken(4, Wrong::Number)),
        ("[trve]", broken(3, Wrong::Literal)),
        ("[\"a\tb\"]", broken(3, Wrong::ControlCharacter)),
        ("[\"a\0", broken(3, Wrong::ControlCharacter)),
        ("[\"\\x\"]", broken(3, Wrong::Escape)),
        ("[\"\\u12g4\"]", broken(6, Wrong::Escape)),
        ("{\"a{\"type\":1}", broken(5, Wrong::NotAColon)),
    ];
    for (text, verdict) in table {
        assert_eq!(validate(text.as_bytes()), *verdict, "{text:?}");
    }
}

#[test]
fn depth_has_no_limit() {
    let depth = 1_000_000;
    let mut text = "[{\"a\":".repeat(depth);
    text.push('1');
    text.push_str(&"}]".repeat(depth));
    assert_eq!(validate(text.as_bytes()), whole(Kind::Array, 0, text.len()));
    text.pop();
    assert_eq!(validate(text.as_bytes()), Verdict::CutOff);
    text.push('}');
    assert_eq!(
        validate(text.as_bytes()),
        broken(text.len() - 1, Wrong::NotASeparator)
    );
}

/// What `serde_json` says, in our words. It too is iterative when it ignores a value.
fn peer(text: &[u8]) -> Result<Option<usize>, ()> {
    let mut stream =
        serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
    match stream.next() {
        None => Ok(None),
        Some(Ok(_)) => Ok(Some(stream.byte_offset())),
        Some(Err(_)) => Err(()),
    }
}

fn agree(text: &[u8]) -> Result<(), TestCaseError> {
    let ours = validate(text);
    let theirs = peer(text);
    match &ours {
        Verdict::Blank => prop_assert_eq!(theirs, Ok(None)),
        Verdict::Whole { kind, span } => {
            // serde_json wants a separator after a top-level scalar, we do not.
            if *kind != Kind::Scalar {
                prop_assert_eq!(theirs, Ok(Some(span.end)));
            } else if theirs.is_err() {
                prop_assert!(span.end < text.len());
                prop_assert_eq!(peer(&text[..span.end]), Ok(Some(span.end)));
            }
        }
        Verdict::CutOff => prop_assert_eq!(theirs, Err(())),
        Verdict::Broken(fault) => {
            prop_assert_eq!(theirs, Err(()));
            prop_assert!(fault.at < text.len());
            // The fault is the first one: what comes before it could have gone on.
            let before = validate(&text[..fault.at]);
            prop_assert!(
                matches!(before, Verdict::CutOff | Verdict::Blank),
                "{before:?}"
            );
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn agrees_with_serde_json(text in mutated(json_text())) {
        agree(&text)?;
    }

    #[test]
    fn agrees_with_serde_json_on_noise(text in r#"[\[\]{}:,"\\truefalsn0-9.eE+ \x00\u{e9}-]{0,24}"#) {
        agree(text.as_bytes())?;
    }

    #[test]
    fn every_prefix_of_a_value_is_cut_off(text in json_text()) {
        let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        prop_assume!(matches!(text[start], b'{' | b'['));
        let Verdict::Whole { span, .. } = validate(&text) else {
            return Err(TestCaseError::fail("a generated value does not validate"));
        };
        for end in start + 1..span.end {
            prop_assert_eq!(validate(&text[..end]), Verdict::CutOff);
        }
    }

    #[test]
    fn plain_text_ends_at_the_first_special_byte(text in prop::collection::vec(any::<u8>(), 0..40)) {
        let expected = text
            .iter()
            .position(|byte| *byte < 0x20 || *byte == b'"' || *byte == b'\\')
            .unwrap_or(text.len());
        prop_assert_eq!(length_of_plain_text(&text), expected);
    }
}
