//! Labels, titles and recaps by rules: no model, no network, the same answer every time.
//!
//! Nothing is claimed that the results do not show. Where there is nothing to say, the answer is
//! empty.

mod clean;
mod command;
mod label;
mod names;
mod prose;
mod recap;
mod title;
mod word_list;

pub use label::{FinishedCall, is_look, label, needed_of_result};
pub use recap::recap;
pub use title::title;

/// What records name as the model.
pub const MODEL: &str = "builtin";
