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

    /// How many bytes the child printed that were kept. [`Self::write_to`] writes a few more if
    /// streams have to be separated or gaps marked.
    pub fn bytes(&self) -> u64 {
        self.streams.iter().map(Captured::kept_bytes).sum()
    }

    /// Writes all of it, bytes as the child wrote them, one stream after the other, each beginning
    /// on a line of its own. Memory does not grow with the length. Returns the number of bytes
    /// written.
    ///
    /// # Errors
    /// A spilled stream could not be read back, or `target` could not be written.
    pub fn write_to(&self, target: &mut dyn Write) -> io::Result<u64> {
        let mut target = target;
        let mut written = 0;
        let mut ends_line = true;
        for stream in self.streams.iter().filter(|stream| !stream.is_empty()) {
            if !ends_line {
                target.write_all(b"\n")?;
                written += 1;
            }
            written += stream.write_to(&mut target)?;
            ends_line = stream.suffix(1)? == b"\n";
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
