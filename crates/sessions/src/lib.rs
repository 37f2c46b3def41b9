//! The session files of coding agents: finding, reading, counting, searching, following, appending, archiving.
//!
//! A session is a conversation with an id, in one or more files of its agent. Nothing here calls a model or writes
//! texts for users.
//!
//! # List sessions with their totals
//!
//! [`session::discover`] finds files, [`session::Session::open`] detects which agent wrote one, and
//! [`session::Tally`] counts requests, each once, however many files repeat it.
//!
//! ```no_run
#![doc = include_str!("../examples/list_sessions.rs")]
//! ```
//!
//! # Read a session
//!
//! [`session::Session::messages`] joins the records of a file into messages. [`session::Scope`] selects the branch
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
//! | find one session by its id, name or place | [`session::find`] |
//! | list by time, directory or agent, quickly | [`session::list`] |
//! | the calls of sessions with their results | [`session::calls_of_all`] |
//! | the changes of files | [`session::Session::edits`] |
//! | follow a session while an agent writes it | [`session::Follower`] |
//! | append, without replacing what others wrote | [`session::durable`] |
//! | state that processes of a session share | [`state::StateRoot`] |

pub mod session;
pub mod state;
