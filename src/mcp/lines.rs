//! What a server writes, as long as its lines end.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The longest line of a server, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;

/// Fails as soon as a line is too long. The transport itself would drop such a line and wait on.
pub(super) struct BoundedLines<Source> {
    source: Source,
    /// How long the present line is so far.
    length: usize,
    /// Set when it fails.
    flooded: Arc<AtomicBool>,
}

impl<Source> BoundedLines<Source> {
    pub(super) fn new(source: Source, flooded: Arc<AtomicBool>) -> Self {
        Self {
            source,
            length: 0,
            flooded,
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
        if self.length > LONGEST {
            self.flooded.store(true, Ordering::Relaxed);
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        Poll::Ready(Ok(()))
    }
}
