//! The command line: one file per subcommand, each an arguments struct whose doc comments are the
//! help, and a `run`.
//!
//! No rules live here. A command reads its input, asks the room that knows, writes records and says
//! how it ended.

mod check;
mod check_input;
mod check_line;
mod check_shell;
mod check_text;
mod cli;
mod color;
mod completions;
mod error;
mod lane_arguments;
mod line_reader;
mod man;
mod model_arguments;
mod model_call;
mod outcome;
mod output;
mod progress_line;
mod recap;
mod recap_watch;
mod run;
mod run_tools;
mod schema;
mod session;
mod session_append;
mod session_check;
mod session_filter;
mod session_hits;
mod session_list;
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
mod side_bodies;
mod side_progress;
mod side_stop;
mod state;
mod summarize_batch;
mod times;
mod title;
mod title_sources;
mod tool_registry;
mod tools;
mod usage;

use cli::Globals;
use error::UsageError;
pub use outcome::Outcome;
pub use run::run;
