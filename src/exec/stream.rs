//! Which calls of the input are ours to run: those of a stream that was made for us, once each, and
//! not those that have a result already. See `docs/protocol.md`, Whose calls are run.

use super::{HistoryPolicy, Ledger, LedgerStatus, Owner, Ownership};
use crate::io::Messages;
use crate::wire::{Event, ToolUseId};

/// What is known of the input stream.
pub(super) struct Stream {
    ledger: Ledger,
    ownership: Ownership,
    messages: Messages,
    /// The user knows that the calls of a recording are not run.
    mentioned_history: bool,
}

impl Stream {
    /// `ledger` knows the results of an input that can be read twice.
    pub(super) fn new(ledger: Ledger, history: HistoryPolicy, messages: Messages) -> Self {
        Self {
            ledger,
            ownership: Ownership::new(history),
            messages,
            mentioned_history: false,
        }
    }

    /// Takes note of what an event says about the stream itself.
    pub(super) fn observe(&mut self, event: &Event) {
        self.ownership.observe(event);
    }

    /// A result is in the input, perhaps ahead of its call.
    pub(super) fn answered(&mut self, id: &ToolUseId) {
        if self.ledger.is_taken(id) {
            self.messages.note(&format!(
                "the input holds a result for {id}, which was run here"
            ));
        }
        self.ledger.answered(id);
    }

    /// Enters the call of an event; `None` if the event is none.
    pub(super) fn enter(&mut self, event: &Event) -> Option<LedgerStatus> {
        match event {
            Event::Call(call) => Some(self.ledger.enter(call)),
            Event::Invalid(call) => Some(self.ledger.enter_invalid(&call.id, &call.name)),
            _ => None,
        }
    }

    /// Whether this run answers a call that was entered; it does so from here on.
    pub(super) fn take(&mut self, id: &ToolUseId, status: LedgerStatus) -> bool {
        if !self.ownership.runs_calls() {
            self.mention_history();
            return false;
        }
        match status {
            LedgerStatus::New => {
                self.ledger.taken(id);
                true
            }
            LedgerStatus::Answered | LedgerStatus::Repeated => false,
            LedgerStatus::Contradicted => {
                self.messages.note(&format!(
                    "call {id} came twice with different input: the first one counts"
                ));
                false
            }
        }
    }

    /// Whether one of these events is a call that this run will answer.
    pub(super) fn will_take_any(&self, events: &[Event]) -> bool {
        let mut ownership = self.ownership;
        events.iter().any(|event| {
            ownership.observe(event);
            match event {
                Event::Call(call) => ownership.runs_calls() && self.ledger.is_new(&call.id),
                Event::Invalid(call) => ownership.runs_calls() && self.ledger.is_new(&call.id),
                _ => false,
            }
        })
    }

    pub(super) fn runs_calls(&self) -> bool {
        self.ownership.runs_calls()
    }

    /// Says at the end which calls of a recording were left without a result.
    pub(super) fn report_unanswered(&self) {
        let open = self.ledger.unanswered();
        if self.runs_calls() || self.ownership.owner() != Owner::Executed || open == 0 {
            return;
        }
        let calls = if open == 1 {
            "1 call has".to_owned()
        } else {
            format!("{open} calls have")
        };
        self.messages.note(&format!(
            "{calls} no result in this recording and did not run again"
        ));
        self.messages.hint("run them with --execute");
    }

    fn mention_history(&mut self) {
        if std::mem::replace(&mut self.mentioned_history, true) {
            return;
        }
        let kind = match self.ownership.owner() {
            Owner::Foreign(name) => name,
            Owner::Executed => "stream that an executor has worked on",
            Owner::Unclaimed | Owner::Ours => "recording",
        };
        self.messages
            .note(&format!("this is a {kind}: its calls are not run"));
        self.messages
            .hint("look at them with --plan, or run them with --execute");
    }
}
