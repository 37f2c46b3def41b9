//! When records are written, and under which ids.

use std::sync::Arc;

use crate::io::{Clock, Ids, Io};

/// The source of timestamps and ids.
#[derive(Clone)]
pub struct Moment {
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub ids: Arc<dyn Ids>,
}

impl Moment {
    /// The source of a run.
    pub fn of(io: &Io) -> Self {
        Self {
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
        }
    }

    /// The current time, RFC 3339.
    pub fn now(&self) -> String {
        format!("{:.3}", self.clock.now())
    }

    /// A new id.
    pub fn uuid(&self) -> String {
        self.ids.uuid().to_string()
    }
}
