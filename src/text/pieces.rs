//! Text that comes as bytes, piece by piece.

/// Decodes UTF-8 as [`String::from_utf8_lossy`] does, wherever the pieces are cut.
#[derive(Debug, Default)]
pub struct TextPieces {
    /// The beginning of a character whose end has not come yet: at most 3 bytes.
    pending: Vec<u8>,
}

impl TextPieces {
    /// The text that is certain once these bytes have come.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - unfinished(&self.pending);
        let text = String::from_utf8_lossy(&self.pending[..whole]).into_owned();
        self.pending.drain(..whole);
        text
    }

    /// The rest, if no more bytes come.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
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
        let mut decoder = TextPieces::default();
        let text: String = pieces.iter().map(|piece| decoder.push(piece)).collect();
        text + &decoder.finish()
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
