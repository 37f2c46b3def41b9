//! Tokens, calls and costs.

pub(crate) mod copies;
pub(crate) mod costs;
pub(crate) mod meter;
pub(crate) mod stats;
pub(crate) mod subagents;
pub(crate) mod tally_items;
