//! The services beside the main conversation: labels for finished batches of calls, titles and
//! recaps of sessions, verdicts about calls, advice.
//!
//! Rules only: the requests, the cleaning of answers, and when to ask. Nothing here reads or writes
//! session files, calls a model or prints.

pub mod advice;
pub mod builtin;
mod emission;
pub mod judge;
pub mod label;
mod language;
pub mod prompts;
pub mod recap;
mod rejection;
mod spoken;
pub mod title;
#[cfg(test)]
mod vectors_tests;

pub use emission::{labels_are_wanted, says_yes};
pub use language::{Language, LanguageChoice, dominant_language};
pub use spoken::{Said, Spoken};
