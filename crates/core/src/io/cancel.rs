//! Cancellation from another thread, and locks.

use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;

/// A lock whose content stays usable if a thread that held it panicked.
pub trait Lock<T: ?Sized> {
    /// Waits for the lock.
    fn lock_anyway(&self) -> MutexGuard<'_, T>;
}

impl<T: ?Sized> Lock<T> for Mutex<T> {
    fn lock_anyway(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A cancellation token; clones share its state. On [`CancelToken::cancel`], child processes under it get
/// TERM, a grace period, then KILL; [`CancelToken::kill`] skips the grace period.
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

/// The state of a token; it only increases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not cancelled.
    #[default]
    Running,
    /// Work ends, and has its grace periods.
    Cancelled,
    /// Work ends at once.
    Killed,
}

impl CancelToken {
    /// Asks to stop, with a grace period.
    pub fn cancel(&self) {
        self.raise(Level::Cancelled);
    }

    /// Cancels without a grace period.
    pub fn kill(&self) {
        self.raise(Level::Killed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.level() >= Level::Cancelled
    }

    /// Waits until it is cancelled.
    pub async fn wait(&self) {
        // Registers first, so that no `raise` is missed.
        let changed = self.shared.tasks.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        if !self.is_cancelled() {
            changed.await;
        }
    }

    /// Returns the state.
    pub fn level(&self) -> Level {
        *self.shared.level.lock_anyway()
    }

    /// Returns a descriptor that becomes readable when the level exceeds `seen`. `None` at the last level,
    /// or if no descriptor is available: then the level must be polled.
    pub fn descriptor_above(&self, seen: Level) -> Option<BorrowedFd<'_>> {
        let (waker, fires_at) = match seen {
            Level::Running => (&self.shared.on_cancel, Level::Cancelled),
            Level::Cancelled => (&self.shared.on_kill, Level::Killed),
            Level::Killed => return None,
        };
        // Holds the lock, so that a concurrent `raise` either wakes the descriptor or has already set the level.
        let level = self.shared.level.lock_anyway();
        let descriptor = waker.descriptor()?;
        if *level >= fires_at {
            waker.wake();
        }
        Some(descriptor)
    }

    fn raise(&self, new_level: Level) {
        let mut level = self.shared.level.lock_anyway();
        *level = (*level).max(new_level);
        self.shared.tasks.notify_waiters();
        self.shared.on_cancel.wake();
        if *level == Level::Killed {
            self.shared.on_kill.wake();
        }
    }
}

/// A pipe that becomes readable when its writing end is closed. It is created on first use; an earlier
/// wake is not recorded, since the token keeps the level.
#[derive(Debug, Default)]
struct Waker {
    ends: OnceLock<(PipeReader, Mutex<Option<PipeWriter>>)>,
}

impl Waker {
    /// Returns the descriptor to poll for reading; `None` if none is available.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        if self.ends.get().is_none()
            && let Ok((reader, writer)) = pipe()
        {
            // Closed if another thread was first.
            let _ = self.ends.set((reader, Mutex::new(Some(writer))));
        }
        self.ends.get().map(|(reader, _)| reader.as_fd())
    }

    fn wake(&self) {
        if let Some((_, writer)) = self.ends.get() {
            *writer.lock_anyway() = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_level() {
        let token = CancelToken::default();
        let clone = token.clone();
        assert!(!clone.is_cancelled());
        token.cancel();
        assert_eq!(clone.level(), Level::Cancelled);
    }

    #[test]
    fn a_cancel_after_a_kill_is_ignored() {
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
        fn each_level_has_a_waker_that_works_before_and_after_it_fires() {
            let token = CancelToken::default();
            let early = token.descriptor_above(Level::Running).unwrap();
            assert!(!is_readable(early));
            token.cancel();
            assert!(is_readable(early));
            let kill = token.descriptor_above(Level::Cancelled).unwrap();
            assert!(!is_readable(kill));
            token.kill();
            assert!(is_readable(kill));
            assert!(token.descriptor_above(Level::Killed).is_none());

            let late = CancelToken::default();
            late.kill();
            assert!(is_readable(late.descriptor_above(Level::Running).unwrap()));
            assert!(is_readable(
                late.descriptor_above(Level::Cancelled).unwrap()
            ));
        }
    }
}
