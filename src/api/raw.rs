//! Unchanged parts of a reply, for the message in the next request of the same API.

use serde_json::{Map, Value};

/// Unchanged content of a record.
#[derive(Debug)]
pub(crate) enum RawDelta {
    Nothing,
    /// A streamed message with this id starts.
    Start(Value),
    /// The blocks of a message with this id. If it was streamed, they repeat it.
    Message {
        id: Value,
        parts: Vec<Value>,
    },
    /// A block starts.
    Block {
        index: Value,
        part: Value,
    },
    /// More of a block.
    MoreOfBlock {
        index: Value,
        delta: Value,
    },
    /// Parts, or items.
    Parts(Vec<Value>),
    /// All items, if none came before.
    Repeated(Vec<Value>),
    /// The members of a message, or more of them.
    Members(Value),
}

/// Members that come in pieces; all others come whole, some of them with each delta.
const IN_PIECES: [&str; 8] = [
    "content",
    "reasoning",
    "reasoning_content",
    "refusal",
    "arguments",
    "text",
    "thinking",
    "signature",
];

/// Adds a delta to the members of a message.
pub(crate) fn add_members(message: &mut Map<String, Value>, delta: Value) {
    let Value::Object(delta) = delta else {
        return;
    };
    for (key, more) in delta {
        match more {
            Value::Array(calls) if key == "tool_calls" => {
                let known = message
                    .entry(key)
                    .or_insert_with(|| Value::Array(Vec::new()));
                for call in calls {
                    add_call(known, call);
                }
            }
            more => add(message, &key, more),
        }
    }
}

/// Some servers leave the index out, give every call the same one, or repeat the id with every delta.
fn add_call(calls: &mut Value, delta: Value) {
    let (Value::Array(calls), Value::Object(delta)) = (calls, delta) else {
        return;
    };
    let member = |call: &Map<String, Value>, key: &str| {
        let value = call.get(key).cloned();
        value.filter(|value| !value.is_null() && value != "")
    };
    let name = |call: &Map<String, Value>| call.get("function")?.get("name").cloned();
    let (index, id) = (member(&delta, "index"), member(&delta, "id"));
    let is_continued = |call: &&mut Value| {
        let Value::Object(call) = &**call else {
            return false;
        };
        let known = member(call, "id");
        match (&index, &id) {
            (Some(_), None) => member(call, "index") == index,
            (Some(_), Some(_)) => {
                member(call, "index") == index && (known.is_none() || known == id)
            }
            (None, Some(_)) => known == id,
            (None, None) => name(call).is_none() || name(&delta).is_none(),
        }
    };
    match calls.iter_mut().rev().find(is_continued) {
        Some(Value::Object(call)) => add_members(call, Value::Object(delta)),
        _ => calls.push(Value::Object(delta)),
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
