//! The session of a run: the context of its calls, and its state on disk.

use std::sync::Arc;

use serde_json::Value;

use super::options::StartDirectory;
use crate::message::SessionId;
use crate::results::Seen;
use crate::state::{ReadLog, SessionDirectory, SessionKey, SessionState, StateError, StateRoot};
use crate::tools::{ContextChange, ToolContext};

/// The session of a run.
pub(super) struct Session {
    pub(super) context: Arc<ToolContext>,
    pub(super) key: SessionKey,
    /// The id was given, so a later process can use it.
    has_name: bool,
    start: StartDirectory,
    pub(super) seen: Seen,
    pub(super) replacements: std::collections::BTreeMap<String, Option<String>>,
    root: StateRoot,
    directory: Option<SessionDirectory>,
    changed: bool,
}

impl Session {
    pub(super) fn new(
        context: ToolContext,
        key: SessionKey,
        has_name: bool,
        start: StartDirectory,
        root: StateRoot,
    ) -> Self {
        Self {
            context: Arc::new(context),
            key,
            has_name,
            start,
            seen: Seen::default(),
            replacements: std::collections::BTreeMap::new(),
            root,
            directory: None,
            changed: false,
        }
    }

    /// Whether a later process can use the session.
    pub(super) fn has_name(&self) -> bool {
        self.has_name
    }

    /// Sets the id from the stream or the session file.
    pub(super) fn set_name(&mut self, id: SessionId) {
        self.key.id = id;
        self.has_name = true;
    }

    /// The context of a call that only reads. The lane's own threads start its children, confined.
    pub(super) fn confined_context(&self) -> Arc<ToolContext> {
        Arc::new(ToolContext {
            spawners: Arc::new(self.context.lane.for_one_call()),
            ..(*self.context).clone()
        })
    }

    /// Restores the state that earlier processes of a named session saved. A directory that this run may
    /// not work in is not restored.
    pub(super) fn resume(&mut self) -> Result<(), StateError> {
        if !(self.has_name && self.root.has_session(&self.key)) {
            return Ok(());
        }
        let directory = self.root.session(&self.key)?;
        let state = SessionState::load(&directory)?;
        let context = Arc::make_mut(&mut self.context);
        if self.start == StartDirectory::Kept
            && let Some(kept) = state
                .directory
                .filter(|kept| context.allows_directory(kept))
        {
            context.directory = kept;
        }
        if let Some(todos) = state.todos {
            context.todos = Arc::new(todos);
        }
        context.read_log = Arc::new(ReadLog::with_entries(state.reads));
        self.seen.results = state.results;
        self.replacements = state.replacements;
        self.directory = Some(directory);
        Ok(())
    }

    /// The state directory of the session, which is created when it is first needed.
    pub(super) fn directory(&mut self) -> Result<&SessionDirectory, StateError> {
        let directory = match self.directory.take() {
            Some(directory) => directory,
            None => self.root.session(&self.key)?,
        };
        Ok(self.directory.insert(directory))
    }

    /// Applies the changes of calls. Returns whether the working directory changed.
    pub(super) fn apply(&mut self, changes: Vec<ContextChange>) -> bool {
        let mut changed_directory = false;
        for change in changes {
            let context = Arc::make_mut(&mut self.context);
            match change {
                ContextChange::Directory(directory) => {
                    changed_directory |= context.directory != directory;
                    self.changed |= changed_directory;
                    context.directory = directory;
                }
                ContextChange::Todos(todos) => {
                    context.todos = Arc::new(todos);
                    self.changed = true;
                }
            }
        }
        changed_directory
    }

    /// Whether there are changes that a later process needs.
    pub(super) fn has_changes(&self) -> bool {
        self.changed
    }

    /// Saves the state for the next process, unless the session has no name.
    pub(super) fn save(&mut self) -> Result<(), StateError> {
        if !self.has_name() {
            return Ok(());
        }
        let reads = self.context.read_log.entries();
        let is_unchanged = !self.changed
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
