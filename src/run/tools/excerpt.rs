//! The start and the end of a text that is too long.

use std::io::{self, Write};

use crate::text::{Utf8Decoder, truncate_utf16, utf16_length};

/// Collects text in chunks and keeps about half of `limit` UTF-16 units from each end, in constant memory.
#[derive(Debug, Default)]
pub(super) struct HeadAndTail {
    limit: usize,
    head: String,
    head_units: usize,
    tail: String,
    tail_units: usize,
    total_units: usize,
    /// Whether text after the head went to the tail or was dropped.
    head_is_complete: bool,
    has_omitted: bool,
}

/// The two ends of a text. If it is complete, the head contains all of it.
#[derive(Debug, Default)]
pub(super) struct TextEnds {
    /// The start.
    pub(super) head: String,
    /// The number of UTF-16 units between head and tail.
    pub(super) omitted_units: usize,
    /// The end.
    pub(super) tail: String,
}

impl HeadAndTail {
    /// Creates an excerpt of at most `limit` UTF-16 units, without the marker.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Appends a chunk.
    pub(super) fn push(&mut self, piece: &str) {
        let units = utf16_length(piece);
        self.total_units += units;
        let room = if self.head_is_complete {
            0
        } else {
            (self.limit / 2).saturating_sub(self.head_units)
        };
        let (to_head, rest) = piece.split_at(truncate_utf16(piece, room).len());
        let head_units = utf16_length(to_head);
        self.head.push_str(to_head);
        self.head_units += head_units;
        if !rest.is_empty() {
            self.head_is_complete = true;
            self.push_tail(rest, units - head_units);
        }
    }

    /// Adds `units` UTF-16 units of dropped text between the head and the tail.
    pub(super) fn push_omitted(&mut self, units: usize) {
        if units > 0 {
            self.total_units += units;
            self.has_omitted = true;
            self.head_is_complete = true;
            self.tail.clear();
            self.tail_units = 0;
        }
    }

    /// Returns the start, the number of omitted units, and the end.
    pub(super) fn into_ends(mut self) -> TextEnds {
        self.trim_tail();
        TextEnds {
            omitted_units: self.total_units - self.head_units - self.tail_units,
            head: self.head,
            tail: self.tail,
        }
    }

    /// Returns the whole text if it fits, else the head, a marker with the number of omitted units, and the
    /// tail.
    pub(super) fn finish(self) -> String {
        let ends = self.into_ends();
        let omitted = ends.omitted_units;
        if omitted == 0 {
            return ends.head + &ends.tail;
        }
        format!(
            "{}\n\n... [{omitted} characters omitted] ...\n\n{}",
            ends.head, ends.tail
        )
    }

    /// Whether nothing was appended.
    pub(super) fn is_empty(&self) -> bool {
        self.total_units == 0
    }

    /// Whether text was omitted.
    pub(super) fn is_partial(&self) -> bool {
        self.has_omitted || self.total_units > self.limit
    }

    fn push_tail(&mut self, piece: &str, units: usize) {
        let capacity = self.limit - self.head_units;
        let surplus = units.saturating_sub(capacity);
        if surplus > 0 {
            // Text before this chunk cannot be among the last characters.
            self.tail.clear();
            self.tail_units = 0;
        }
        let kept = &piece[suffix_start(piece, surplus)..];
        self.tail.push_str(kept);
        self.tail_units += utf16_length(kept);
        // Trimming moves the whole tail, so not on every push.
        if self.tail_units > capacity.saturating_mul(4) {
            self.trim_tail();
        }
    }

    fn trim_tail(&mut self) {
        let surplus = (self.head_units + self.tail_units).saturating_sub(self.limit);
        if surplus > 0 {
            let start = suffix_start(&self.tail, surplus);
            self.tail.drain(..start);
            self.tail_units = utf16_length(&self.tail);
        }
    }
}

/// Returns the offset after the first `units` UTF-16 units. A surrogate pair on the boundary is skipped.
fn suffix_start(text: &str, units: usize) -> usize {
    let head = truncate_utf16(text, units);
    let is_short = utf16_length(head) < units;
    let pair = text[head.len()..].chars().next().filter(|_| is_short);
    head.len() + pair.map_or(0, char::len_utf8)
}

/// A writer that decodes UTF-8 and replaces invalid bytes.
pub(super) struct LossyText<Sink: FnMut(&str)> {
    sink: Sink,
    pieces: Utf8Decoder,
}

impl<Sink: FnMut(&str)> LossyText<Sink> {
    pub(super) fn new(sink: Sink) -> Self {
        Self {
            sink,
            pieces: Utf8Decoder::default(),
        }
    }

    /// Decodes the last bytes.
    pub(super) fn finish(mut self) {
        (self.sink)(&self.pieces.finish());
    }
}

impl<Sink: FnMut(&str)> Write for LossyText<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.sink)(&self.pieces.push(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn excerpt_of(text: &str, limit: usize) -> String {
        let mut excerpt = HeadAndTail::new(limit);
        excerpt.push(text);
        excerpt.finish()
    }

    #[test]
    fn a_short_text_is_kept_whole() {
        for text in ["", "a", "abcd", "äöü🚀"] {
            assert_eq!(excerpt_of(text, 10), text);
        }
    }

    #[test]
    fn the_middle_of_a_long_text_is_omitted() {
        assert_eq!(
            excerpt_of("aaaa-middle-zzzz", 8),
            "aaaa\n\n... [8 characters omitted] ...\n\nzzzz"
        );
    }

    #[test]
    fn no_character_is_split() {
        // Each rocket is two units; the first half of ten fits two of them, the second half three.
        let cut = excerpt_of(&"🚀".repeat(10), 10);
        assert_eq!(cut, "🚀🚀\n\n... [10 characters omitted] ...\n\n🚀🚀🚀");
    }

    #[test]
    fn lost_text_separates_head_and_tail() {
        let mut excerpt = HeadAndTail::new(10);
        excerpt.push("ab");
        excerpt.push_omitted(7);
        assert!(excerpt.is_partial());
        excerpt.push("yz");
        assert_eq!(
            excerpt.finish(),
            "ab\n\n... [7 characters omitted] ...\n\nyz"
        );
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter(pieces in prop::collection::vec(".{0,12}", 0..12), limit in 0_usize..60) {
            let whole = pieces.concat();
            let mut excerpt = HeadAndTail::new(limit);
            for piece in &pieces {
                excerpt.push(piece);
            }
            let partial = excerpt.is_partial();
            let text = excerpt.finish();
            prop_assert_eq!(&text, &excerpt_of(&whole, limit));
            prop_assert_eq!(partial, text != whole);
            prop_assert_eq!(partial, utf16_length(&whole) > limit);
        }

        #[test]
        fn head_and_tail_come_from_the_text(text in "\\PC{0,80}", limit in 2_usize..40) {
            let cut = excerpt_of(&text, limit);
            if let Some((head, rest)) = cut.split_once("\n\n... [") {
                let (count, tail) = rest.split_once(" characters omitted] ...\n\n").unwrap();
                prop_assert!(text.starts_with(head));
                prop_assert!(text.ends_with(tail));
                prop_assert_eq!(count.parse::<usize>().unwrap() + utf16_length(head) + utf16_length(tail), utf16_length(&text));
            } else {
                prop_assert_eq!(cut, text);
            }
        }
    }
}
