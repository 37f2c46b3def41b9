//! Labels: summaries of batches of tool calls, in the form of a commit subject.

mod batches;
mod labeler;
mod question;
mod queue;
mod stream;

pub use labeler::{Label, Labeler};
pub use question::{CallsEnded, clean_label};
pub use question::{PROMPT, ShownCall, label_question, label_request};
#[cfg(test)]
pub(super) use question::{excerpt, shown};
pub use stream::{LabelSink, LabelStream, Placing, StreamEnd, Timing};
