//! Cancelling what runs, from another thread.

use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

/// Fires once; clones share the state. A child that runs under a token is ended (TERM to its
/// group, grace, KILL) as soon as it fires; a second, [`CancelToken::kill`], skips the grace.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    level: Mutex<Level>,
    tasks: Notify,
    on_cancel: Waker,
    on_kill: Waker,
}

/// How far a token has gone; it never goes back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    #[default]
    Running,
    Cancelled,
    Killed,
}

impl CancelToken {
    /// Asks for the end.
    pub fn cancel(&self) {
        self.raise(Level::Cancelled);
    }

    /// Asks for the end without grace.
    pub fn kill(&self) {
        self.raise(Level::Killed);
    }

    /// Whether it has fired.
    pub fn is_cancelled(&self) -> bool {
        self.level() >= Level::Cancelled
    }

    /// Waits until it fires, in a task.
    pub async fn fired(&self) {
        // Registered before looking, so that a `raise` between the two is not missed.
        let changed = self.shared.tasks.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        if !self.is_cancelled() {
            changed.await;
        }
    }

    pub(crate) fn level(&self) -> Level {
        *self.lock()
    }

    /// A descriptor that becomes readable when the token goes beyond `seen`. `None` if it can go
    /// no further, or if the system has no descriptor left: then the level must be asked for.
    pub(crate) fn beyond(&self, seen: Level) -> Option<BorrowedFd<'_>> {
        let (waker, fires_at) = match seen {
            Level::Running => (&self.shared.on_cancel, Level::Cancelled),
            Level::Cancelled => (&self.shared.on_kill, Level::Killed),
            Level::Killed => return None,
        };
        // Under the lock, so that a `raise` at this moment either sees the descriptor or is seen.
        let level = self.lock();
        let descriptor = waker.descriptor()?;
        if *level >= fires_at {
            waker.wake();
        }
        Some(descriptor)
    }

    fn lock(&self) -> MutexGuard<'_, Level> {
        self.shared
            .level
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self, to: Level) {
        let mut level = self.lock();
        *level = (*level).max(to);
        self.shared.tasks.notify_waiters();
        self.shared.on_cancel.wake();
        if *level == Level::Killed {
            self.shared.on_kill.wake();
        }
    }
}

/// A pipe that becomes readable when its writing end is closed. It is made when its descriptor is
/// first asked for; a wake before that is not remembered, since the token keeps the level.
#[derive(Debug, Default)]
struct Waker {
    ends: OnceLock<(PipeReader, Mutex<Option<PipeWriter>>)>,
}

impl Waker {
    /// The descriptor to poll for reading; `None` if the system has none left.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        if self.ends.get().is_none()
            && let Ok((reader, writer)) = pipe()
        {
            // If another thread was first, these are closed again.
            let _ = self.ends.set((reader, Mutex::new(Some(writer))));
        }
        self.ends.get().map(|(reader, _)| reader.as_fd())
    }

    fn wake(&self) {
        if let Some((_, writer)) = self.ends.get() {
            *writer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_fire_together() {
        let token = CancelToken::default();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert_eq!(clone.level(), Level::Cancelled);
    }

    #[test]
    fn kill_is_not_taken_back_by_a_later_cancel() {
        let token = CancelToken::default();
        token.kill();
        token.cancel();
        assert!(token.is_cancelled() && token.level() == Level::Killed);
    }

    mod descriptors {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        use super::*;

        fn is_readable(descriptor: BorrowedFd<'_>) -> bool {
            let mut set = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
            poll(&mut set, Some(&Timespec::default())).unwrap() == 1
        }

        #[test]
        fn each_level_has_its_own_and_wakes_whether_asked_for_before_or_after() {
            let token = CancelToken::default();
            let early = token.beyond(Level::Running).unwrap();
            assert!(!is_readable(early));
            token.cancel();
            assert!(is_readable(early));
            let kill = token.beyond(Level::Cancelled).unwrap();
            assert!(!is_readable(kill));
            token.kill();
            assert!(is_readable(kill));
            assert!(token.beyond(Level::Killed).is_none());

            let late = CancelToken::default();
            late.kill();
            assert!(is_readable(late.beyond(Level::Running).unwrap()));
            assert!(is_readable(late.beyond(Level::Cancelled).unwrap()));
        }
    }
}
