//! What a run is asked to do.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::{HistoryPolicy, Policy};
use crate::api::Api;
use crate::assemble::Understanding;
use crate::jsonl::UnwantedLines;
use crate::message::SessionId;
use crate::state::SessionScope;

/// Everything about a run that is decided before it starts.
#[derive(Debug, Clone)]
pub struct Options {
    /// Run the calls, or only say in which batches they would run.
    pub mode: Mode,
    /// How the scheduler compares calls.
    pub policy: Policy,
    /// How many calls run at once.
    pub cap: NonZeroUsize,
    /// What a failing call does to its siblings.
    pub on_error: OnError,
    /// When results go out.
    pub emit: Emit,
    /// Whether input lines are copied.
    pub echo: Echo,
    /// Write what the next request of this API takes, and nothing else: what the model said instead of
    /// a copy of the input, and the results of each turn.
    pub results: Option<Api>,
    /// What to do about history.
    pub history: HistoryPolicy,
    /// Whether repeated results are replaced by a reference.
    pub dedup: Dedup,
    /// The longest the whole run may take.
    pub timeout: Option<Duration>,
    /// The session's id, if it was given.
    pub session_id: Option<SessionId>,
    /// The id for a stream that names none, if there is a session file.
    pub file_id: Option<SessionId>,
    /// The session file, or else the directory in which the run starts.
    pub session_scope: SessionScope,
    /// Where shell calls start.
    pub start_directory: StartDirectory,
    /// How the ids begin of calls that come without one: not as in any other run of the session.
    pub call_ids: String,
    /// What happens to lines that hold no call and no result.
    pub unwanted: UnwantedLines,
    /// Whether to report the first call that is denied.
    pub mentions_denial: bool,
}

/// Run, or only plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Calls run.
    #[default]
    Execute,
    /// Nothing runs; batches are printed.
    Plan,
}

/// Where the shell calls of a run start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartDirectory {
    /// Where the last process of the session ended, if there was one.
    #[default]
    Kept,
    /// In the context's directory, which the user named.
    Given,
}

/// What a failing call does to its siblings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum OnError {
    /// A failing shell command that is not read-only cancels the shell commands of its turn.
    #[default]
    CancelShell,
    /// Nothing.
    Continue,
    /// Any failing call cancels all others of its turn.
    CancelAll,
}

/// When results go out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Emit {
    /// Each as soon as its turn in call order comes.
    #[default]
    Result,
    /// All at the turn's end, within the turn's budget.
    Turn,
}

/// Whether input lines are copied to the output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Echo {
    /// Every line, byte for byte.
    #[default]
    Everything,
    /// Own records only.
    OwnRecords,
}

/// Whether repeated results are replaced by a reference to the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dedup {
    /// They are repeated.
    #[default]
    Off,
    /// They are replaced.
    On,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// Why it ended.
    pub cause: EndCause,
    /// How many calls did not end well.
    pub failed_calls: u64,
    /// How many lines of the input were unusable.
    pub damaged_lines: u64,
    /// How much of the input was understood.
    pub understanding: Understanding,
}

/// Why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndCause {
    /// The input ended and every call has its result.
    EndOfInput,
    /// The run's time was up.
    TimeUp,
    /// An interrupt (Ctrl-C).
    Interrupted,
    /// A request to terminate.
    Terminated,
    /// The reader of our output went away.
    OutputGone,
    /// The output could not be written.
    OutputFailed(String),
    /// The input could not be read.
    InputFailed(String),
}
