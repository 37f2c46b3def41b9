//! Limits on results: saved files and their previews, the budget of a turn with stable replacements,
//! references to repeated results.

mod limits;
mod store;

pub use limits::{
    BudgetAction, BudgetCandidate, DEFAULT_LIMIT, SeenResults, TURN_BUDGET, ToolLimits, decide,
    decision_key,
};
pub use store::{
    MAX_REPLACEMENT, PersistedResult, empty_result, persist, stale_read_hint, tool_use_error,
};
