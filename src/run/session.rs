//! The session of a run: its options, the context of its calls, and its state on disk.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::call::ReadyCall;
use super::schedule::Policy;
use super::trace::Trace;
use crate::api::Api;
use crate::assemble::Understanding;
use crate::io::{Clock, Ids, Messages};
use crate::jsonl::{RecordWriter, UnwantedLines};
use crate::message::SessionId;
use crate::records::Lane;
use crate::run::results::SeenResults;
use crate::run::tools::{ContextChange, ToolContext};
use crate::state::{
    ReadLog, SessionDirectory, SessionKey, SessionScope, SessionState, StateError, StateRoot,
};

pub(super) struct RunSession {
    pub(super) context: Arc<ToolContext>,
    pub(super) key: SessionKey,
    /// Whether the session has a given id, so that a later process can use it.
    has_name: bool,
    start_directory: StartDirectory,
    pub(super) seen: SeenResults,
    /// The texts that replace earlier results, by `decision_key`; `None` for a result that is kept.
    pub(super) replacements: std::collections::BTreeMap<String, Option<String>>,
    root: StateRoot,
    state_directory: Option<SessionDirectory>,
    has_unsaved_changes: bool,
}

impl RunSession {
    pub(super) fn new(
        context: ToolContext,
        key: SessionKey,
        has_name: bool,
        start_directory: StartDirectory,
        root: StateRoot,
    ) -> Self {
        Self {
            context: Arc::new(context),
            key,
            has_name,
            start_directory,
            seen: SeenResults::default(),
            replacements: std::collections::BTreeMap::new(),
            root,
            state_directory: None,
            has_unsaved_changes: false,
        }
    }

    /// Whether a later process can use the session.
    pub(super) fn has_name(&self) -> bool {
        self.has_name
    }

    /// Sets the id from the stream or the session file.
    pub(super) fn set_id(&mut self, id: SessionId) {
        self.key.id = id;
        self.has_name = true;
    }

    /// Returns the context of a call, with spawners of its own: those of the lane if the call only reads, or else those
    /// outside the sandbox if it runs there.
    pub(super) fn context_of_call(&self, call: &ReadyCall) -> Arc<ToolContext> {
        let context = &self.context;
        let outside_sandbox = || {
            let request = call.request(&call.assessment, context);
            let sandbox = context.sandbox.as_ref();
            sandbox.filter(|sandbox| sandbox.runs_outside(&request))
        };
        let spawners = if call.assessment.access.is_read_only() {
            &context.lane
        } else if let Some(sandbox) = outside_sandbox() {
            &sandbox.outside
        } else {
            &context.spawners
        };
        Arc::new(ToolContext {
            spawners: Arc::new(spawners.for_one_call()),
            ..(*self.context).clone()
        })
    }

    /// Restores the state that earlier processes of a named session saved. A directory that this run may
    /// not work in is not restored.
    pub(super) fn resume(&mut self) -> Result<(), StateError> {
        if !(self.has_name && self.root.has_session(&self.key)) {
            return Ok(());
        }
        let directory = self.root.open_session(&self.key)?;
        let state = SessionState::load(&directory)?;
        let context = Arc::make_mut(&mut self.context);
        if self.start_directory == StartDirectory::Previous
            && let Some(directory) = state
                .directory
                .filter(|directory| context.allows_directory(directory))
        {
            context.directory = directory;
        }
        if let Some(todos) = state.todos {
            context.todos = Arc::new(todos);
        }
        context.read_log = Arc::new(ReadLog::with_entries(state.reads));
        self.seen.results = state.results;
        self.replacements = state.replacements;
        self.state_directory = Some(directory);
        Ok(())
    }

    /// Returns the state directory of the session, which is created when it is first needed.
    pub(super) fn directory(&mut self) -> Result<&SessionDirectory, StateError> {
        let directory = match self.state_directory.take() {
            Some(directory) => directory,
            None => self.root.open_session(&self.key)?,
        };
        Ok(self.state_directory.insert(directory))
    }

    /// Applies the changes of calls. Returns whether the working directory changed.
    pub(super) fn apply(&mut self, changes: Vec<ContextChange>) -> bool {
        let mut directory_changed = false;
        for change in changes {
            let context = Arc::make_mut(&mut self.context);
            match change {
                ContextChange::Directory(directory) => {
                    directory_changed |= context.directory != directory;
                    self.has_unsaved_changes |= directory_changed;
                    context.directory = directory;
                }
                ContextChange::Todos(todos) => {
                    context.todos = Arc::new(todos);
                    self.has_unsaved_changes = true;
                }
            }
        }
        directory_changed
    }

    /// Whether a call changed the working directory or the to-do list.
    pub(super) fn has_unsaved_changes(&self) -> bool {
        self.has_unsaved_changes
    }

    /// Saves the state for the next process, unless the session has no name.
    pub(super) fn save(&mut self) -> Result<(), StateError> {
        if !self.has_name() {
            return Ok(());
        }
        let reads = self.context.read_log.entries();
        let is_unchanged = !self.has_unsaved_changes
            && reads.is_empty()
            && self.replacements.is_empty()
            && self.seen.results.is_empty();
        if is_unchanged {
            return Ok(());
        }
        let todos = (*self.context.todos != Value::Null).then(|| (*self.context.todos).clone());
        let directory = self.context.directory.clone();
        let (replacements, results) = (self.replacements.clone(), self.seen.results.clone());
        SessionState::update(self.directory()?, |state| {
            state.directory = Some(directory);
            if todos.is_some() {
                state.todos = todos;
            }
            state.reads.extend(reads);
            state.replacements.extend(replacements);
            state.results.extend(results);
        })
    }
}

#[derive(Debug, Clone)]
pub struct Options {
    /// Run calls or only plan them.
    pub mode: RunMode,
    /// Conflict granularity of the schedule.
    pub policy: Policy,
    /// Maximum number of calls that run at once.
    pub max_concurrent_calls: NonZeroUsize,
    /// The effect of a failed call on its siblings.
    pub on_error: OnError,
    /// When to write results.
    pub emit: Emit,
    /// Whether to copy the input.
    pub echo: Echo,
    /// The API for whose next request to write messages instead of records: the model's reply, which
    /// replaces the copy of the input, and the results of each turn.
    pub results_api: Option<Api>,
    /// Whether to warn of the first denied call.
    pub warns_on_denial: bool,
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
    pub fallback_session_id: Option<SessionId>,
    /// The session file, or else the directory in which the run starts.
    pub session_scope: SessionScope,
    /// The first working directory of shell calls.
    pub start_directory: StartDirectory,
    /// Prefix of the ids of calls that have none. It differs between the runs of a session.
    pub call_id_prefix: String,
    /// Whether to check lines without calls and results.
    pub unwanted_lines: UnwantedLines,
}

/// Receives each record of the conversation.
pub type Listener = Box<dyn FnMut(&str)>;

/// The dependencies of a run.
pub struct Dependencies {
    /// Receives the records.
    pub writer: RecordWriter,
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
pub enum RunMode {
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
    Previous,
    /// The directory of the context, which the user named.
    Named,
}

/// The effect of a failed call on its siblings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum OnError {
    /// A failed shell command that is not read-only cancels the shell commands of its turn.
    #[default]
    CancelShell,
    /// No effect.
    Continue,
    /// A failed call cancels all other calls of its turn.
    CancelAll,
}

/// When to write results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
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
    /// Copy every line byte for byte.
    #[default]
    Everything,
    /// Write only records of this run.
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
    /// Write repeated results in full.
    #[default]
    Off,
    /// Write references.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunningCall<'a> {
    pub lane: Lane,
    /// A short description, such as `Bash(npm test)`.
    pub label: &'a str,
    /// The last description of the call's progress.
    pub note: Option<&'a str>,
    /// The time since it started.
    pub elapsed: Duration,
}

/// Shows the progress of a run.
pub trait Observer: Send {
    /// Called when a call has started, ended or described its progress.
    fn update(&mut self, progress: &Progress<'_>);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    pub cause: EndCause,
    /// Calls with an error as their result.
    pub failed_calls: u64,
    /// Unusable lines of the input.
    pub damaged_lines: u64,
    /// The part of the input that was understood.
    pub understanding: Understanding,
    /// The start of the input.
    pub head: Vec<u8>,
}

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
