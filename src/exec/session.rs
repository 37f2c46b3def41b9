//! The session as the calls of a run see it, and its state on disk.

use std::sync::Arc;

use serde_json::Value;

use super::StartDirectory;
use super::call::Children;
use crate::message::SessionId;
use crate::results::Seen;
use crate::state::{
    ReadLog, SessionDirectory, SessionKey, SessionScope, SessionState, StateError, StateRoot,
};
use crate::tools::{ContextChange, ToolContext};

/// The current context, and what of it must be kept.
pub(super) struct Session {
    pub(super) context: Arc<ToolContext>,
    key: SessionKey,
    /// A later process can know the id: it is not made for this run only.
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

    pub(super) fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Whether a later process can know the session.
    pub(super) fn has_name(&self) -> bool {
        self.has_name
    }

    /// Sets the id that the stream or the session file gives.
    pub(super) fn set_name(&mut self, id: SessionId) {
        self.key.id = id;
        self.has_name = true;
    }

    /// Sets where the id is valid.
    pub(super) fn set_scope(&mut self, scope: SessionScope) {
        self.key.scope = scope;
    }

    /// The context of a call that starts now. Confined children are started by the lane's own
    /// threads.
    pub(super) fn context_for(&self, children: Children) -> Arc<ToolContext> {
        match children {
            Children::Free => Arc::clone(&self.context),
            Children::Confined => Arc::new(ToolContext {
                spawners: Arc::new(self.context.lane.for_one_call()),
                ..(*self.context).clone()
            }),
        }
    }

    /// Restores what earlier processes of a named session left. A directory outside of the working
    /// directories of this run is not restored.
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

    /// The session's directory, created when first needed.
    pub(super) fn directory(&mut self) -> Result<&SessionDirectory, StateError> {
        let directory = match self.directory.take() {
            Some(directory) => directory,
            None => self.root.session(&self.key)?,
        };
        Ok(self.directory.insert(directory))
    }

    /// Applies what a call changed. Returns whether the working directory is another one now.
    pub(super) fn apply(&mut self, changes: Vec<ContextChange>) -> bool {
        let mut moved = false;
        for change in changes {
            let context = Arc::make_mut(&mut self.context);
            match change {
                ContextChange::Directory(directory) => {
                    moved |= context.directory != directory;
                    self.changed |= context.directory != directory;
                    context.directory = directory;
                }
                ContextChange::Todos(todos) => {
                    context.todos = Arc::new(todos);
                    self.changed = true;
                }
            }
        }
        moved
    }

    /// Whether a later process would need to know something that this run changed.
    pub(super) fn has_changes(&self) -> bool {
        self.changed
    }

    /// Writes down what the next process needs. A fresh session has no next process.
    pub(super) fn save(&mut self) -> Result<(), StateError> {
        if !self.has_name() {
            return Ok(());
        }
        let reads = self.context.read_log.entries();
        let nothing_new = !self.changed
            && reads.is_empty()
            && self.replacements.is_empty()
            && self.seen.results.is_empty();
        if nothing_new {
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
