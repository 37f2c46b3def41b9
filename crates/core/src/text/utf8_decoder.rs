//! UTF-8 text in chunks.

/// Decodes UTF-8 like [`String::from_utf8_lossy`]. Chunk boundaries do not matter.
#[derive(Debug, Default)]
pub struct Utf8Decoder {
    /// The start of an incomplete character: at most 3 bytes.
    pending: Vec<u8>,
}

impl Utf8Decoder {
    /// Adds bytes. Returns the text that is complete.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let whole = self.pending.len() - unfinished_length(&self.pending);
        let text = String::from_utf8_lossy(&self.pending[..whole]).into_owned();
        self.pending.drain(..whole);
        text
    }

    /// Returns an incomplete character at the end of the text, as U+FFFD.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.pending).into_owned()
    }
}

/// Returns the length of an incomplete character at the end.
fn unfinished_length(bytes: &[u8]) -> usize {
    // A character has at most 4 bytes, so an incomplete one is in the last 3.
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

    fn decode(chunks: &[Vec<u8>]) -> String {
        let mut decoder = Utf8Decoder::default();
        let text: String = chunks.iter().map(|chunk| decoder.push(chunk)).collect();
        text + &decoder.finish()
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter_for_bytes(chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..8)) {
            prop_assert_eq!(decode(&chunks), String::from_utf8_lossy(&chunks.concat()).into_owned());
        }

        #[test]
        fn chunk_boundaries_do_not_matter_for_text(text in "\\PC{0,12}", size in 1_usize..4) {
            let chunks: Vec<Vec<u8>> = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(decode(&chunks), text);
        }

        #[test]
        fn chunk_boundaries_do_not_matter_for_near_text(bytes in prop::collection::vec(prop::sample::select(vec![0x61_u8, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xed, 0xa0, 0xf0, 0x9f, 0xf4, 0x90]), 0..16), size in 1_usize..5) {
            let chunks: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(decode(&chunks), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
