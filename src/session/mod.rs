//! Session files of coding agents: finding them, telling formats apart, reading from either end,
//! following, checking.
//!
//! Formats turn records into messages of [`crate::dialog`]; how those look is not known here. No
//! models are called. What is appended to a file goes through `durable`.

mod agent;
mod archive;
mod beside;
mod check;
mod claude;
mod claude_content;
mod codex;
mod codex_index;
mod codex_item;
mod detect;
mod discover;
pub mod durable;
mod each;
mod envelope;
mod facts;
mod find;
mod folders;
mod follow;
mod format;
mod gemini;
mod gemini_parts;
mod head;
mod lines;
mod listing;
mod listing_text;
mod node;
mod open;
mod pi;
mod plan;
mod project;
mod quick;
mod qwen;
pub mod record;
mod recover;
mod replay;
pub mod search;
mod side_cost;
mod stats;
mod summaries;
mod tail;
mod title;
mod title_rule;
mod transcript;
mod tree;
#[cfg(test)]
mod vectors_tests;
mod watch;

pub use agent::Agent;
pub use check::{Finding, Report};
pub use discover::{
    Candidate, Found, Root, discover, discover_names, discover_with, subagent_files,
    subagent_folder,
};
pub use envelope::Envelope;
pub use facts::{Counts, Facts, History};
pub use find::{FindError, LATEST, find};
pub use follow::{Follower, Lines, Seen};
pub use format::{Format, Precedence, Shape, TitleSearch};
pub use lines::{Line, Place, for_each_line};
pub use listing::{Depth, Filter, Listed, Listing, Sessions, list};
pub use listing_text::{Texts, WriteListed, list_as_text};
pub use node::{Key, Node, Part};
pub use open::{Identity, OpenError, SessionFile, open_safely};
pub use project::project_hash;
pub use stats::{Share, Stats, ToolCalls};
pub use tail::{BackwardMessages, MessageLines, last_messages, records_on, start_of_last};
pub use title::{Title, TitleSource, find_title};
pub use title_rule::{Standing, TitleRecord};
pub use transcript::{Scope, Session, SessionError, holds_only_lines};
pub use watch::{Watch, Woken};
