//! Labels by rules. A call becomes acts, or the name of what failed; the acts of a batch are grouped by their verbs
//! and composed into one line. A label says less rather than something that the results do not show.

mod act;
mod call;
mod compose;
mod line;
mod program;
mod status;
mod tools;

pub use call::{FinishedCall, is_lookup, max_result_bytes};
pub use compose::write_label;
pub(crate) use compose::{label_answered_calls, label_group};

#[cfg(test)]
mod tests;
