//! Joins deltas into blocks and records into messages, and decides which call is which.
//!
//! Reads records of every API and agent, and recognises each line by itself. Executes nothing and reads no files.

mod blocks;
mod decoder;
mod dialog_stream;
mod draft;
mod event;
mod fragments;
mod generated_ids;
mod identity;
mod joiner;
mod messages;
mod verbatim_reply;

pub use blocks::{BlockBuilder, Output};
pub use decoder::{Decoded, Decoder, Source};
pub use dialog_stream::{CopyError, DialogStream};
pub use draft::ReplyPart;
pub use draft::{Draft, DraftedCall, FinishedDraft};
pub use event::{Event, ToolCall, TurnEnd, Understanding};
pub use fragments::split_think_tags;
pub use generated_ids::make_unique_id;
pub use messages::MessageReader;
pub use verbatim_reply::VerbatimReply;

#[cfg(test)]
mod fixtures_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod recorded_tests;
