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
mod words;

pub(crate) use label::label_group;
pub use label::{FinishedCall, is_lookup, max_result_bytes, write_label};
pub use recap::{write_last_report, write_recap, write_recap_below};
pub use title::{quote_topic, write_title};
