//! Replies as JSON, for the message in the next request of the same API. Members that turnpipe does
//! not know are kept, so these values are merged without interpretation; blocks and calls come from deltas.

use serde_json::{Map, Value, json};

use super::delta::CallMarks;

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
    Members(Value),
}

/// The input of a block, as fragments of JSON.
pub(crate) const PARTIAL_INPUT: &str = "partial_json";

/// The calls of a message.
const CALLS: &str = "tool_calls";

/// Members that arrive in fragments; all others arrive whole, some of them with each delta.
const IN_PIECES: [&str; 9] = [
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

/// Merges a delta into the members of a message or block.
pub(crate) fn merge_members(message: &mut Map<String, Value>, delta: Value) {
    let Value::Object(delta) = delta else {
        return;
    };
    for (key, more) in delta {
        match more {
            Value::Array(calls) if key == CALLS => {
                let known = message
                    .entry(key)
                    .or_insert_with(|| Value::Array(Vec::new()));
                for call in calls {
                    merge_call(known, call);
                }
            }
            more => add(message, &key, more),
        }
    }
}

/// Returns a merged message, without the numbers that calls have only in streams.
pub(crate) fn merged_message(mut members: Map<String, Value>) -> Value {
    members.entry("role").or_insert(json!("assistant"));
    let calls = members.get_mut(CALLS).and_then(Value::as_array_mut);
    for call in calls.into_iter().flatten() {
        call.as_object_mut().map(|call| call.remove("index"));
    }
    Value::Object(members)
}

fn merge_call(calls: &mut Value, delta: Value) {
    fn marks(call: &Value) -> CallMarks<'_> {
        CallMarks {
            index: call["index"].as_u64(),
            id: call["id"].as_str().filter(|id| !id.is_empty()),
            has_name: call["function"]["name"].is_string(),
        }
    }
    let (Value::Array(calls), true) = (calls, delta.is_object()) else {
        return;
    };
    let known = calls.iter().enumerate();
    let continued = marks(&delta).continued(known.map(|(at, call)| (at, marks(call))));
    match continued.and_then(|at| calls[at].as_object_mut()) {
        Some(call) => merge_members(call, delta),
        None => calls.push(delta),
    }
}

/// Adds a value to the member `key`.
fn add(members: &mut Map<String, Value>, key: &str, more: Value) {
    match (members.get_mut(key), more) {
        (Some(_), Value::Null) => {}
        (Some(Value::String(_)), Value::String(more)) if more.is_empty() => {}
        (Some(Value::String(known)), Value::String(more)) if IN_PIECES.contains(&key) => {
            known.push_str(&more);
        }
        (Some(Value::Object(known)), Value::Object(more)) => {
            for (key, more) in more {
                add(known, &key, more);
            }
        }
        (_, more) => {
            members.insert(key.to_owned(), more);
        }
    }
}
