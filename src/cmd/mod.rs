//! The command line: one file per subcommand, each an arguments struct whose doc comments are the
//! help, and a `run`.
//!
//! No rules live here. A command reads its input, calls the room whose rules apply, writes records
//! and returns how it ended.

mod advisor_arguments;
mod call_decisions;
mod check_input;
mod check_line;
mod check_permission;
mod check_shell;
mod check_text;
mod cli;
mod command;
mod completions;
mod conversation;
mod cost_table;
mod doctor;
mod error;
mod globals;
mod guards;
mod hook;
mod inputs;
mod label_printer;
mod lane_arguments;
mod line_reader;
mod man;
mod mcp_arguments;
mod model_arguments;
mod model_failures;
mod outcome;
mod output;
mod per_session;
mod permission_arguments;
mod permission_prompt;
mod progress;
mod recap;
mod recap_watch;
mod run;
mod run_tools;
mod schema;
mod session_append;
mod session_check;
mod session_export;
mod session_hits;
mod session_list;
mod session_names;
mod session_path;
mod session_printer;
mod session_range;
mod session_rename;
mod session_search;
mod session_show;
mod session_source;
mod session_stats;
mod session_table;
mod session_tail;
mod session_tail_follow;
mod session_tail_printer;
mod side_arguments;
mod state_clean;
mod statusline;
mod stop_watch;
mod summarize_batch;
mod table;
mod times;
mod title;
mod tools;
mod turn;
mod turn_conversation;
mod turn_reply;
mod turn_stop;
mod usage;

use error::UsageError;
use globals::Globals;
pub use outcome::Outcome;
pub use run::{exit_status, run};
