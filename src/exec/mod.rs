//! Orchestration: which call runs when (`schedule`), one call from look-up to result
//! (`lifecycle`), events in and records out (`runner`).
//!
//! Knows nothing of flags; `cmd` turns them into [`Options`].

mod schedule;

pub use schedule::{CallIndex, Policy, Schedule};
