//! Which records are read, and in what order.

use super::lines::Place;

/// A record, or one item of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    /// Where it stands.
    pub(super) place: Place,
    /// Which of its items.
    pub(super) item: u32,
}

/// Which of the messages that repeat others are dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Echoed {
    /// Prompts stand elsewhere.
    pub(super) user: bool,
    /// Replies stand elsewhere.
    pub(super) assistant: bool,
    /// Compactions stand elsewhere.
    pub(super) system: bool,
}

/// Which records are read, and in what order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// The records; `None` is all of them in file order.
    pub(super) picks: Option<Vec<Pick>>,
    /// How many turns are left out.
    pub(super) left_out: u64,
    /// What is known of repeated messages.
    pub(super) echoed: Echoed,
}
