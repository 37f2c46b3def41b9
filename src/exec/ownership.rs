//! Whose calls a stream's calls are (protocol 6.2): a pure state machine.

use crate::wire::Opening;

/// What is known about the stream so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ownership {
    owner: Owner,
    insistence: Insistence,
}

/// Who runs the calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Owner {
    /// Nobody has said so: bare calls and messages are ours.
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
pub enum Insistence {
    /// History is looked at only.
    #[default]
    Respect,
    /// Unanswered calls run whoever's they are (`--execute`).
    Execute,
}

impl Ownership {
    /// The start of a stream.
    pub fn new(insistence: Insistence) -> Self {
        Self {
            owner: Owner::default(),
            insistence,
        }
    }

    /// An opening record came by. Once a stream is history it stays so: whatever opens inside of
    /// a recording is a part of it.
    pub fn opened(&mut self, opening: &Opening) {
        match (self.owner, opening) {
            (Owner::Foreign(_) | Owner::Executed, _) => {}
            (Owner::Unclaimed | Owner::Ours, Opening::Ours) => self.owner = Owner::Ours,
            (Owner::Unclaimed | Owner::Ours, Opening::Foreign(name)) => {
                self.owner = Owner::Foreign(name);
            }
        }
    }

    /// An executor record came by.
    pub fn executed(&mut self) {
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
        match self.insistence {
            Insistence::Execute => true,
            Insistence::Respect => matches!(self.owner, Owner::Unclaimed | Owner::Ours),
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
    fn insisting_runs_foreign_calls() {
        let mut stream = Ownership::new(Insistence::Execute);
        stream.opened(&Opening::Foreign("Codex stream"));
        assert!(stream.runs_calls());
        assert_eq!(stream.owner(), Owner::Foreign("Codex stream"));
    }
}
