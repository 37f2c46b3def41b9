//! The `process` room against real children: how they start, what they see, how they end, and that
//! nothing of them is left.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![cfg(target_os = "linux")]

#[path = "process/bounds.rs"]
mod bounds;
#[path = "process/closed_streams.rs"]
mod closed_streams;
#[path = "process/endings.rs"]
mod endings;
#[path = "process/lane.rs"]
mod lane;
#[path = "process/leftovers.rs"]
mod leftovers;
#[path = "process/no_process_left.rs"]
mod no_process_left;
#[path = "skip/mod.rs"]
mod skip;
#[path = "process/starting.rs"]
mod starting;
#[path = "process/support.rs"]
mod support;
