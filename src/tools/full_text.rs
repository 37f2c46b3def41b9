//! The whole of an output too large for a result.
//!
//! Holds on to what the child printed (in memory or spilled by the `process` room) until somebody
//! writes it to a file. Where that file is, and whether there is one, is not decided here.

use std::io::{self, Write};
use std::sync::Arc;

use crate::process::Captured;

/// Streams of which the content of a reply shows only an excerpt. Cheap to clone.
#[derive(Debug, Clone)]
pub struct FullText {
    streams: Arc<[Captured]>,
}

impl FullText {
    /// The streams in the order in which they are to be read, usually stdout, stderr.
    pub fn of(streams: impl IntoIterator<Item = Captured>) -> Self {
        Self {
            streams: streams.into_iter().collect(),
        }
    }

    /// How many bytes the child printed that were kept. What [`Self::write_to`] writes may differ
    /// a little: invalid UTF-8 is replaced, streams are separated, gaps are marked.
    pub fn bytes(&self) -> u64 {
        self.streams
            .iter()
            .map(|stream| stream.total_bytes.saturating_sub(stream.dropped_bytes))
            .sum()
    }

    /// Writes all of it as UTF-8, one stream after the other, each beginning on a line of its own.
    /// Returns the number of bytes written.
    ///
    /// # Errors
    /// A spilled stream could not be read back, or `target` could not be written.
    pub fn write_to(&self, target: &mut dyn Write) -> io::Result<u64> {
        let mut written = 0;
        let mut ends_line = true;
        for stream in self.streams.iter() {
            let text = stream.text()?;
            if text.is_empty() {
                continue;
            }
            if !ends_line {
                target.write_all(b"\n")?;
                written += 1;
            }
            target.write_all(text.as_bytes())?;
            written += text.len() as u64;
            ends_line = text.ends_with('\n');
        }
        Ok(written)
    }
}

/// The same streams, not streams of the same content.
impl PartialEq for FullText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.streams, &other.streams)
    }
}
