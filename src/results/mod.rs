//! What becomes of a tool's output: limits, previews, persistence, the per-turn budget with stable
//! replacements, deduplication, stale-read hints, padding.
//!
//! Executes nothing; the rules are pure, the store writes files.

mod budget;
mod dedup;
mod limit;
mod preview;
mod stale;
mod store;
mod text;

pub use budget::{Action, Candidate, TURN_BUDGET, decide, decision_key};
pub use dedup::Seen;
pub use limit::{DEFAULT_LIMIT, ToolLimits};
pub use stale::stale_read_hint;
pub use store::{LONGEST_STAND_IN, Persisted, persist};
pub use text::{empty_result, tool_use_error};
