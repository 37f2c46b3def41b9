//! Labels, titles and recaps by rules, without a model: the same input gives the same text.
//!
//! Texts only claim what the results show. A text is empty if there is nothing to report.

mod clean;
mod cut;
mod label;
mod names;
mod prompt;
mod prose;
mod quotation;
mod recap;
mod request;
mod title;

pub(crate) use label::group_label;
pub use label::{FinishedCall, is_look, label, needed_of_result};
pub use recap::{last_report, recap, recap_below};
pub use title::{title, topic};
