//! What every part of [turnpipe](https://docs.rs/turnpipe) needs: untrusted text, JSON lines, messages, facts about
//! tools, and the clock, ids and streams that make two runs differ.

pub mod io;
pub mod json;
pub mod jsonl;
pub mod message;
pub mod process_table;
pub mod text;
pub mod tool_facts;

#[cfg(test)]
#[path = "../../../tests/skip/sample.rs"]
mod sample;
