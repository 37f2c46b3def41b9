//! Session files of coding agents: finding them, detecting formats, reading from either end,
//! following and checking them.
//!
//! Formats convert records to messages of [`crate::dialog`]. This module formats nothing for
//! display and calls no models. All appending goes through `durable`.

mod agent;
mod archive;
mod check;
mod claude;
mod claude_glance;
mod codex;
mod codex_index;
mod codex_item;
mod content;
mod conversation;
mod costs;
mod counts;
mod detect;
mod discover;
mod distinct;
pub mod durable;
mod each;
mod ends;
mod export;
mod facts;
mod find;
mod folders;
mod follow;
mod format;
mod gemini;
mod lines;
mod listing;
mod open;
mod opened;
mod pi;
mod prices;
mod project;
mod qwen;
pub mod record;
mod recover;
pub mod search;
mod side_file;
mod stats;
mod tail;
mod title;
mod tree;
#[cfg(test)]
mod vectors_tests;
mod watch;

pub use agent::Agent;
pub use discover::{
    Candidate, Found, Root, discover, discover_names, discover_with, subagent_files,
    subagent_folder, subagents_beside,
};
pub use export::{ExportError, ExportFolder};
pub use facts::{Facts, History};
pub use find::{FindError, LATEST, find, ids_in};
pub use follow::{Follower, Seen};
pub use format::{Change, Detail, Entry, Format, Part, Precedence, Shape, SideCost, TitleSearch};
pub use lines::{Line, Place, for_each_line};
pub use listing::{
    Depth, Filter, Listed, Listing, Sessions, Texts, WriteListed, list, list_as_text,
};
pub use open::{Identity, SessionError, SessionFile, open_safely};
pub use opened::{Session, holds_only_lines};
pub use prices::Prices;
pub use project::project_hash;
pub use stats::Tally;
pub use tail::{BackwardMessages, MessageLines, last_messages, records_on, start_of_last};
pub use title::{ManualTitle, Title, TitleRecord, TitleSource, find_title};
pub use tree::Scope;
pub use watch::{WakeReason, Watch};
