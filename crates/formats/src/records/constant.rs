//! Types of members with a constant value, and names of values.

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Declares enums whose only value is a string.
macro_rules! constants {
    ($($name:ident = $text:literal,)+) => {$(
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
        #[schemars(inline)]
        #[allow(unreachable_pub, reason = "some are only in records of this crate")]
        pub enum $name {
            #[default]
            #[serde(rename = $text)]
            Only,
        }
    )+};
}

constants! {
    ExecutorSubtype = "executor",
    InitSubtype = "init",
    RetrySubtype = "api_retry",
    TurnEndSubtype = "turn_end",
    HookStoppedSubtype = "hook_stopped_continuation",
    PlanSubtype = "plan",
    StartSubtype = "session_start",
    CursorSubtype = "session_cursor",
    SwitchSubtype = "session_switch",
    NoteSubtype = "session_note",
    UsageSubtype = "usage",
    TextCheck = "text",
    ShellCheck = "shell",
    PermissionCheck = "permission",
    UserRole = "user",
}

/// Returns the name of a value in records.
pub fn serialize_name(value: impl Serialize) -> String {
    // Values of enums always serialize.
    let name = serde_json::to_value(value).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// Adds `type` to the schema of a tagged struct, which the derive omits: the first member, required,
/// with the constant value `kind`.
pub fn add_type(kind: &'static str) -> impl FnMut(&mut Schema) {
    move |schema: &mut Schema| {
        let schema = schema.ensure_object();
        let properties = get_member(schema, "properties", json!({}));
        if let Value::Object(members) = properties {
            members.shift_insert(0, "type".to_owned(), json!({ "const": kind }));
        }
        let required = get_member(schema, "required", json!([]));
        if let Value::Array(names) = required {
            names.insert(0, json!("type"));
        }
    }
}

fn get_member<'a>(schema: &'a mut Map<String, Value>, name: &str, empty: Value) -> &'a mut Value {
    schema.entry(name.to_owned()).or_insert(empty)
}
