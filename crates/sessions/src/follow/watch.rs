//! Waits until a file may have changed. Uses inotify where available, and polls otherwise.
//!
//! Notifications are hints. The caller reads the file after every wait, and no wait is longer than
//! half a second, because some file systems never notify.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Maximum wait without notifications.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum wait with notifications.
const MAX_WAIT: Duration = Duration::from_millis(500);

/// Waits for changes in directories.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    inotify: Option<OwnedFd>,
}

/// The reason why a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WakeReason {
    /// Something may have changed, or the wait timed out.
    Check,
    /// The reader of the output is gone.
    ReaderGone,
}

impl Watch {
    /// Watches the directory of `file`. Polls if that fails.
    pub(crate) fn new(file: &Path) -> Self {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut watch = Self {
            inotify: open_inotify(),
        };
        if !watch.add(folder) {
            watch.inotify = None;
        }
        watch
    }

    /// Also watches this directory. Returns whether that succeeded.
    #[cfg(target_os = "linux")]
    pub(crate) fn add(&mut self, folder: &Path) -> bool {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let Some(inotify) = &self.inotify else {
            return false;
        };
        let wanted = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR;
        add_watch(inotify, folder, wanted).is_ok()
    }

    /// Returns false: other systems have no inotify.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn add(&mut self, _: &Path) -> bool {
        false
    }

    /// Waits for a notification, for at most `longest`. Also returns when the reader of `output`
    /// goes away.
    pub(crate) fn wait(&self, longest: Duration, output: Option<BorrowedFd<'_>>) -> WakeReason {
        let max_wait = if self.inotify.is_some() {
            MAX_WAIT
        } else {
            POLL_INTERVAL
        };
        let time = Timespec::try_from(longest.min(max_wait)).unwrap_or(Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        });
        let inotify = self.inotify.as_ref().map(AsFd::as_fd);
        let watched = inotify
            .iter()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
        let outputs = output
            .iter()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::empty()));
        let mut watched: Vec<PollFd<'_>> = outputs.chain(watched).collect();
        // If it is interrupted or fails, the next read finds the changes.
        let _ = poll(&mut watched, Some(&time));
        let ends = PollFlags::ERR | PollFlags::HUP;
        if output.is_some() && watched[0].revents().intersects(ends) {
            return WakeReason::ReaderGone;
        }
        if let Some(inotify) = inotify {
            drain(inotify);
        }
        WakeReason::Check
    }
}

#[cfg(target_os = "linux")]
fn open_inotify() -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, init};
    init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_inotify() -> Option<OwnedFd> {
    None
}

/// Discards notifications. Only their presence matters.
fn drain(inotify: BorrowedFd<'_>) {
    let mut buffer = [0; 4096];
    while rustix::io::read(inotify, &mut buffer).is_ok_and(|length| length > 0) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::time::Instant;

    #[test]
    fn a_change_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let watch = Watch::new(&path);
        std::fs::write(&path, "x").unwrap();
        let begun = Instant::now();
        assert_eq!(watch.wait(Duration::from_mins(1), None), WakeReason::Check);
        assert!(begun.elapsed() < MAX_WAIT || watch.inotify.is_none());
        // Old notifications do not end the next wait.
        let begun = Instant::now();
        watch.wait(Duration::from_millis(20), None);
        assert!(begun.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn a_reader_that_leaves_ends_the_wait() {
        use rustix::pipe::PipeFlags;

        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
        let watch = Watch::default();
        let wait = || watch.wait(Duration::from_millis(1), Some(writer.as_fd()));
        assert_eq!(wait(), WakeReason::Check);
        drop(reader);
        // A child that another test forks inherits the reading end until it calls `exec`.
        while wait() != WakeReason::ReaderGone {}
    }
}
