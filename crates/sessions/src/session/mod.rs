//! Session files of coding agents: finding, reading, following, searching and checking them, appending
//! to them, and adding up their costs.
//!
//! The formats of the agents are in [`turnpipe_formats::agent`], texts for users in [`crate::view`]. This module calls no
//! models. All appending goes through `durable`.

pub mod archiver;
mod calls;
mod check;
mod compressed;
mod conversation;
mod copies;
mod costs;
mod description;
mod dirs;
mod discover;
mod distinct;
pub mod durable;
mod edits;
mod ends;
mod file_state;
mod find;
mod follow;
mod following;
mod gist;
mod in_use;
mod lines;
mod listed;
mod listing;
mod meter;
mod open;
mod origin;
mod parallel;
mod parts;
mod patch;
mod prices;
pub mod record;
mod recover;
mod running;
mod scratch_file;
pub mod search;
mod seen_call;
mod selection;
#[allow(clippy::module_inception, reason = "the file of the type Session")]
mod session;
mod side_file;
mod side_threads;
mod state;
mod stats;
mod tail;
mod tally_items;
mod title;
mod tree;
#[cfg(test)]
mod vectors_tests;
mod watch;

pub use calls::{CallEvent, MAX_WAITING, SessionCall, calls_of_all};
pub use check::SecretSearch;
pub use description::session_description;
pub use dirs::TRAJECTORY_ENDING;
pub use discover::subagent_id;
pub use discover::{
    Candidate, candidates_at, discover, discover_names, discover_with, subagent_candidates,
    subagent_files, subagents_beside,
};
pub use edits::{CallEdits, SessionEdits, UnknownEdit};
pub use find::{FindError, find};
pub use follow::Follower;
pub use following::{
    FollowOptions, FollowOutput, FollowedSession, NewerSessions, PrintError, follow,
};
pub use gist::{CONTENT, changed_files, gist, input_gist};
pub use gist::{input_in_full, patch_in, text_edits};
pub use in_use::has_agent;
pub use lines::{Line, Place};
pub use listed::{Listed, SessionFiles, Sessions};
pub use listing::{Depth, Failures, Listing, list};
pub use open::{Identity, SessionError, SessionFile, open_safely, open_to_follow};
pub use parallel::{each_in_order, processors};
pub use parts::ids_in;
pub use patch::patch;
pub use prices::Prices;
pub use seen_call::command_of;
pub use seen_call::{CallCounts, SeenCall};
pub use selection::{Selection, counts_in, short_ids};
pub use session::{Session, holds_only_lines};
pub use side_file::side_file_path;
pub use state::list_in_states;
pub use stats::Tally;
pub use tail::{last_messages, start_of_last_records};
pub use tree::Scope;
pub use turnpipe_formats::agent::{
    Agent, Change, CopiedHistory, Detail, Entry, Facts, Format, ManualTitle, NamedRoot, NamedRoots,
    Part, Root, Shape, Title, TitleSource, project_hash, session_roots,
};
