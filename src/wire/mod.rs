//! Records: what a line of any dialect means, and the records turnpipe writes.
//!
//! Reads every dialect, recognised line by line, and joins streamed deltas. Executes nothing and
//! reads no files. What a stage does about an event is not decided here.

mod agents;
mod anthropic;
mod api_messages;
mod api_results;
mod arguments;
mod balance;
mod contents;
mod decode;
mod deltas;
mod ending;
mod envelope;
mod event;
mod foreign;
mod gemini;
mod items;
mod made_ids;
mod needles;
mod openai;
mod reply;
mod shape;

pub use api_messages::ApiMessages;
pub use api_results::Answered;
pub use contents::{AssistantText, Contents, ResultBody, beginning_of_string, result_text};
pub use decode::{Decoded, Decoder, Dialect};
pub use event::{CutOff, Event, Opening, ToolCall, TurnEnd, Understanding};
pub use needles::{API_MESSAGE_NEEDLE, prefilter_needles};

#[cfg(test)]
mod fixtures_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod recorded_tests;
