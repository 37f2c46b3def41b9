//! Coding agents, one file or folder each: how to recognise and read their session files, where the
//! files are, how sessions are named and resumed, and which records turnpipe may add to them.
//!
//! Nothing outside of this module knows the fields or paths of an agent's files. To add an agent, add
//! a file with its [`Format`], a variant of [`Agent`] and a row in `table.rs`.

#[allow(clippy::module_inception, reason = "the file of the type Agent")]
mod agent;
mod claude;
mod codex;
mod content;
mod detect;
mod exit_code;
mod facts;
mod format;
mod gemini;
mod gemini_content;
mod own;
mod pi;
mod qwen;
mod table;
mod title;

pub use agent::Agent;
pub use claude::own_record;
pub(crate) use content::is_in;
pub use exit_code::exit_code;
pub use facts::{Facts, History, project_hash};
pub use format::{
    Change, Detail, Entry, Format, LineClass, Meter, NameIndex, NewRecord, Part, Shape, SideCost,
    TitleStore,
};
pub use table::{Root, agent_of, document, own_format, session_roots};
pub use title::{ManualTitle, Precedence, Title, TitleRecord, TitleSearch, TitleSource};
