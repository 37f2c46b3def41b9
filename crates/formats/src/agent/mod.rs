//! Coding agents, one file each or a few: how to recognise and read their session files, where the
//! files are, how sessions are named and resumed, and which records turnpipe may add to them.
//!
//! No other module contains fields or paths of an agent's files. `docs/adding-an-agent.md` adds one step by step.

#[allow(clippy::module_inception, reason = "the file of the type Agent")]
mod agent;
mod atif;
mod atif_lines;
mod claude;
mod claude_edits;
mod claude_lines;
mod codex;
mod codex_item;
mod codex_names;
mod codex_stream;
mod content;
mod copilot;
mod counting;
mod cursor;
mod database;
mod droid;
mod edits;
mod entry;
mod entry_reader;
mod exit_code;
mod facts;
mod format;
mod gemini;
mod gemini_edits;
mod goose;
mod goose_database;
mod hook_settings;
mod kimi;
mod layout;
mod named_roots;
mod opencode;
mod opencode_database;
mod opencode_edits;
pub mod own_record;
mod patch_text;
mod pi;
mod plan_limits;
mod program;
mod qwen;
mod reading;
mod shell_end;
mod sign;
mod sqlite;
mod stream_conversation;
mod stream_formats;
mod table;
mod title;
mod title_format;
mod turnpipe;
mod unread;

pub use agent::Agent;
pub use atif_lines::{TrajectoryLines, may_be_trajectory};
pub use content::is_in;
pub use content::{COMPRESSED, session_stem, timestamp};
pub use counting::{IdScope, Meter, Repeats, SideCost, TokenSource};
pub use database::{
    DATABASE_EXTENSION, DatabaseFormat, DatabaseWatch, ReadExtent, SessionDatabase, StoredSession,
};
pub use edits::{EditKind, FileEdit, Hunk, diff_texts, format_hunks, new_file, parse_hunks};
pub use entry::{Change, Entry, LoggedRow, Part, Summary};
pub use entry_reader::EntryReader;
pub(crate) use entry_reader::{StreamReader, StreamRow};
pub use exit_code::{parse_exit_code, parse_shell_output};
pub use facts::{CopiedHistory, Facts, SubagentFacts, hash_project};
pub use format::Format;
pub use gemini::is_subagent_dir;
pub use hook_settings::{HookSettings, HookShell, SettingsSyntax};
pub use layout::{SubagentFiles, Subagents};
pub use named_roots::{Home, NamedRoot, NamedRoots, RootKind};
pub use patch_text::{apply_hunks, find_foreign_line, parse_patch};
pub use plan_limits::parse_plan_limits;
pub use program::is_session_server;
pub use reading::{Detail, LineClass, Reading, Shape};
pub use shell_end::{has_failed, is_running, is_stopped_at_limit};
pub use sign::{Opening, Sign};
pub(crate) use sign::{PI_FILE, detect_sign};
pub use stream_conversation::StreamItem;
pub use table::{
    Root, detect_format, find_subagent_id, has_permission_settings, is_among_subagents,
    is_record_of, is_subagent_file, list_session_roots, open_database, own_format, read_document,
    trajectory_format,
};
pub use title::{ManualTitle, Precedence, StoredTitle, Title, TitleSource};
pub use title_format::{NameIndex, NewRecord, TitleFormat, TitleStore};
pub use unread::{find_refusal, find_refusal_at};

#[cfg(test)]
mod stream_conversation_tests;
