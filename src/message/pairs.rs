//! Matching of calls and results by id. They need not be adjacent or in order.

use std::collections::HashMap;

use super::Message;

/// Matches calls and results. Stores one entry per call id.
#[derive(Debug, Default)]
pub struct Pairs {
    seen: HashMap<String, Seen>,
    order: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    calls: u64,
    results: u64,
}

impl Pairs {
    /// Adds the calls and results of a message.
    pub fn note(&mut self, message: &Message) {
        for call in message.calls() {
            self.entry(&call.id).calls += 1;
        }
        for result in message.results() {
            self.entry(&result.id).results += 1;
        }
    }

    fn entry(&mut self, id: &str) -> &mut Seen {
        if !self.seen.contains_key(id) {
            self.order.push(id.to_owned());
        }
        self.seen.entry(id.to_owned()).or_default()
    }

    /// Returns the calls without a result, in order of their first occurrence.
    pub fn unanswered(&self) -> Vec<&str> {
        self.ids(|seen| seen.calls > 0 && seen.results == 0)
    }

    /// Returns the results without a call, in order.
    pub fn orphans(&self) -> Vec<&str> {
        self.ids(|seen| seen.calls == 0)
    }

    fn ids(&self, wanted: impl Fn(&Seen) -> bool) -> Vec<&str> {
        self.order
            .iter()
            .filter(|id| self.seen.get(*id).is_some_and(&wanted))
            .map(String::as_str)
            .collect()
    }
}
