//! Long strings as JSON: what needs no escape is found in blocks of 64 bytes and copied at once. What
//! comes out is what `serde_json` writes, byte for byte.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::processor::{Block, Processor};

/// Shorter strings are left to `serde_json`, in bytes.
const LONG: usize = 128;

/// What `serde_json` names the struct, and its only member, whose text it copies as it is.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Writes a string: for members that may hold long texts
/// (`#[serde(serialize_with = "serialize_text")]`).
///
/// # Errors
/// Those of the serializer.
pub fn serialize_text<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if text.len() < LONG {
        return text.serialize(serializer);
    }
    let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
    raw.serialize_field(RAW_VALUE, &quoted(text))?;
    raw.end()
}

/// The string in quotation marks, with escapes where they are needed.
#[cfg(target_arch = "x86_64")]
fn quoted(text: &str) -> String {
    use super::x86::{Avx2, Sse2};

    /// The same code, compiled for better processors.
    #[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,popcnt")]
    fn with_avx2(avx2: Avx2, text: &str) -> String {
        quote(avx2, text)
    }

    if let Some(avx2) = Avx2::detect() {
        // SAFETY: that `avx2` exists proves that the processor has what the function needs.
        unsafe { with_avx2(avx2, text) }
    } else {
        quote(Sse2, text)
    }
}

/// The same for other processors.
#[cfg(not(target_arch = "x86_64"))]
fn quoted(text: &str) -> String {
    quote(super::processor::Plain, text)
}

#[inline(always)]
fn quote<P: Processor>(processor: P, text: &str) -> String {
    // Programs have an escape in every line.
    let mut json = String::with_capacity(text.len() + text.len() / 16 + 2);
    json.push('"');
    let mut copied = 0;
    let (blocks, rest) = text.as_bytes().as_chunks::<64>();
    let mut last: Block = [b' '; 64];
    last[..rest.len()].copy_from_slice(rest);
    for (index, block) in blocks.iter().chain([&last]).enumerate() {
        let lanes = processor.load(block);
        let mut special = processor.at_most(lanes, 0x1f)
            | processor.equal(lanes, b'"')
            | processor.equal(lanes, b'\\');
        while special != 0 {
            let inside = special.trailing_zeros() as usize;
            special &= special - 1;
            let at = 64 * index + inside;
            // Special bytes are characters, so that text is never cut within one.
            json.push_str(&text[copied..at]);
            push_escape(&mut json, block[inside]);
            copied = at + 1;
        }
    }
    json.push_str(&text[copied..]);
    json.push('"');
    json
}

#[inline(always)]
fn push_escape(json: &mut String, byte: u8) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];
    let escape = match byte {
        b'\n' => "\\n",
        b'"' => "\\\"",
        b'\\' => "\\\\",
        b'\t' => "\\t",
        b'\r' => "\\r",
        0x08 => "\\b",
        0x0c => "\\f",
        other => {
            json.push_str("\\u00");
            json.push(HEX[usize::from(other >> 4)]);
            json.push(HEX[usize::from(other & 15)]);
            return;
        }
    };
    json.push_str(escape);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Serialize;

    use super::super::processor::Plain;
    use super::*;

    #[derive(Serialize)]
    struct Said<'a> {
        #[serde(serialize_with = "serialize_text")]
        text: &'a str,
    }

    #[derive(Serialize)]
    struct Plainly<'a> {
        text: &'a str,
    }

    fn text() -> impl Strategy<Value = String> {
        let parts = prop::sample::select(vec![
            "\"",
            "\\",
            "\n",
            "\t",
            "\r",
            "\u{8}",
            "\u{c}",
            "\0",
            "\u{1b}",
            "\u{1f}",
            "\u{7f}",
            " ",
            "é",
            "漢字",
            "😀",
            "abc",
            "sixty-four bytes and more of text without any escape in it: it is long",
        ]);
        prop::collection::vec(parts, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn strings_are_written_as_ever(text in text()) {
            let expected = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(&quoted(&text), &expected);
            prop_assert_eq!(&quote(Plain, &text), &expected);
            let (said, plainly) = (Said { text: &text }, Plainly { text: &text });
            prop_assert_eq!(
                serde_json::to_string(&said).unwrap(),
                serde_json::to_string(&plainly).unwrap()
            );
            prop_assert_eq!(
                serde_json::to_value(&said).unwrap(),
                serde_json::to_value(&plainly).unwrap()
            );
        }
    }
}
