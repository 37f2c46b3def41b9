//! A descriptor that wakes a poll. What it means is the owner's business.

use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

/// Costs nothing until its descriptor is asked for; once woken, the descriptor stays readable.
/// [`Waker::wake`] before [`Waker::descriptor`] is not remembered: the owner keeps the state.
#[derive(Debug, Default)]
pub(super) struct Waker {
    ends: OnceLock<Ends>,
}

impl Waker {
    /// The descriptor to poll for reading, created at the first call. `None` if the system has
    /// none left.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        if self.ends.get().is_none()
            && let Ok(ends) = Ends::new()
        {
            // Whoever was first wins; the other's ends are closed again.
            let _ = self.ends.set(ends);
        }
        self.ends.get().map(Ends::descriptor)
    }

    /// Makes the descriptor readable for good, if there is one.
    pub(super) fn wake(&self) {
        if let Some(ends) = self.ends.get() {
            ends.wake();
        }
    }
}

#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Ends(std::os::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Ends {
    fn new() -> rustix::io::Result<Self> {
        use rustix::event::{EventfdFlags, eventfd};
        eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map(Self)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.0.as_fd()
    }

    fn wake(&self) {
        // Fails only if the counter is full, and then the descriptor is readable already.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

/// Without an eventfd: a pipe whose reading end becomes ready when the writing end is closed.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct Ends {
    reader: std::io::PipeReader,
    writer: std::sync::Mutex<Option<std::io::PipeWriter>>,
}

#[cfg(not(target_os = "linux"))]
impl Ends {
    fn new() -> std::io::Result<Self> {
        let (reader, writer) = std::io::pipe()?;
        let writer = std::sync::Mutex::new(Some(writer));
        Ok(Self { reader, writer })
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        use std::os::fd::AsFd;
        self.reader.as_fd()
    }

    fn wake(&self) {
        let mut writer = self
            .writer
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *writer = None;
    }
}
