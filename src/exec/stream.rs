//! Which calls of the input are ours to run: those of a stream that was made for us, once each, and
//! not those that have a result already. See `docs/protocol.md`, Whose calls are run.

use super::Options;
use super::ledger::Ledger;
use super::ownership::{Owner, Ownership};
use crate::assemble::Event;
use crate::io::Messages;
use crate::message::ToolUseId;

/// What is known of the input stream.
pub(super) struct Stream {
    ledger: Ledger,
    ownership: Ownership,
    messages: Messages,
    /// How the ids begin of calls that come without one.
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

    /// The whole input was read, before any of its calls was entered.
    pub(super) fn know(&mut self, ledger: Ledger) {
        self.ledger = ledger;
    }

    /// Takes note of what an event says about the stream itself.
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

    /// An event was read that is dealt with later.
    pub(super) fn look_ahead(&mut self, event: &Event) {
        if self.ledger.read(event)
            && let Event::Result(id) = event
        {
            self.messages.note(&format!(
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

    /// Enters the next call of the input. Returns whether it has no result there.
    pub(super) fn pass(&mut self, id: &ToolUseId) -> bool {
        !self.ledger.enter(id, false)
    }

    /// Whether one of these events is a call that this run will answer.
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
