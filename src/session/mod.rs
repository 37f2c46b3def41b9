//! Session files of coding agents: finding, reading, following, searching and checking them, appending
//! to them, and adding up their costs.
//!
//! The formats of the agents are in [`crate::agent`], texts for users in [`crate::view`]. This module calls no
//! models. All appending goes through `durable`.

pub mod archiver;
mod calls;
mod check;
mod compressed;
mod conversation;
mod copies;
mod costs;
mod description;
mod diff;
mod dirs;
mod discover;
mod distinct;
pub mod durable;
mod ends;
mod export;
mod export_plan;
mod file_state;
mod find;
mod follow;
mod following;
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
mod trajectories;
mod tree;
#[cfg(test)]
mod vectors_tests;
mod watch;

pub use crate::agent::{
    Agent, Change, CopiedHistory, Detail, Entry, Facts, Format, ManualTitle, NamedRoot, NamedRoots,
    Part, Root, Shape, SideCost, StoredTitle, Title, TitleSource, project_hash, session_roots,
};
pub use calls::{CallEvent, ResultFacts, SessionCall, calls_of_all};
pub use check::SecretSearch;
pub use conversation::ConversationReader;
pub use description::session_description;
pub(crate) use description::{dialog_facts, is_shown, omission_text, print_dialog, status_line};
pub use diff::{CallEdits, SessionEdits, UnknownEdit};
pub use dirs::TRAJECTORY_ENDING;
pub use discover::{
    Candidate, candidates_at, discover, discover_names, discover_with, subagent_candidates,
    subagent_files, subagents_beside,
};
pub use export::{ExportError, ExportFolder, is_export_list};
pub use export_plan::{ExportPlan, OutdatedPage, subagents_of, words_of_pages};
pub use find::{FindError, LATEST, find};
pub use follow::Follower;
pub use following::{
    FollowOptions, FollowOutput, FollowedSession, NewerSessions, PrintError, follow,
};
pub use in_use::{SessionUsers, has_agent};
pub use lines::{Line, Place, for_each_line};
pub use listed::{InferredState, Listed, OtherFile, SessionFiles, Sessions};
pub use listing::{Depth, Failures, Listing, list};
pub use open::{Identity, SessionError, SessionFile, open_safely, open_to_follow};
pub use parallel::{each_in_order, processors};
pub use parts::ids_in;
pub use patch::patch;
pub use prices::Prices;
pub use seen_call::{CallCounts, SeenCall};
pub use selection::{Selection, counts_in, short_ids};
pub use session::{Session, holds_only_lines};
pub use state::list_in_states;
pub use stats::Tally;
pub use tail::{last_messages, start_of_last_records};
pub use title::find_title;
pub use trajectories::{Trajectories, TrajectoryError};
pub use tree::Scope;
