//! Where a value ends, in JSON that is known to be well-formed: whole blocks are passed over at
//! once, however many quotation marks, escapes and brackets they hold.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

use super::escapes::Escapes;
use super::processor::{Block, Processor};

/// Where the value ends that starts at `start`, in bytes; `None` if there is none, or no end of it.
/// Of JSON that is not well-formed the answer is some place in it.
#[cfg(target_arch = "x86_64")]
pub(super) fn value_end(json: &[u8], start: usize) -> Option<usize> {
    use super::x86::{Avx2, Sse2};

    /// The same code, compiled for better processors.
    #[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,popcnt")]
    fn with_avx2(avx2: Avx2, value: &[u8]) -> Option<usize> {
        length(avx2, value)
    }

    let value = json.get(start..)?;
    let length = if let Some(avx2) = Avx2::detect() {
        // SAFETY: that `avx2` exists proves that the processor has what the function needs.
        unsafe { with_avx2(avx2, value) }
    } else {
        length(Sse2, value)
    };
    Some(start + length?)
}

/// The same for other processors.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn value_end(json: &[u8], start: usize) -> Option<usize> {
    Some(start + length(super::processor::Plain, json.get(start..)?)?)
}

/// The length of the value at the beginning of `text`.
#[inline(always)]
fn length<P: Processor>(processor: P, text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => find(processor, &text[1..], Text::default()).map(|end| end + 2),
        b'{' | b'[' => find(processor, text, Nesting::default()).map(|end| end + 1),
        _ => {
            let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t'..=b'\r');
            // Never nothing, even where no value is: whoever goes on from here gets somewhere.
            let length = text[1..].iter().position(is_end);
            Some(length.map_or(text.len(), |length| length + 1))
        }
    }
}

/// Looks for an end in one block after the other. (A closure would not be compiled for the
/// processor.)
trait Search {
    /// Where in the next block the end is.
    fn end<P: Processor>(&mut self, processor: P, lanes: P::Lanes) -> Option<usize>;
}

/// The place that `search` finds.
#[inline(always)]
fn find<P: Processor>(processor: P, text: &[u8], mut search: impl Search) -> Option<usize> {
    let (blocks, rest) = text.as_chunks::<64>();
    let mut start = 0;
    for block in blocks {
        if let Some(at) = search.end(processor, processor.load(block)) {
            return Some(start + at);
        }
        start += 64;
    }
    let mut last: Block = [b' '; 64];
    last[..rest.len()].copy_from_slice(rest);
    let at = search.end(processor, processor.load(&last))?;
    Some(start + at)
}

/// The place of the lowest bit.
#[inline(always)]
fn first(bits: u64) -> Option<usize> {
    (bits != 0).then(|| bits.trailing_zeros() as usize)
}

/// What is known at a boundary of blocks within a string.
#[derive(Default)]
struct Text {
    escapes: Escapes,
}

impl Search for Text {
    #[inline(always)]
    fn end<P: Processor>(&mut self, processor: P, lanes: P::Lanes) -> Option<usize> {
        let escaped = self.escapes.escaped(processor.equal(lanes, b'\\'));
        first(processor.equal(lanes, b'"') & !escaped)
    }
}

/// What is known at a boundary of blocks within a container.
#[derive(Default)]
struct Nesting {
    escapes: Escapes,
    /// All ones if the boundary lies in a string.
    in_string: u64,
    depth: u32,
}

impl Search for Nesting {
    #[inline(always)]
    fn end<P: Processor>(&mut self, processor: P, lanes: P::Lanes) -> Option<usize> {
        let escaped = self.escapes.escaped(processor.equal(lanes, b'\\'));
        let quote = processor.equal(lanes, b'"') & !escaped;
        if quote == 0 && self.in_string != 0 {
            return None;
        }
        let in_string = processor.parity(quote) ^ self.in_string;
        self.in_string = 0_u64.wrapping_sub(in_string >> 63);
        let outside = !(in_string | quote);
        // `{` and `[`, and `}` and `]`, differ in bit 5 only.
        let curly = processor.with_bit_5(lanes);
        let open = processor.equal(curly, b'{') & outside;
        let close = processor.equal(curly, b'}') & outside;
        if close.count_ones() < self.depth {
            self.depth += open.count_ones();
            self.depth -= close.count_ones();
            return None;
        }
        let mut brackets = open | close;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            if open & bit != 0 {
                self.depth += 1;
            } else if self.depth <= 1 {
                return first(bit);
            } else {
                self.depth -= 1;
            }
            brackets ^= bit;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::processor::Plain;
    use super::super::validate::{Verdict, validate};
    use super::*;

    #[test]
    fn values_end_where_they_end() {
        let rows = [
            (r#""a",1"#, 3),
            (r#""\"\\",1"#, 6),
            ("[]]", 2),
            (r#"{"a":"}"}}"#, 9),
            ("12,", 2),
            ("true}", 4),
            ("null", 4),
        ];
        for (json, end) in rows {
            assert_eq!(value_end(json.as_bytes(), 0), Some(end), "{json}");
        }
        for json in ["", "\"a", "[[]", r#"{"a":"}""#] {
            assert_eq!(value_end(json.as_bytes(), 0), None, "{json}");
        }
        assert_eq!(value_end(b"1", 2), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn all_processors_find_the_ends_that_reading_finds(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "[", "]", "{\"k\":", "}", "\"", "\\\"", "\\\\", "\\n", "aaaaaaaaaaaaaaaaaaaaaa",
                    ",", ":", "1", " ", "é", "\"s\"", "{}", "[1,2]",
                ]),
                0..60,
            ),
            before in 0_usize..70,
        ) {
            let text = parts.concat();
            let json = format!("{}{text}", " ".repeat(before));
            let found = value_end(json.as_bytes(), before);
            prop_assert_eq!(found, length(Plain, text.as_bytes()).map(|length| before + length));
            // The validator has the last word where it finds a whole value that has an end of its own.
            if let Verdict::Whole { span, .. } = validate(text.as_bytes())
                && matches!(text.as_bytes()[span.start], b'"' | b'{' | b'[')
            {
                let start = before + span.start;
                prop_assert_eq!(value_end(json.as_bytes(), start), Some(before + span.end), "{}", text);
            }
        }
    }
}
