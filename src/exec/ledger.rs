//! The calls of the input and their results in it, so that nothing runs twice. See `docs/records.md`, Which calls run.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::assemble::Event;
use crate::message::ToolUseId;

/// The calls of the input, identified by their position, since ids may repeat. Events are read as far ahead
/// as the input allows; then the calls are entered one by one, in the same order.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    hasher: RandomState,
    /// The calls without a result in the input, by a hash of their ids. An id may be as long as a line, so
    /// that keeping the texts of a whole recording would not be bounded. The hash is keyed, so that no
    /// input can provoke a collision; by chance, a million open calls have one in 37 million runs.
    open: HashMap<u64, Vec<OpenCall>>,
    /// The numbers of answered calls that are not entered yet.
    answered: HashSet<u64>,
    messages: u64,
    calls_read: u64,
    calls_entered: u64,
    /// The end of the input was read.
    is_complete: bool,
}

#[derive(Debug)]
struct OpenCall {
    number: u64,
    /// The number of its message.
    message: u64,
    /// Whether this run answers it.
    is_ours: bool,
}

impl Ledger {
    /// Reads an event, unless the ledger is complete. A result answers an earlier call: of the last message
    /// that has an open call with its id, the first one. Returns whether it answers a call that this run
    /// has answered, too.
    pub(super) fn read(&mut self, event: &Event) -> bool {
        if self.is_complete {
            return false;
        }
        match event {
            // A prompt starts a new group of calls that are on lines of their own, without a message.
            Event::Message(_) | Event::Prompt => self.messages += 1,
            Event::Call(call) => self.open_call(&call.id),
            Event::Result(id) => {
                let Some(call) = self.take_open(id) else {
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

    /// Whether the call `ahead` calls after the next one has its result in the input.
    pub(super) fn has_result(&self, ahead: u64) -> bool {
        self.answered.contains(&(self.calls_entered + ahead))
    }

    /// Enters the next call. `is_ours` tells whether this run answers it if the input does not. Returns
    /// whether it has its result in the input.
    pub(super) fn enter(&mut self, id: &ToolUseId, is_ours: bool) -> bool {
        let number = self.calls_entered;
        self.calls_entered += 1;
        if is_ours && let Some(open) = self.open.get_mut(&self.hasher.hash_one(id)) {
            for call in open.iter_mut().filter(|call| call.number == number) {
                call.is_ours = true;
            }
        }
        self.answered.remove(&number)
    }

    /// The number of entered calls without a result, here or in the input.
    pub(super) fn unanswered(&self) -> usize {
        let open = self.open.values().flatten();
        open.filter(|call| call.number < self.calls_entered && !call.is_ours)
            .count()
    }

    fn open_call(&mut self, id: &ToolUseId) {
        let call = OpenCall {
            number: self.calls_read,
            message: self.messages,
            is_ours: false,
        };
        self.calls_read += 1;
        self.open
            .entry(self.hasher.hash_one(id))
            .or_default()
            .push(call);
    }

    fn take_open(&mut self, id: &ToolUseId) -> Option<OpenCall> {
        let key = self.hasher.hash_one(id);
        let open = self.open.get_mut(&key)?;
        let message = open.last()?.message;
        let position = open.iter().position(|call| call.message == message)?;
        let call = open.remove(position);
        if open.is_empty() {
            self.open.remove(&key);
        }
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::Decoder;

    /// For each call of `input`, `+` if it has a result. `m` starts a message, `p` is a prompt, another
    /// lowercase letter a call, and a capital letter a result for the call of that letter.
    fn answered(input: &str) -> String {
        let mut ledger = Ledger::default();
        let mut decoder = Decoder::detecting();
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
    fn a_result_answers_a_call_before_it() {
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
            assert_eq!(answered(input), expected, "{input}");
        }
    }
}
