//! Coding agents, one file each or a few: how to recognise and read their session files, where the
//! files are, how sessions are named and resumed, and which records turnpipe may add to them.
//!
//! Only this module knows the fields or paths of an agent's files. To add an agent, add
//! a file with its [`Format`], a variant of [`Agent`] and a row in `table.rs`.

#[allow(clippy::module_inception, reason = "the file of the type Agent")]
mod agent;
mod atif;
mod atif_lines;
mod claude;
mod claude_lines;
mod codex;
mod codex_names;
mod codex_stream;
mod content;
mod copilot;
mod cursor;
mod droid;
mod edits;
mod entry_reader;
mod facts;
mod format;
mod gemini;
mod hunks;
mod opencode;
mod opencode_database;
pub mod own_record;
mod pi;
mod qwen;
mod sign;
mod sqlite;
mod stream;
mod table;
mod unread;

pub use agent::{Agent, serves_sessions};
pub(crate) use atif_lines::{TrajectoryLines, may_be_trajectory};
pub(crate) use content::is_in;
pub use content::{COMPRESSED, ShellOutput, exit_code, session_stem, shell_output};
pub use edits::{EditKind, FileEdit, added, edit_shown_in, edits_in, text_read_in};
pub use entry_reader::EntryReader;
pub(crate) use entry_reader::{StreamReader, StreamRow};
pub use facts::{
    CopiedHistory, Facts, ManualTitle, Precedence, StoredTitle, Title, TitleSource, project_hash,
};
pub use format::{
    Change, Detail, Entry, Format, HookSettings, LineClass, Meter, NameIndex, NewRecord, Part,
    ReportedEnd, SettingsSyntax, Shape, SideCost, TitleStore,
};
pub use hunks::{Hunk, parse_hunks, unified, written_hunks};
pub(crate) use opencode_database::{
    DATABASE_EXTENSION, QueryExtent, StoredSession, stored_rows, stored_sessions,
};
pub use sign::Opening;
pub(crate) use sign::{PI_FILE, Sign, sign};
pub(crate) use sqlite::DatabaseWatch;
pub use stream::StreamItem;
pub use table::{
    Root, document, format_of, is_of, named_format, own_format, session_roots, trajectory_format,
};
pub use unread::{NamedRoot, fork_at, fork_names, refusal, refusal_at, set_named_roots};

#[cfg(test)]
mod stream_tests;
