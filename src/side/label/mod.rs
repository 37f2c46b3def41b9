//! Labels: what a batch of tool calls did, in the form of a commit subject.

mod clean;
mod excerpt;
mod number;
mod prompt;

pub use clean::clean_label;
pub use excerpt::excerpt;
pub use prompt::{FinishedCall, intent, label_question, label_request, shown};
