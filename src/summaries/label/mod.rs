//! Labels: summaries of batches of tool calls, in the form of a commit subject.

mod batch;
mod batches;
mod clean;
mod labeler;
mod patience;
mod question;
mod queue;
mod recorded;
mod stream;

pub use clean::{CallsEnded, clean_label};
pub use labeler::{Label, LabelSource, Labeler};
pub use question::{PROMPT, ShownCall, label_question, label_request};
#[cfg(test)]
pub(super) use question::{excerpt, json_excerpt};
pub use recorded::RecordedLabels;
pub use stream::{LabelSink, LabelStream, Placing, StreamEnd, Timing};
