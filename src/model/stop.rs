//! Stops calls from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// Stops the calls that were made with it, and those that will be; clones share the state. A
/// stopped call closes its connection at once and returns [`super::Failure::Aborted`].
#[derive(Debug, Clone, Default)]
pub struct Stop {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    changed: Notify,
}

impl Stop {
    /// Stops.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.changed.notify_waiters();
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.load(Ordering::SeqCst)
    }

    /// Waits until it is stopped.
    pub async fn stopped(&self) {
        // Registered before looking, so that a stop between the two is not missed.
        let changed = self.shared.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        if !self.is_stopped() {
            changed.await;
        }
    }
}
