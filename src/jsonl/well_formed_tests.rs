use proptest::prelude::*;

use super::super::examine::examine;
use super::super::processor::Plain;
use super::super::samples::{interesting_byte, mutated, object_line};
use super::{scan, well_formed_lines};

/// The same by the exact validator.
fn exact(text: &[u8]) -> usize {
    let mut good = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let result = examine(line);
        if !line.ends_with(b"\n") || !result.findings.is_empty() || result.objects.len() > 1 {
            break;
        }
        good += line.len();
    }
    good
}

/// Nothing bad is accepted, and nothing good is refused, but for lines that end in the same block
/// as a bad one.
fn compare(text: &[u8]) -> Result<(), TestCaseError> {
    let good = well_formed_lines(text);
    let expected = exact(text);
    let shown = String::from_utf8_lossy(text);
    prop_assert!(good <= expected, "{} of {} in {:?}", good, expected, shown);
    prop_assert!(good == 0 || text[good - 1] == b'\n');
    let skipped = text[good..expected].iter().position(|byte| *byte == b'\n');
    let block_of = |at: usize| at / 64;
    if let Some(newline) = skipped {
        prop_assert!(expected < text.len(), "healthy, but refused: {:?}", shown);
        let bad_line = text[expected..].iter().position(|byte| *byte == b'\n');
        let bad_end = expected + bad_line.unwrap_or(text.len() - expected);
        prop_assert!((block_of(expected)..=block_of(bad_end)).contains(&block_of(good + newline)));
    }
    Ok(())
}

/// The text at each distance from a block boundary, between healthy lines.
fn check(text: &[u8]) -> Result<(), TestCaseError> {
    for padding in 0..64 {
        let mut padded = vec![b' '; padding];
        padded.extend_from_slice(b"{}\n");
        padded.extend_from_slice(text);
        padded.extend_from_slice(b"\n{\"a\":[1]}\n");
        compare(&padded)?;
    }
    Ok(())
}

#[test]
fn every_short_sequence_of_tokens() {
    let tokens = ["{", "}", "[", "]", ",", ":", "\"a\"", "1", "true", "\n"];
    let mut texts = vec![String::new()];
    for _ in 0..4 {
        texts = texts
            .iter()
            .flat_map(|text| tokens.iter().map(move |token| format!("{text}{token}")))
            .collect();
        for text in &texts {
            for container in ["{\"k\":X}\n", "{\"k\":[X]}\n", "{X}\n", "X\n"] {
                let line = container.replace('X', text);
                compare(line.as_bytes()).unwrap();
            }
        }
    }
}

#[test]
fn scalars() {
    for scalar in [
        "0",
        "-0",
        "00",
        "01",
        "-01",
        "10",
        "-",
        "+1",
        "1.",
        "1.0",
        ".5",
        "1.e5",
        "1e5",
        "1E+05",
        "1e",
        "1e+",
        "0e0",
        "0.0",
        "0x1",
        "1-",
        "1-2",
        "1e5.5",
        "--1",
        "true",
        "tru",
        "truee",
        "nul",
        "null0",
        "null",
        "false",
        "falsE",
        "NaN",
        "a",
        "\u{e9}",
        "\0",
        "1\0",
        "\\",
        "1a",
        "1\"a\"",
        "\"a\"1",
        "\"a\"\"b\"",
        "\\\"a\"",
        "1 2",
        "12345678901234567890.0123456789e123",
    ] {
        check(format!("{{\"a\":{scalar},\"b\":[{scalar} ,{scalar}],\"c\":{scalar} }}").as_bytes())
            .unwrap();
    }
}

#[test]
fn strings() {
    let runs = (0..70).map(|length| "\\".repeat(length));
    let texts = [
        "",
        "\\\"",
        "\\n\\u00e9\\ud83d",
        "\\x",
        "\\u12",
        "\\u12g4",
        "\t",
        "\u{1}",
        "\u{7f}",
        "\u{e9}",
        "{[,:]}",
        "\\\\\\\"{",
        "a\r",
        "a\0b",
    ];
    for text in texts.into_iter().map(String::from).chain(runs) {
        check(format!("{{\"{text}\":\"{text}\",\"x\":[\"{text}\"]}}").as_bytes()).unwrap();
    }
}

#[test]
fn deep_nesting_is_left_to_the_exact_validator() {
    for (depth, is_followed) in [
        (1, true),
        (31, true),
        (64, false),
        (65, false),
        (1000, false),
    ] {
        for [before, after] in [["{\"a\":", "}"], ["{\"a\":[", "]}"]] {
            let line = format!("{}1{}\n", before.repeat(depth), after.repeat(depth));
            let expected = if is_followed { line.len() } else { 0 };
            assert_eq!(well_formed_lines(line.as_bytes()), expected, "{line}");
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_the_exact_validator(
        lines in prop::collection::vec(prop_oneof![3 => object_line(), 2 => mutated(object_line())], 1..4)
    ) {
        check(&lines.join(&b'\n'))?;
    }

    #[test]
    fn every_processor_says_the_same(
        lines in prop::collection::vec(mutated(object_line()), 1..6)
    ) {
        let text = lines.join(&b'\n');
        let good = well_formed_lines(&text);
        prop_assert_eq!(scan(Plain, &text), good);
        #[cfg(target_arch = "x86_64")]
        prop_assert_eq!(scan(super::super::x86::Sse2, &text), good);
    }

    #[test]
    fn agrees_on_noise(text in prop::collection::vec(interesting_byte(), 0..40)) {
        check(&text)?;
        check(&[b"{\"a\":[".as_slice(), &text, b"]}"].concat())?;
    }
}
