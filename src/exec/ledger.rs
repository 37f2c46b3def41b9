//! Which ids were seen and answered, so that nothing runs twice. See `docs/protocol.md`, Answered
//! calls and The same id again.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use serde_json::Value;

use crate::wire::{ToolCall, ToolUseId};

/// Remembers ids as keyed hashes: a few bytes a call however long ids and inputs are.
#[derive(Debug, Default)]
pub struct Ledger {
    hasher: RandomState,
    /// Ids of calls seen, with a hash of name and input.
    calls: HashMap<u64, u64>,
    /// Ids that have a result in the input.
    answered: HashSet<u64>,
    /// Ids of calls that this run answers.
    ours: HashSet<u64>,
}

/// What the ledger knows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LedgerStatus {
    /// Never seen, not answered.
    New,
    /// The input holds its result.
    Answered,
    /// Seen before with the same name and input.
    Repeated,
    /// Seen before with another name or input.
    Contradicted,
}

impl Ledger {
    /// The input holds a result for `id`.
    pub fn answered(&mut self, id: &ToolUseId) {
        self.answered.insert(self.hasher.hash_one(id));
    }

    /// Whether a call with this id would be new.
    pub fn is_new(&self, id: &ToolUseId) -> bool {
        let key = self.hasher.hash_one(id);
        !self.calls.contains_key(&key) && !self.answered.contains(&key)
    }

    /// This run answers the call itself.
    pub fn taken(&mut self, id: &ToolUseId) {
        self.ours.insert(self.hasher.hash_one(id));
    }

    /// Whether this run answers the call itself.
    pub fn is_taken(&self, id: &ToolUseId) -> bool {
        self.ours.contains(&self.hasher.hash_one(id))
    }

    /// How many calls were entered and have no result.
    pub fn unanswered(&self) -> usize {
        self.calls
            .keys()
            .filter(|key| !self.answered.contains(key) && !self.ours.contains(key))
            .count()
    }

    /// Enters a call.
    pub fn enter(&mut self, call: &ToolCall) -> LedgerStatus {
        self.enter_parts(&call.id, &call.name, call.input.get())
    }

    /// Enters a call that has no usable input.
    pub fn enter_invalid(&mut self, id: &ToolUseId, name: &str) -> LedgerStatus {
        self.enter_parts(id, name, "")
    }

    fn enter_parts(&mut self, id: &ToolUseId, name: &str, input: &str) -> LedgerStatus {
        let key = self.hasher.hash_one(id);
        let fingerprint = match serde_json::from_str::<Value>(input) {
            // The same input may be spelled with other blanks in deltas and in the whole record.
            Ok(value) => self.hasher.hash_one((name, value.to_string())),
            Err(_) => self.hasher.hash_one((name, input)),
        };
        match self.calls.insert(key, fingerprint) {
            Some(earlier) if earlier == fingerprint => LedgerStatus::Repeated,
            Some(earlier) => {
                // The first one counts: it is the one that ran.
                self.calls.insert(key, earlier);
                LedgerStatus::Contradicted
            }
            None if self.answered.contains(&key) => LedgerStatus::Answered,
            None => LedgerStatus::New,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn call(id: &str, name: &str, input: &str) -> ToolCall {
        ToolCall {
            id: id.into(),
            name: name.to_owned(),
            input: RawValue::from_string(input.to_owned()).unwrap(),
            message: None,
        }
    }

    #[test]
    fn an_id_is_new_once() {
        let mut ledger = Ledger::default();
        assert_eq!(
            ledger.enter(&call("a", "Read", "{\"x\":1}")),
            LedgerStatus::New
        );
        assert_eq!(
            ledger.enter(&call("a", "Read", "{ \"x\" : 1 }")),
            LedgerStatus::Repeated
        );
        assert_eq!(
            ledger.enter(&call("a", "Read", "{\"x\":2}")),
            LedgerStatus::Contradicted
        );
        assert_eq!(
            ledger.enter(&call("a", "Read", "{\"x\":1}")),
            LedgerStatus::Repeated
        );
        assert_eq!(
            ledger.enter(&call("a", "Write", "{\"x\":1}")),
            LedgerStatus::Contradicted
        );
    }

    #[test]
    fn answered_calls_are_known_before_they_come() {
        let mut ledger = Ledger::default();
        ledger.answered(&"a".into());
        assert_eq!(
            ledger.enter(&call("a", "Read", "{}")),
            LedgerStatus::Answered
        );
        assert_eq!(ledger.enter(&call("b", "Read", "{}")), LedgerStatus::New);
    }
}
