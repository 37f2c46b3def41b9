//! Labels: what a batch of tool calls did, in the form of a commit subject.

mod clean;
mod prompt;

pub use clean::{CallsEnded, clean_label};
pub use prompt::{FinishedCall, excerpt, intent, label_question, label_request, shown};
