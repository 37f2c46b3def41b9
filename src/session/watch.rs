//! Waiting until something may have been written: told by the system where it can, else for a short
//! while.
//!
//! Notices are hints. Whoever waits looks at the file itself afterwards, and after the longest wait in
//! any case: some file systems never tell.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How long one waits where nobody tells.
const POLL: Duration = Duration::from_millis(50);

/// How long one waits where the system tells.
const LONGEST: Duration = Duration::from_millis(500);

/// See the module.
#[derive(Debug, Default)]
pub struct Watch {
    notices: Option<OwnedFd>,
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something may have changed, or time is over.
    Look,
    /// Whoever reads what the waiter writes is gone.
    ReaderIsGone,
}

impl Watch {
    /// Nobody tells anything.
    pub fn without_notices() -> Self {
        Self::default()
    }

    /// Tells of changes in the folder of `file`; where that cannot be, as
    /// [`Watch::without_notices`].
    pub fn beside(file: &Path) -> Self {
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut watch = Self { notices: notices() };
        if !watch.add(folder) {
            watch.notices = None;
        }
        watch
    }

    /// Tells of changes in this folder, too. Says whether it does.
    #[cfg(target_os = "linux")]
    pub fn add(&mut self, folder: &Path) -> bool {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let Some(notices) = &self.notices else {
            return false;
        };
        let wanted = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ONLYDIR;
        add_watch(notices, folder, wanted).is_ok()
    }

    /// The same where it is not known how to ask.
    #[cfg(not(target_os = "linux"))]
    pub fn add(&mut self, _: &Path) -> bool {
        false
    }

    /// Waits for a notice, at most for `longest`, and less where nobody tells. `output` is watched for
    /// its reader's end.
    pub fn wait(&self, longest: Duration, output: Option<BorrowedFd<'_>>) -> Woken {
        let usual = if self.notices.is_some() {
            LONGEST
        } else {
            POLL
        };
        let time = Timespec::try_from(longest.min(usual)).unwrap_or(Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        });
        let notices = self.notices.as_ref().map(AsFd::as_fd);
        let watched = notices
            .iter()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
        let outputs = output
            .iter()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::empty()));
        let mut watched: Vec<PollFd<'_>> = outputs.chain(watched).collect();
        // Interrupted or failed: the next look tells.
        let _ = poll(&mut watched, Some(&time));
        let ends = PollFlags::ERR | PollFlags::HUP;
        if output.is_some() && watched[0].revents().intersects(ends) {
            return Woken::ReaderIsGone;
        }
        if let Some(notices) = notices {
            drain(notices);
        }
        Woken::Look
    }
}

#[cfg(target_os = "linux")]
fn notices() -> Option<OwnedFd> {
    use rustix::fs::inotify::{CreateFlags, init};
    init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()
}

#[cfg(not(target_os = "linux"))]
fn notices() -> Option<OwnedFd> {
    None
}

/// What notices say is not looked at, only that there were some.
fn drain(notices: BorrowedFd<'_>) {
    let mut buffer = [0; 4096];
    while rustix::io::read(notices, &mut buffer).is_ok_and(|length| length > 0) {}
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_change_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let watch = Watch::beside(&path);
        std::fs::write(&path, "x").unwrap();
        let begun = Instant::now();
        assert_eq!(watch.wait(Duration::from_mins(1), None), Woken::Look);
        assert!(begun.elapsed() < LONGEST || watch.notices.is_none());
        // Old notices do not end the next wait.
        let begun = Instant::now();
        watch.wait(Duration::from_millis(20), None);
        assert!(begun.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn a_reader_that_goes_ends_the_wait() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let watch = Watch::without_notices();
        let wait = || watch.wait(Duration::from_millis(1), Some(writer.as_fd()));
        assert_eq!(wait(), Woken::Look);
        drop(reader);
        assert_eq!(wait(), Woken::ReaderIsGone);
    }
}
