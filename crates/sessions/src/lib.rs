//! The session files of coding agents: finding, reading, counting, searching, following, appending, archiving.
//!
//! A session is a conversation with an id, in one or more files of its agent. Nothing here calls a model or writes
//! texts for users.
//!
//! # List sessions with their totals
//!
//! [`discover`] finds files, [`Session::open`] detects which agent wrote one, and
//! [`Tally`] counts requests, each once, however many files repeat it.
//!
//! ```no_run
#![doc = include_str!("../examples/list_sessions.rs")]
//! ```
//!
//! # Read a session
//!
//! [`Session::messages`] joins the records of a file into messages. [`Scope`] selects the branch
//! that the agent would continue, or all of them.
//!
//! ```no_run
#![doc = include_str!("../examples/session_tokens.rs")]
//! ```
//!
//! # Other tasks
//!
//! | task | starts at |
//! |---|---|
//! | find one session by its id, name or place | [`find`] |
//! | list by time, directory or agent, quickly | [`list`](fn@list) |
//! | the calls of sessions with their results | [`visit_all_calls`] |
//! | the changes of files | [`Session::read_edits`] |
//! | follow a session while an agent writes it | [`Follower`] |
//! | append, without replacing what others wrote | [`durable`] |
//! | state that processes of a session share | [`state::StateRoot`] |

pub mod archiver;
mod calls;
mod count;
pub mod durable;
mod files;
mod follow;
mod list;
mod prices;
mod read;
pub mod record;
pub mod search;
pub mod state;

pub use calls::events::{CallEvent, MAX_WAITING, SessionCall, visit_all_calls};
pub use calls::seen_call::{CallCounts, SeenCall};
pub use count::costs::SubagentCost;
pub use count::stats::Tally;
pub use files::dirs::TRAJECTORY_ENDING;
pub use files::discover::subagent_id;
pub use files::discover::{
    Candidate, discover, discover_names, discover_paths, discover_with, find_subagent_candidates,
    find_subagents_beside, subagent_files,
};
pub use files::lines::{Line, Place};
pub use files::listed::{ListedSession, SessionFiles, Sessions};
pub use files::open::{Identity, SessionError, SessionFile, open_safely, open_to_follow};
pub use files::parallel::{count_processors, process_in_order};
pub use files::side_file::side_file_path;
pub use follow::file::Follower;
pub use follow::sessions::{
    FollowOptions, FollowOutput, FollowedSession, NewerSessions, PrintError, follow,
};
pub use list::activity::list_in_states;
pub use list::find::{FindError, find};
pub use list::in_use::has_agent;
pub use list::listing::{Depth, Failures, Listing, list};
pub use list::parts::split_ids;
pub use list::projects::Projects;
pub use list::selection::{Selection, is_in_period, shorten_ids};
pub use prices::Prices;
pub use read::check::SecretSearch;
pub use read::container::has_only_lines;
pub use read::description::describe_session;
pub use read::edits::{CallEdits, SessionEdits, UnknownEdit};
pub use read::gist::find_command;
pub use read::gist::{CONTENT, describe_call, describe_input, find_file_changes};
pub use read::gist::{find_patch, find_text_edits, format_full_input};
pub use read::limits::read_codex_limits;
pub use read::patch::format_patch;
pub use read::session::Session;
pub use read::tail::{find_last_records, read_last_messages};
pub use read::tree::Scope;
pub use turnpipe_formats::agent::{
    Agent, Change, CopiedHistory, Detail, Entry, Facts, Format, ManualTitle, NamedRoot, NamedRoots,
    Part, Root, RootKind, Shape, Title, TitleSource, hash_project, list_session_roots,
};
