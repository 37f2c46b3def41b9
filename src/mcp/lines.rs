//! What a server writes, as long as its lines end and it does not write too much.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest line of a server, in bytes.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// The most that a server writes after it was last asked for something, in bytes.
const MOST: usize = 4 * LONGEST;

/// How much a server writes.
#[derive(Debug, Default)]
pub(super) struct Volume {
    /// How much it has written since it was last asked for something.
    written: AtomicUsize,
    excess: OnceLock<&'static str>,
}

impl Volume {
    /// It is asked for something, and may write an answer.
    pub(super) fn asked(&self) {
        self.written.store(0, Ordering::Relaxed);
    }

    /// What was too much, if anything was.
    pub(super) fn excess(&self) -> Option<&'static str> {
        self.excess.get().copied()
    }
}

/// Fails as soon as a line is too long, or there are too many. The transport itself would drop a long
/// line and wait on.
pub(super) struct BoundedLines<Source> {
    source: Source,
    /// How long the present line is so far.
    length: usize,
    volume: Arc<Volume>,
}

impl<Source> BoundedLines<Source> {
    pub(super) fn new(source: Source, volume: Arc<Volume>) -> Self {
        Self {
            source,
            length: 0,
            volume,
        }
    }
}

impl<Source: AsyncRead + Unpin> AsyncRead for BoundedLines<Source> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.source).poll_read(context, buffer))?;
        let read = &buffer.filled()[before..];
        self.length = match memchr::memrchr(b'\n', read) {
            Some(end) => read.len() - end - 1,
            None => self.length + read.len(),
        };
        let written = self.volume.written.fetch_add(read.len(), Ordering::Relaxed);
        let excess = if self.length > LONGEST {
            "it wrote a line that is too long"
        } else if written > MOST {
            "it wrote too much that nobody asked for"
        } else {
            return Poll::Ready(Ok(()));
        };
        // The first one counts.
        let _ = self.volume.excess.set(excess);
        Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()))
    }
}
