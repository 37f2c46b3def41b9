//! The beginning and the end of a text that is too long to show.

use std::io::{self, Write};

use crate::text::{TextPieces, truncate_utf16, utf16_length};

/// Collects text piece by piece and keeps about half of `limit` UTF-16 units from each end.
/// Memory does not grow with the text.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    limit: usize,
    head: String,
    head_units: usize,
    tail: String,
    tail_units: usize,
    total_units: usize,
    /// Something after the head went elsewhere: to the tail, or lost.
    head_is_complete: bool,
    has_lost: bool,
}

/// The two ends of a text.
#[derive(Debug, Default)]
pub(super) struct ExcerptParts {
    /// Its beginning.
    pub(super) head: String,
    /// UTF-16 units between the two.
    pub(super) omitted_units: usize,
    /// Its end.
    pub(super) tail: String,
}

impl Excerpt {
    /// Of at most `limit` UTF-16 units, the marker not counted.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Appends a piece.
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

    /// Appends text that is lost, `units` UTF-16 units of it: what was pushed before it is the
    /// head, what is pushed after it the tail.
    pub(super) fn push_lost(&mut self, units: usize) {
        if units > 0 {
            self.total_units += units;
            self.has_lost = true;
            self.head_is_complete = true;
            self.tail.clear();
            self.tail_units = 0;
        }
    }

    /// The beginning, the number of units left out, and the end.
    pub(super) fn into_parts(mut self) -> ExcerptParts {
        self.trim_tail();
        ExcerptParts {
            omitted_units: self.total_units - self.head_units - self.tail_units,
            head: self.head,
            tail: self.tail,
        }
    }

    /// The whole text if it fits; else head, a marker with the number of units left out, and tail.
    pub(super) fn finish(self) -> String {
        let parts = self.into_parts();
        let omitted = parts.omitted_units;
        if omitted == 0 {
            return parts.head + &parts.tail;
        }
        format!(
            "{}\n\n... [{omitted} characters omitted] ...\n\n{}",
            parts.head, parts.tail
        )
    }

    /// Whether nothing was appended yet.
    pub(super) fn is_empty(&self) -> bool {
        self.total_units == 0
    }

    /// Whether something had to be left out.
    pub(super) fn is_partial(&self) -> bool {
        self.has_lost || self.total_units > self.limit
    }

    fn push_tail(&mut self, piece: &str, units: usize) {
        let capacity = self.limit - self.head_units;
        let surplus = units.saturating_sub(capacity);
        if surplus > 0 {
            // Nothing from before this piece can be among the last characters.
            self.tail.clear();
            self.tail_units = 0;
        }
        let kept = &piece[suffix_start(piece, surplus)..];
        self.tail.push_str(kept);
        self.tail_units += utf16_length(kept);
        // Not on every push: cutting moves the whole tail.
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

/// Where the text goes on after its first `units` UTF-16 units (a pair on the border goes, too).
fn suffix_start(text: &str, units: usize) -> usize {
    let head = truncate_utf16(text, units);
    let is_short = utf16_length(head) < units;
    let pair = text[head.len()..].chars().next().filter(|_| is_short);
    head.len() + pair.map_or(0, char::len_utf8)
}

/// Hands on what is written to it as text; invalid UTF-8 is replaced.
pub(super) struct LossyText<Sink: FnMut(&str)> {
    sink: Sink,
    pieces: TextPieces,
}

impl<Sink: FnMut(&str)> LossyText<Sink> {
    pub(super) fn new(sink: Sink) -> Self {
        Self {
            sink,
            pieces: TextPieces::default(),
        }
    }

    /// No more bytes will come.
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
        let mut excerpt = Excerpt::new(limit);
        excerpt.push(text);
        excerpt.finish()
    }

    #[test]
    fn a_text_that_fits_stays_whole() {
        for text in ["", "a", "abcd", "äöü🚀"] {
            assert_eq!(excerpt_of(text, 10), text);
        }
    }

    #[test]
    fn the_middle_of_a_long_text_goes() {
        assert_eq!(
            excerpt_of("aaaa-middle-zzzz", 8),
            "aaaa\n\n... [8 characters omitted] ...\n\nzzzz"
        );
    }

    #[test]
    fn no_character_is_split() {
        // Each rocket is two units; the first half of ten holds two of them, what is left three.
        let cut = excerpt_of(&"🚀".repeat(10), 10);
        assert_eq!(cut, "🚀🚀\n\n... [10 characters omitted] ...\n\n🚀🚀🚀");
    }

    #[test]
    fn lost_text_separates_head_and_tail() {
        let mut excerpt = Excerpt::new(10);
        excerpt.push("ab");
        excerpt.push_lost(7);
        assert!(excerpt.is_partial());
        excerpt.push("yz");
        assert_eq!(
            excerpt.finish(),
            "ab\n\n... [7 characters omitted] ...\n\nyz"
        );
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(pieces in prop::collection::vec(".{0,12}", 0..12), limit in 0_usize..60) {
            let whole = pieces.concat();
            let mut excerpt = Excerpt::new(limit);
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
