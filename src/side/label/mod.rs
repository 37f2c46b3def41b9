//! Labels: summaries of batches of tool calls, in the form of a commit subject.

mod batches;
mod labeler;
mod question;
mod queue;
mod stream;

pub use labeler::{Label, Labeler};
pub use question::{CallsEnded, PROMPT, ShownCall, clean_label, label_question, label_request};
#[cfg(test)]
pub(super) use question::{excerpt, shown};
pub use stream::{LabelSink, LabelStream, Placing, StreamEnd, Timing};
