//! The options and dependencies of a run, its progress, and its end.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::schedule::Policy;
use super::trace::Trace;
use crate::api::Api;
use crate::assemble::Understanding;
use crate::io::{Clock, Ids, Messages};
use crate::jsonl::UnwantedLines;
use crate::message::SessionId;
use crate::records::Lane;
use crate::state::SessionScope;

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Run calls or only plan them.
    pub mode: Mode,
    /// Conflict granularity of the schedule.
    pub policy: Policy,
    /// Most calls that run at once.
    pub cap: NonZeroUsize,
    /// The effect of a failed call on its siblings.
    pub on_error: OnError,
    /// When to write results.
    pub emit: Emit,
    /// Whether to copy the input.
    pub echo: Echo,
    /// Write the messages of the next request to this API and no records: the model's reply instead of a
    /// copy of the input, and the results of each turn.
    pub results: Option<Api>,
    /// Whether to warn of the first denied call.
    pub mentions_denial: bool,
    /// Whether to run the calls of recordings.
    pub history: HistoryPolicy,
    /// Whether to replace repeated results with a reference.
    pub dedup: Dedup,
    /// The time limit of the whole run.
    pub timeout: Option<Duration>,
    /// The id of the session, if it was given.
    pub session_id: Option<SessionId>,
    /// The id of the session if neither `session_id` nor the stream gives one; set if there is a session
    /// file.
    pub file_id: Option<SessionId>,
    /// The session file, or else the directory in which the run starts.
    pub session_scope: SessionScope,
    /// The first working directory of shell calls.
    pub start_directory: StartDirectory,
    /// Prefix of the ids of calls that have none. It differs between the runs of a session.
    pub call_ids: String,
    /// Whether to check lines without calls and results.
    pub unwanted: UnwantedLines,
}

/// Receives each record of the conversation.
pub type Listener = Box<dyn FnMut(&str)>;

/// The dependencies of a run.
pub struct Dependencies<Sink: Write> {
    /// Receives the records.
    pub sink: Sink,
    /// Messages to the user.
    pub messages: Messages,
    /// Times in records.
    pub clock: Arc<dyn Clock>,
    /// Ids in records.
    pub ids: Arc<dyn Ids>,
    /// Shows the progress.
    pub observer: Box<dyn Observer>,
    /// Receives the trace.
    pub trace: Option<Trace>,
    /// Receives the conversation: the records of the input, and at the end of each turn its results.
    pub listener: Option<Listener>,
}

/// Run or plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// Run the calls.
    #[default]
    Execute,
    /// Write the batches that would run.
    Plan,
}

/// The first working directory of shell calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartDirectory {
    /// The last working directory of the session's previous run, if there is one.
    #[default]
    Kept,
    /// The directory of the context, which the user named.
    Given,
}

/// The effect of a failed call on its siblings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum OnError {
    /// A failed shell command that is not read-only cancels the shell commands of its turn.
    #[default]
    CancelShell,
    /// None.
    Continue,
    /// A failed call cancels all other calls of its turn.
    CancelAll,
}

/// When to write results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Emit {
    /// Each result as soon as the results before it are written.
    #[default]
    Result,
    /// All results at the end of the turn, within the turn's budget.
    Turn,
}

/// Whether to copy the input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Echo {
    /// Copy every line, byte for byte.
    #[default]
    Everything,
    /// Write own records only.
    OwnRecords,
}

/// Whether to run the calls of recordings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HistoryPolicy {
    /// Do not run them.
    #[default]
    Respect,
    /// Run those without a result (`--execute`).
    Execute,
}

/// Whether to replace repeated results with a reference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Dedup {
    /// Repeat them.
    #[default]
    Off,
    /// Replace them.
    On,
}

/// The progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Number of calls started so far.
    pub started: u64,
    /// Number of calls whose result is not written.
    pub open: usize,
    /// The calls that are running or being checked, in call order.
    pub running: Vec<RunningCall<'a>>,
}

/// A call that is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningCall<'a> {
    /// Its position in call order.
    pub number: u64,
    /// Its lane.
    pub lane: Lane,
    /// A short description, such as `Bash(npm test)`.
    pub label: &'a str,
    /// The time since it started.
    pub elapsed: Duration,
}

/// Shows the progress of a run.
pub trait Observer: Send {
    /// A call has started or ended.
    fn changed(&mut self, progress: &Progress<'_>);
    /// The run is over.
    fn finished(&mut self);
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// The cause of the end.
    pub cause: EndCause,
    /// Calls with an error as their result.
    pub failed_calls: u64,
    /// Unusable lines of the input.
    pub damaged_lines: u64,
    /// How much of the input was understood.
    pub understanding: Understanding,
}

/// The cause of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndCause {
    /// The input ended and every call has its result.
    EndOfInput,
    /// The run reached its time limit.
    TimeUp,
    /// An interrupt (Ctrl-C).
    Interrupted,
    /// A request to terminate.
    Terminated,
    /// The reader of the output is gone.
    OutputGone,
    /// The output could not be written.
    OutputFailed(String),
    /// The input could not be read.
    InputFailed(String),
}
