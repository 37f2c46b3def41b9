//! Bytes that arrive in pieces, as text in pieces.

use std::io::{self, Write};

/// Hands on what is written to it as text; invalid UTF-8 is replaced as
/// [`String::from_utf8_lossy`] does it, wherever the pieces are cut.
pub(super) struct LossyText<Sink: FnMut(&str)> {
    sink: Sink,
    /// Bytes not handed on yet: between writes the beginning of a character, at most 3 bytes.
    pending: Vec<u8>,
}

impl<Sink: FnMut(&str)> LossyText<Sink> {
    pub(super) fn new(sink: Sink) -> Self {
        Self {
            sink,
            pending: Vec::new(),
        }
    }

    /// No more bytes will come.
    pub(super) fn finish(mut self) {
        (self.sink)(&String::from_utf8_lossy(&self.pending));
    }
}

impl<Sink: FnMut(&str)> Write for LossyText<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - unfinished(&self.pending);
        (self.sink)(&String::from_utf8_lossy(&self.pending[..whole]));
        self.pending.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Length of the character at the end that further bytes may complete.
fn unfinished(bytes: &[u8]) -> usize {
    // A character has at most 4 bytes, so an unfinished one begins in the last 3.
    (1..=3.min(bytes.len()))
        .find(|length| {
            let end = &bytes[bytes.len() - length..];
            std::str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(pieces: &[Vec<u8>]) -> String {
        let mut text = String::new();
        let mut lossy = LossyText::new(|piece: &str| text.push_str(piece));
        for piece in pieces {
            lossy.write_all(piece).unwrap();
        }
        lossy.finish();
        text
    }

    proptest! {
        #[test]
        fn cuts_make_no_difference_to_bytes(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..8)) {
            prop_assert_eq!(in_pieces(&pieces), String::from_utf8_lossy(&pieces.concat()).into_owned());
        }

        #[test]
        fn cuts_make_no_difference_to_text(text in "\\PC{0,12}", size in 1_usize..4) {
            let pieces: Vec<Vec<u8>> = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(in_pieces(&pieces), text);
        }

        #[test]
        fn cuts_make_no_difference_to_near_text(bytes in prop::collection::vec(prop::sample::select(vec![0x61_u8, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xed, 0xa0, 0xf0, 0x9f, 0xf4, 0x90]), 0..16), size in 1_usize..5) {
            let pieces: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(in_pieces(&pieces), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
