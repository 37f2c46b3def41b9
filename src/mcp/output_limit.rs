//! Limits on the output of a server: the length of a line, and the output between requests.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Maximum length of a line, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// Maximum output after a request, in bytes.
const MAX_OUTPUT_BYTES: usize = 4 * MAX_LINE_BYTES;

/// The output of a server.
#[derive(Debug, Default)]
pub(super) struct Output {
    /// The number of bytes since the last request.
    written: AtomicUsize,
    violation: OnceLock<&'static str>,
}

impl Output {
    /// Resets the count for a new request.
    pub(super) fn reset(&self) {
        self.written.store(0, Ordering::Relaxed);
    }

    /// Returns the limit that was violated, if any.
    pub(super) fn violation(&self) -> Option<&'static str> {
        self.violation.get().copied()
    }
}

/// A reader that fails as soon as a limit is violated. The transport itself would drop a long line and wait.
pub(super) struct LimitedOutput<Source> {
    source: Source,
    /// The length of the current line so far, in bytes.
    length: usize,
    output: Arc<Output>,
}

impl<Source> LimitedOutput<Source> {
    pub(super) fn new(source: Source, output: Arc<Output>) -> Self {
        Self {
            source,
            length: 0,
            output,
        }
    }
}

impl<Source: AsyncRead + Unpin> AsyncRead for LimitedOutput<Source> {
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
        let written = self.output.written.fetch_add(read.len(), Ordering::Relaxed);
        let violation = if self.length > MAX_LINE_BYTES {
            "its output has a line that is too long"
        } else if written > MAX_OUTPUT_BYTES {
            "it wrote too much unsolicited output"
        } else {
            return Poll::Ready(Ok(()));
        };
        // The first violation is kept.
        let _ = self.output.violation.set(violation);
        Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()))
    }
}
