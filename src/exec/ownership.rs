//! Whose calls a stream's calls are: a pure state machine. See `docs/protocol.md`, Whose calls are
//! run.

use crate::agent::Opening;
use crate::assemble::Event;

/// What is known about the stream so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ownership {
    owner: Owner,
    history: HistoryPolicy,
}

/// Who runs the calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Owner {
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
    pub(super) fn new(history: HistoryPolicy) -> Self {
        Self {
            owner: Owner::default(),
            history,
        }
    }

    /// Takes note of what a record says about the stream. Once it is history it stays so: an opening
    /// inside of a recording is a part of it.
    pub(super) fn observe(&mut self, event: &Event) {
        self.owner = match (self.owner, event) {
            (Owner::Unclaimed | Owner::Ours, Event::Opening(Opening::Ours)) => Owner::Ours,
            (Owner::Unclaimed | Owner::Ours, Event::Opening(Opening::Foreign(name))) => {
                Owner::Foreign(name)
            }
            (Owner::Unclaimed | Owner::Ours, Event::Executor { .. }) => Owner::Executed,
            (owner, _) => owner,
        };
    }

    /// Who runs the calls.
    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// Whether calls of this stream are ours to run.
    pub(super) fn runs_calls(&self) -> bool {
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
        stream.observe(&Event::Opening(Opening::Ours));
        assert!(stream.runs_calls());
        stream.observe(&Event::Executor { call_ids: None });
        assert!(!stream.runs_calls());
        stream.observe(&Event::Opening(Opening::Ours));
        assert!(!stream.runs_calls());
    }

    #[test]
    fn foreign_calls_run_on_request() {
        let mut stream = Ownership::new(HistoryPolicy::Execute);
        stream.observe(&Event::Opening(Opening::Foreign("Codex stream")));
        assert!(stream.runs_calls());
        assert_eq!(stream.owner(), Owner::Foreign("Codex stream"));
    }
}
