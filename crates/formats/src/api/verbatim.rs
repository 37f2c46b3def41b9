//! Replies as JSON, for the message in the next request of the same API. Unknown members are
//! kept, so these values are merged without interpretation; blocks and calls come from deltas.

use serde_json::{Map, Value};

use super::request::Delivery;

/// The part of a reply in a record, as JSON.
#[derive(Debug)]
pub(crate) enum Verbatim {
    Nothing,
    /// A streamed message with this id starts.
    Start(Value),
    /// The blocks of a message with this id. If it was streamed, they repeat the deltas.
    Message {
        id: Value,
        parts: Vec<Value>,
    },
    /// A block starts.
    Block {
        index: Value,
        part: Value,
    },
    /// A delta of a block.
    MoreOfBlock {
        index: Value,
        delta: Value,
    },
    /// Parts, or items.
    Parts(Vec<Value>),
    /// All items; used only if none came before.
    Repeated(Vec<Value>),
    /// Members of a message, or deltas of them.
    Members(Map<String, Value>, Delivery),
}

/// The input of a block, as fragments of JSON.
pub(crate) const PARTIAL_INPUT: &str = "partial_json";

/// Members that arrive in fragments; all others arrive whole, some of them with each delta.
const FRAGMENTED: [&str; 9] = [
    "content",
    "reasoning",
    "reasoning_content",
    "refusal",
    "arguments",
    "text",
    "thinking",
    "signature",
    PARTIAL_INPUT,
];

/// Merges a delta into the members of a message, block or call.
pub(crate) fn merge_members(members: &mut Map<String, Value>, delta: Map<String, Value>) {
    for (key, more) in delta {
        add_member(members, &key, more);
    }
}

/// Adds a value to the member `key`.
fn add_member(members: &mut Map<String, Value>, key: &str, more: Value) {
    match (members.get_mut(key), more) {
        (Some(_), Value::Null) => {}
        (Some(Value::String(_)), Value::String(more)) if more.is_empty() => {}
        (Some(Value::String(known)), Value::String(more)) if FRAGMENTED.contains(&key) => {
            known.push_str(&more);
        }
        (Some(Value::Object(known)), Value::Object(more)) => merge_members(known, more),
        (_, more) => {
            members.insert(key.to_owned(), more);
        }
    }
}
