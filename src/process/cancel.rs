//! Cancelling what runs, from another thread.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Fires once; clones share the state. A child that runs under a token is ended (TERM to its
/// group, grace, KILL) as soon as it fires; a second, [`CancelToken::kill`], skips the grace.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    level: Mutex<Level>,
    changed: Condvar,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    #[default]
    Running,
    Cancelled,
    Killed,
}

/// What a wait on a token ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelWait {
    /// The token fired.
    Cancelled,
    /// The time was up first.
    TimedOut,
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
        *self.level() >= Level::Cancelled
    }

    /// Whether the end without grace was asked for.
    pub fn is_killed(&self) -> bool {
        *self.level() == Level::Killed
    }

    /// Waits until it fires or `timeout` is over.
    pub fn wait(&self, timeout: Duration) -> CancelWait {
        let guard = self.level();
        let (level, _) = self
            .shared
            .changed
            .wait_timeout_while(guard, timeout, |level| *level == Level::Running)
            .unwrap_or_else(PoisonError::into_inner);
        if *level == Level::Running {
            CancelWait::TimedOut
        } else {
            CancelWait::Cancelled
        }
    }

    fn level(&self) -> std::sync::MutexGuard<'_, Level> {
        self.shared
            .level
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn raise(&self, to: Level) {
        let mut level = self.level();
        *level = (*level).max(to);
        self.shared.changed.notify_all();
    }
}
