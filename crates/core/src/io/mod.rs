//! Streams, terminal facts, clock, ids, environment, and paths that differ by process.
//!
//! Everything that makes two runs differ is injected through [`Io`], so that tests can fix it.

mod cancel;
mod clock;
mod files;
mod git_directory;
mod ids;
mod messages;
mod process_io;
mod remove_tree;
mod screen;
mod streams;
mod temporary;
mod terminal;

pub use cancel::{CancelToken, Level, Lock};
pub use clock::{Clock, FixedClock, SystemClock, to_millis};
pub use files::{UNFINISHED, open_regular, read_regular, replace_below};
pub use git_directory::{GitDirectory, read_git_file};
pub use ids::{Ids, RandomIds, SeededIds};
pub use messages::{MessageLevel, Messages};
pub use process_io::{StdoutAtStart, UnusableVariable, columns, is_per_process_path, is_procfs};
pub use remove_tree::remove_tree;
pub use screen::{Footer, OpenQuestion, Screen, ScreenWriter};
pub use streams::{
    Environment, InputStream, Io, Moment, OutputStream, TerminalFacts, TerminalRecords,
    retry_interrupted,
};
pub use temporary::{create_temporary, unwritable_error};
pub use terminal::{
    DISABLE_FOCUS_REPORTS, ENABLE_FOCUS_REPORTS, FocusTerminal, TerminalInput, open_terminal,
    read_typed,
};
