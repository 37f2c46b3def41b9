//! The calls of the input that this run answers: calls without a result in a stream that was made for it, once
//! each. See `docs/records.md`, Which calls run.

use super::ledger::Ledger;
use super::options::{HistoryPolicy, Options};
use crate::agent::Opening;
use crate::assemble::Event;
use crate::io::Messages;
use crate::message::ToolUseId;

/// The state of the input stream.
pub(super) struct Stream {
    ledger: Ledger,
    ownership: Ownership,
    messages: Messages,
    /// Prefix of the ids of calls that have none.
    call_ids: String,
    /// The user knows that the calls of a recording are not run.
    mentioned_history: bool,
}

impl Stream {
    pub(super) fn new(options: &Options, messages: Messages) -> Self {
        Self {
            ledger: Ledger::default(),
            ownership: Ownership::new(options.history),
            messages,
            call_ids: options.call_ids.clone(),
            mentioned_history: false,
        }
    }

    /// Sets the ledger of the whole input, before any of its calls is entered.
    pub(super) fn set_ledger(&mut self, ledger: Ledger) {
        self.ledger = ledger;
    }

    /// Updates the state by an event that is passed on.
    pub(super) fn observe(&mut self, event: &Event) {
        self.ownership.observe(event);
        if let Event::Executor {
            call_ids: Some(ids),
        } = event
        {
            self.call_ids.clone_from(ids);
        }
    }

    pub(super) fn call_ids(&self) -> &str {
        &self.call_ids
    }

    /// Notes an event that was read and is passed on later.
    pub(super) fn look_ahead(&mut self, event: &Event) {
        if self.ledger.read(event)
            && let Event::Result(id) = event
        {
            self.messages.warn(&format!(
                "the input holds a result for {id}, which was run here"
            ));
        }
    }

    /// Enters the next call of the input. Returns whether this run answers it.
    pub(super) fn take(&mut self, id: &ToolUseId) -> bool {
        let is_ours = self.runs_calls();
        if !is_ours {
            self.mention_history();
        }
        !self.ledger.enter(id, is_ours) && is_ours
    }

    /// Enters the next call of the input without answering it. Returns whether it has no result there.
    pub(super) fn skip(&mut self, id: &ToolUseId) -> bool {
        !self.ledger.enter(id, false)
    }

    /// Whether this run will answer one of these events.
    pub(super) fn will_take_any(&self, events: &[Event]) -> bool {
        let mut ownership = self.ownership;
        let mut ahead = 0;
        events.iter().any(|event| {
            ownership.observe(event);
            let is_call = matches!(event, Event::Call(_));
            let is_new = !self.ledger.has_result(ahead);
            ahead += u64::from(is_call);
            is_call && is_new && ownership.runs_calls()
        })
    }

    pub(super) fn runs_calls(&self) -> bool {
        self.ownership.runs_calls()
    }

    /// Reports at the end the calls of a recording that have no result.
    pub(super) fn report_unanswered(&self) {
        let open = self.ledger.unanswered();
        if self.runs_calls() || self.ownership.owner != Owner::Executed || open == 0 {
            return;
        }
        let calls = if open == 1 {
            "1 call has".to_owned()
        } else {
            format!("{open} calls have")
        };
        self.messages.warn(&format!(
            "{calls} no result in this recording and did not run again"
        ));
        self.messages.hint("run them with --execute");
    }

    fn mention_history(&mut self) {
        if std::mem::replace(&mut self.mentioned_history, true) {
            return;
        }
        let kind = match self.ownership.owner {
            Owner::Foreign(name) => name,
            Owner::Executed => "stream that an executor has worked on",
            Owner::Unclaimed | Owner::Ours => "recording",
        };
        self.messages
            .warn(&format!("this is a {kind}: its calls are not run"));
        self.messages
            .hint("look at them with --plan, or run them with --execute");
    }
}

/// The owner of a stream, who runs its calls: a pure state machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ownership {
    owner: Owner,
    history: HistoryPolicy,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Owner {
    /// This run, as long as no record says otherwise.
    #[default]
    Unclaimed,
    /// This run: the stream was opened for it.
    Ours,
    /// Another agent, whose recording this is. The name is for messages.
    Foreign(&'static str),
    /// Another executor, which has worked on this stream.
    Executed,
}

impl Ownership {
    fn new(history: HistoryPolicy) -> Self {
        Self {
            owner: Owner::default(),
            history,
        }
    }

    /// Updates the owner. A recording stays one: an opening inside it belongs to it.
    fn observe(&mut self, event: &Event) {
        self.owner = match (self.owner, event) {
            (Owner::Unclaimed | Owner::Ours, Event::Opening(Opening::Ours)) => Owner::Ours,
            (Owner::Unclaimed | Owner::Ours, Event::Opening(Opening::Foreign(name))) => {
                Owner::Foreign(name)
            }
            (Owner::Unclaimed | Owner::Ours, Event::Executor { .. }) => Owner::Executed,
            (owner, _) => owner,
        };
    }

    fn runs_calls(&self) -> bool {
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
    fn a_recording_stays_a_recording() {
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
        assert_eq!(stream.owner, Owner::Foreign("Codex stream"));
    }
}
