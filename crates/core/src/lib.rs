//! The foundations of turnpipe's other crates.
//!
//! | module | contains |
//! |---|---|
//! | [`text`] | untrusted text: terminal-safe output, redaction of secrets, display width |
//! | [`io`] | streams, terminal, clock, ids and environment, injected so that tests can fix them |
//! | [`json`] | lenient access to the members of JSON objects |
//! | [`jsonl`] | the bounded, lossless reader of lines, and the writer of records |
//! | [`message`] | messages, blocks, calls, results, token counts, decisions |
//! | [`tool_facts`] | the tools of all agents: names, effects, parameters |
//! | [`process_table`] | the processes in `/proc` |

pub mod io;
pub mod json;
pub mod jsonl;
pub mod message;
#[cfg(target_os = "linux")]
pub mod process_table;
pub mod text;
pub mod tool_facts;

#[cfg(test)]
#[path = "../../../tests/skip/sample.rs"]
mod sample;
