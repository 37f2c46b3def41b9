//! Ids for calls that come without one. Some APIs leave it out, some servers forget it.
//!
//! They are counted in the order of the input, so that whoever reads the same stream makes the same
//! ids. Their beginning is in the `system/executor` record of the stream, and another one in each
//! run, so that no other run of the session makes the same ones.

use std::collections::VecDeque;

use crate::message::ToolUseId;

/// How the ids begin where no record says so.
const PREFIX: &str = "turnpipe_call";

/// The longest beginning that a record may give, in bytes.
const LONGEST_PREFIX: usize = 64;

/// At most this many calls without an id wait for a result.
const OPEN_CALLS: usize = 1024;

/// The ids made so far.
#[derive(Debug, Default)]
pub(super) struct MadeIds {
    prefix: Option<String>,
    made: u64,
    /// The calls without a result, in order.
    open: VecDeque<Open>,
}

#[derive(Debug)]
struct Open {
    id: ToolUseId,
    name: String,
    /// The number of its message.
    message: u64,
}

impl MadeIds {
    /// From here on ids begin like this.
    pub(super) fn set_prefix(&mut self, prefix: String) {
        if prefix.len() <= LONGEST_PREFIX {
            self.prefix = Some(prefix);
        }
    }

    /// An id for a call of this tool.
    pub(super) fn make(&mut self, name: &str, message: u64) -> ToolUseId {
        self.made += 1;
        let prefix = self.prefix.as_deref().unwrap_or(PREFIX);
        let id = ToolUseId(format!("{prefix}_{}", self.made));
        if self.open.len() == OPEN_CALLS {
            self.open.pop_front();
        }
        self.open.push_back(Open {
            id: id.clone(),
            name: name.to_owned(),
            message,
        });
        id
    }

    /// The call that a result without an id answers: of the last message that has an open call of
    /// this name, or of any, the first one.
    pub(super) fn answer(&mut self, name: Option<&str>) -> Option<ToolUseId> {
        let fits = |open: &&Open| name.is_none_or(|name| open.name == name);
        let message = self.open.iter().rev().find(fits)?.message;
        let first = |open: &Open| open.message == message && fits(&open);
        let position = self.open.iter().position(first)?;
        self.open.remove(position).map(|open| open.id)
    }

    /// A result names its call.
    pub(super) fn answered(&mut self, id: &str) {
        self.open.retain(|open| open.id.as_str() != id);
    }
}
