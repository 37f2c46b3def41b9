//! UTF-8 text in chunks and in code fences, and differences between lists of lines.

use similar::{Algorithm, DiffOp, capture_diff_slices};

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

/// Removes a code fence around a text, closed or not, and its language `json`; any other language stays. Trims the
/// text.
pub fn strip_fence(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else {
        return text;
    };
    let content = inside.strip_prefix("json").unwrap_or(inside);
    content.strip_suffix("```").unwrap_or(content).trim()
}

/// Compares two lists of lines. The difference is not always the smallest one: the algorithm stops
/// early if the search takes too long. All callers share this instance of the generic algorithm.
pub fn compare_lines(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, old, new)
}

/// Returns the lines of an operation, each with its mark: a space, `-` or `+`.
pub fn marked_lines<'a>(
    operation: &DiffOp,
    old: &[&'a str],
    new: &[&'a str],
) -> impl Iterator<Item = (char, &'a str)> {
    let (mark, added) = if matches!(operation, DiffOp::Equal { .. }) {
        (' ', &[][..])
    } else {
        ('-', &new[operation.new_range()])
    };
    let before = old[operation.old_range()]
        .iter()
        .map(move |line| (mark, *line));
    before.chain(added.iter().map(|line| ('+', *line)))
}

/// Compares two lists of lines as [`compare_lines`] does. Returns all lines, each with its mark.
pub fn marked_diff<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(char, &'a str)> {
    let operations = compare_lines(old, new);
    let lines = operations.iter();
    lines
        .flat_map(|operation| marked_lines(operation, old, new))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(pieces: &[Vec<u8>]) -> String {
        let mut decoder = Utf8Decoder::default();
        let text: String = pieces.iter().map(|piece| decoder.push(piece)).collect();
        text + &decoder.finish()
    }

    proptest! {
        #[test]
        fn chunk_boundaries_do_not_matter_for_bytes(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..8)) {
            prop_assert_eq!(in_pieces(&pieces), String::from_utf8_lossy(&pieces.concat()).into_owned());
        }

        #[test]
        fn chunk_boundaries_do_not_matter_for_text(text in "\\PC{0,12}", size in 1_usize..4) {
            let pieces: Vec<Vec<u8>> = text.as_bytes().chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(in_pieces(&pieces), text);
        }

        #[test]
        fn chunk_boundaries_do_not_matter_for_near_text(bytes in prop::collection::vec(prop::sample::select(vec![0x61_u8, 0x80, 0xbf, 0xc3, 0xe2, 0x82, 0xed, 0xa0, 0xf0, 0x9f, 0xf4, 0x90]), 0..16), size in 1_usize..5) {
            let pieces: Vec<Vec<u8>> = bytes.chunks(size).map(<[u8]>::to_vec).collect();
            prop_assert_eq!(in_pieces(&pieces), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}
