//! Whose calls a stream's calls are: a pure state machine. See `docs/protocol.md`, Whose calls are
//! run.

use crate::wire::{Event, Opening};

/// What is known about the stream so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ownership {
    owner: Owner,
    history: HistoryPolicy,
}

/// Who runs the calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Owner {
    /// No record has said so: bare calls and messages are ours.
    #[default]
    Unclaimed,
    /// The stream was opened for us.
    Ours,
    /// The recording of another agent, named for people.
    Foreign(&'static str),
    /// An executor has already worked on this stream.
    Executed,
}

/// What the user wants done about history.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HistoryPolicy {
    /// The calls of history do not run.
    #[default]
    Respect,
    /// Unanswered calls run in any stream (`--execute`).
    Execute,
}

impl Ownership {
    /// The start of a stream.
    pub fn new(history: HistoryPolicy) -> Self {
        Self {
            owner: Owner::default(),
            history,
        }
    }

    /// Takes note of what a record says about the stream.
    pub fn observe(&mut self, event: &Event) {
        match event {
            Event::Opening(opening) => self.opened(opening),
            Event::Executor { .. } => self.executed(),
            _ => {}
        }
    }

    /// Once a stream is history it stays so: an opening inside of a recording is a part of it.
    fn opened(&mut self, opening: &Opening) {
        match (self.owner, opening) {
            (Owner::Foreign(_) | Owner::Executed, _) => {}
            (Owner::Unclaimed | Owner::Ours, Opening::Ours) => self.owner = Owner::Ours,
            (Owner::Unclaimed | Owner::Ours, Opening::Foreign(name)) => {
                self.owner = Owner::Foreign(name);
            }
        }
    }

    fn executed(&mut self) {
        if !matches!(self.owner, Owner::Foreign(_)) {
            self.owner = Owner::Executed;
        }
    }

    /// Who runs the calls.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Whether calls of this stream are ours to run.
    pub fn runs_calls(&self) -> bool {
        match self.history {
            HistoryPolicy::Execute => true,
            HistoryPolicy::Respect => matches!(self.owner, Owner::Unclaimed | Owner::Ours),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_stays_history() {
        let mut stream = Ownership::default();
        assert!(stream.runs_calls());
        stream.opened(&Opening::Ours);
        assert!(stream.runs_calls());
        stream.executed();
        assert!(!stream.runs_calls());
        stream.opened(&Opening::Ours);
        assert!(!stream.runs_calls());
    }

    #[test]
    fn foreign_calls_run_on_request() {
        let mut stream = Ownership::new(HistoryPolicy::Execute);
        stream.opened(&Opening::Foreign("Codex stream"));
        assert!(stream.runs_calls());
        assert_eq!(stream.owner(), Owner::Foreign("Codex stream"));
    }
}
