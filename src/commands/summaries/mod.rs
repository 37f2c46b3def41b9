//! Commands that write labels, titles and recaps.

pub(crate) mod per_session;
pub(crate) mod recap;
mod recap_period;
pub(crate) mod summarize_batch;
pub(crate) mod title;
