//! Ids for calls without one: some APIs and servers omit it.
//!
//! They are numbered in the order of the input, so that every reader of a stream generates the same ids.
//! Their prefix is in the `system/executor` record of the stream, and differs between runs, so that
//! ids of different runs of a session differ.

use std::collections::{HashMap, VecDeque};

use turnpipe_core::message::ToolUseId;

/// The default prefix of ids.
const PREFIX: &str = "turnpipe_call";

/// Maximum length of a prefix from a record, in bytes.
const MAX_PREFIX: usize = 64;

/// Maximum number of calls without an id that wait for a result.
const MAX_OPEN: usize = 1024;

/// The ids generated so far.
#[derive(Debug, Default)]
pub(super) struct GeneratedIds {
    prefix: Option<String>,
    made_count: u64,
    /// The calls without a result, in order.
    open: VecDeque<OpenCall>,
}

#[derive(Debug)]
struct OpenCall {
    id: ToolUseId,
    name: String,
    /// The number of its message.
    message: u64,
}

impl GeneratedIds {
    /// Sets the prefix of further ids; ignored if it is too long.
    pub(super) fn set_prefix(&mut self, prefix: String) {
        if prefix.len() <= MAX_PREFIX {
            self.prefix = Some(prefix);
        }
    }

    /// Returns an id for a call of this tool.
    pub(super) fn make_id(&mut self, name: &str, message: u64) -> ToolUseId {
        self.made_count += 1;
        let prefix = self.prefix.as_deref().unwrap_or(PREFIX);
        let id = ToolUseId(format!("{prefix}_{}", self.made_count));
        if self.open.len() == MAX_OPEN {
            self.open.pop_front();
        }
        self.open.push_back(OpenCall {
            id: id.clone(),
            name: name.to_owned(),
            message,
        });
        id
    }

    /// Returns the call that a result without an id belongs to: the first open one of this name (or of
    /// any), in the last message that has one.
    pub(super) fn take_open_id(&mut self, name: Option<&str>) -> Option<ToolUseId> {
        let fits = |open: &&OpenCall| name.is_none_or(|name| open.name == name);
        let message = self.open.iter().rev().find(fits)?.message;
        let is_first = |open: &OpenCall| open.message == message && fits(&open);
        let position = self.open.iter().position(is_first)?;
        self.open.remove(position).map(|open| open.id)
    }

    /// Removes the call with this id, which has a result.
    pub(super) fn record_result(&mut self, id: &str) {
        self.open.retain(|open| open.id.as_str() != id);
    }
}

/// Maximum length of an id that every API accepts.
const MAX_ID: usize = 40;

/// Returns an id that every API accepts and that no earlier call has. `taken` contains the ids of these
/// calls, each with the number that was last appended to it: some servers give every call the same id.
#[expect(clippy::implicit_hasher, reason = "every caller has the usual one")]
pub fn make_unique_id(id: &str, taken: &mut HashMap<String, usize>) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let replace_other = |c: char| if is_allowed(c) { c } else { '_' };
    let mut plain: String = id.chars().map(replace_other).take(MAX_ID).collect();
    if plain.is_empty() {
        plain.push_str("call");
    }
    let mut unique = plain.clone();
    let mut number = taken.get(&plain).copied().unwrap_or(1);
    while taken.contains_key(&unique) {
        number += 1;
        let end = format!("_{number}");
        unique.clone_from(&plain);
        unique.truncate(MAX_ID - end.len());
        unique.push_str(&end);
    }
    taken.insert(plain, number);
    taken.entry(unique.clone()).or_insert(1);
    unique
}
