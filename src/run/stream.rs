//! Chooses the calls of the input that this run executes: each call once, if it has no result in the input
//! and the stream is not a recording. See `docs/records.md`, Which calls run.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::session::{HistoryPolicy, Options};
use crate::agent::Opening;
use crate::assemble::Event;
use crate::io::Messages;
use crate::message::ToolUseId;

/// The state of the input stream.
pub(super) struct Stream {
    pub(super) ledger: Ledger,
    ownership: StreamOwnership,
    messages: Messages,
    /// Prefix of the ids of calls that have none.
    call_id_prefix: String,
    /// Whether the user knows that the calls of a recording are not run.
    has_mentioned_history: bool,
}

impl Stream {
    pub(super) fn new(options: &Options, messages: Messages) -> Self {
        Self {
            ledger: Ledger::default(),
            ownership: StreamOwnership::new(options.history),
            messages,
            call_id_prefix: options.call_id_prefix.clone(),
            has_mentioned_history: false,
        }
    }

    /// Updates the state for an event that is passed on.
    pub(super) fn observe(&mut self, event: &Event) {
        self.ownership.observe(event);
        if let Event::Executor {
            call_ids: Some(ids),
        } = event
        {
            self.call_id_prefix.clone_from(ids);
        }
    }

    pub(super) fn call_id_prefix(&self) -> &str {
        &self.call_id_prefix
    }

    /// Notes an event that was read ahead.
    pub(super) fn observe_ahead(&mut self, event: &Event) {
        if self.ledger.read(event)
            && let Event::Result(id) = event
        {
            self.messages.warn(&format!(
                "the input contains a result for {id}, which was run here"
            ));
        }
    }

    /// Enters the next call of the input. Returns whether this run executes it.
    pub(super) fn enter_call(&mut self, id: &ToolUseId) -> bool {
        let is_ours = self.runs_calls();
        if !is_ours {
            self.warn_of_recording();
        }
        !self.ledger.enter(id, is_ours) && is_ours
    }

    /// Enters the next call of the input without executing it. Returns whether it has no result there.
    pub(super) fn skip_call(&mut self, id: &ToolUseId) -> bool {
        !self.ledger.enter(id, false)
    }

    /// Whether this run will execute a call among these events.
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

    /// Reports the calls of a recording that have no result. Called at the end of the input.
    pub(super) fn report_unanswered(&self) {
        let unanswered = self.ledger.unanswered_count();
        if self.runs_calls() || self.ownership.owner != StreamOwner::Executed || unanswered == 0 {
            return;
        }
        let calls = if unanswered == 1 {
            "1 call has".to_owned()
        } else {
            format!("{unanswered} calls have")
        };
        self.messages.warn(&format!(
            "{calls} no result in this recording and will not be run"
        ));
        self.messages.hint("`--execute` runs them");
    }

    fn warn_of_recording(&mut self) {
        if std::mem::replace(&mut self.has_mentioned_history, true) {
            return;
        }
        let kind = match self.ownership.owner {
            StreamOwner::Foreign(name) => name,
            StreamOwner::Executed => "stream that another executor has processed",
            StreamOwner::Unclaimed | StreamOwner::Ours => "recording",
        };
        self.messages
            .warn(&format!("this is a {kind}: its calls are not run"));
        self.messages
            .hint("`--plan` shows them, and `--execute` runs them");
    }
}

/// Determines the executor of a stream's calls. A pure state machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StreamOwnership {
    owner: StreamOwner,
    history: HistoryPolicy,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum StreamOwner {
    /// This run, unless a record says otherwise.
    #[default]
    Unclaimed,
    /// This run: the stream was opened for it.
    Ours,
    /// Another agent, whose recording this is. The name is for messages.
    Foreign(&'static str),
    /// Another executor, which has processed this stream.
    Executed,
}

impl StreamOwnership {
    fn new(history: HistoryPolicy) -> Self {
        Self {
            owner: StreamOwner::default(),
            history,
        }
    }

    /// Updates the owner. A recording stays a recording, even if it contains another opening.
    fn observe(&mut self, event: &Event) {
        self.owner = match (self.owner, event) {
            (StreamOwner::Unclaimed | StreamOwner::Ours, Event::Opening(Opening::Ours)) => {
                StreamOwner::Ours
            }
            (
                StreamOwner::Unclaimed | StreamOwner::Ours,
                Event::Opening(Opening::Foreign(name)),
            ) => StreamOwner::Foreign(name),
            (StreamOwner::Unclaimed | StreamOwner::Ours, Event::Executor { .. }) => {
                StreamOwner::Executed
            }
            (owner, _) => owner,
        };
    }

    fn runs_calls(&self) -> bool {
        match self.history {
            HistoryPolicy::Execute => true,
            HistoryPolicy::Respect => {
                matches!(self.owner, StreamOwner::Unclaimed | StreamOwner::Ours)
            }
        }
    }
}

/// The calls of the input, identified by their position, since ids may repeat. Events are read as far ahead
/// as the input allows; then the calls are entered one by one, in the same order.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    hasher: RandomState,
    /// The calls without a result in the input, by a hash of their ids. An id may be as long as a line, so
    /// the ids of a whole recording would need unbounded memory. The hash is keyed, so that no input can
    /// provoke a collision. The probability of a collision among a million open calls is 1 in 37 million.
    open_calls: HashMap<u64, Vec<OpenCall>>,
    /// The numbers of calls with a result that are not entered yet.
    answered: HashSet<u64>,
    message_count: u64,
    calls_read: u64,
    calls_entered: u64,
    /// Whether the end of the input was read.
    is_complete: bool,
}

#[derive(Debug)]
struct OpenCall {
    number: u64,
    /// The number of its message.
    message: u64,
    /// Whether this run executes it.
    is_ours: bool,
}

impl Ledger {
    /// Reads an event, unless the ledger is complete. A result belongs to an earlier call: in the last
    /// message with an open call of its id, the first such call. Returns whether this run has executed that
    /// call, too.
    pub(super) fn read(&mut self, event: &Event) -> bool {
        if self.is_complete {
            return false;
        }
        match event {
            // Calls on lines of their own have no message: a prompt starts a new group of them.
            Event::Message(_) | Event::Prompt => self.message_count += 1,
            Event::Call(call) => self.add_call(&call.id),
            Event::Result(id) => {
                let Some(call) = self.take_open_call(id) else {
                    return false;
                };
                if call.number >= self.calls_entered {
                    self.answered.insert(call.number);
                }
                return call.is_ours;
            }
            _ => {}
        }
        false
    }

    /// Marks the whole input as read.
    pub(super) fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Whether the call at distance `ahead` from the next one has a result in the input.
    pub(super) fn has_result(&self, ahead: u64) -> bool {
        self.answered.contains(&(self.calls_entered + ahead))
    }

    /// Enters the next call. `is_ours` is true if this run executes it unless the input has its result. Returns
    /// whether the input has its result.
    pub(super) fn enter(&mut self, id: &ToolUseId, is_ours: bool) -> bool {
        let number = self.calls_entered;
        self.calls_entered += 1;
        if is_ours && let Some(open) = self.open_calls.get_mut(&self.hasher.hash_one(id)) {
            for call in open.iter_mut().filter(|call| call.number == number) {
                call.is_ours = true;
            }
        }
        self.answered.remove(&number)
    }

    /// Returns the number of entered calls without a result, here or in the input.
    pub(super) fn unanswered_count(&self) -> usize {
        let open = self.open_calls.values().flatten();
        open.filter(|call| call.number < self.calls_entered && !call.is_ours)
            .count()
    }

    fn add_call(&mut self, id: &ToolUseId) {
        let call = OpenCall {
            number: self.calls_read,
            message: self.message_count,
            is_ours: false,
        };
        self.calls_read += 1;
        self.open_calls
            .entry(self.hasher.hash_one(id))
            .or_default()
            .push(call);
    }

    fn take_open_call(&mut self, id: &ToolUseId) -> Option<OpenCall> {
        let key = self.hasher.hash_one(id);
        let open = self.open_calls.get_mut(&key)?;
        let message = open.last()?.message;
        let position = open.iter().position(|call| call.message == message)?;
        let call = open.remove(position);
        if open.is_empty() {
            self.open_calls.remove(&key);
        }
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_stays_a_recording() {
        let mut stream = StreamOwnership::default();
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
        let mut stream = StreamOwnership::new(HistoryPolicy::Execute);
        stream.observe(&Event::Opening(Opening::Foreign("Codex stream")));
        assert!(stream.runs_calls());
        assert_eq!(stream.owner, StreamOwner::Foreign("Codex stream"));
    }
}

#[cfg(test)]
mod ledger_tests {
    use super::*;
    use crate::assemble::Decoder;

    /// For each call of `input`, `+` if it has a result. `m` starts a message, `p` is a prompt, another
    /// lowercase letter a call, and a capital letter a result for the call of that letter.
    fn answered_calls(input: &str) -> String {
        let mut ledger = Ledger::default();
        let mut decoder = Decoder::with_detection();
        let mut ids = Vec::new();
        for (number, letter) in input.chars().enumerate() {
            let id = letter.to_ascii_lowercase();
            let record = if letter == 'm' {
                r#"{"role":"assistant","content":[]}"#.to_owned()
            } else if letter == 'p' {
                r#"{"role":"user","content":"next"}"#.to_owned()
            } else if letter.is_lowercase() {
                ids.push(letter);
                format!(r#"{{"type":"tool_use","id":"{id}","name":"x","input":{{"n":{number}}}}}"#)
            } else {
                format!(r#"{{"type":"tool_result","tool_use_id":"{id}"}}"#)
            };
            for event in decoder.record(&record) {
                ledger.read(&event);
            }
        }
        let mut has_result = |id: &char| ledger.enter(&ToolUseId(id.to_string()), false);
        ids.iter()
            .map(|id| if has_result(id) { '+' } else { '-' })
            .collect()
    }

    #[test]
    fn a_result_belongs_to_an_earlier_call() {
        let rows = [
            ("maA", "+"),
            ("mabBA", "++"),
            ("maAma", "+-"),
            ("mamaA", "-+"),
            ("mamaAA", "++"),
            ("maaA", "+-"),
            ("maAAma", "+-"),
            ("Ama", "-"),
            ("papapaA", "--+"),
            ("abAaA", "+-+"),
        ];
        for (input, expected) in rows {
            assert_eq!(answered_calls(input), expected, "{input}");
        }
    }
}
