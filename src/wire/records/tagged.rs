//! Puts the member `type` of a tagged struct into its schema, which the derive leaves out.

use schemars::Schema;
use serde_json::{Map, Value, json};

/// A schema transform: `type` comes first, is required and always `kind`.
pub(super) fn tagged(kind: &'static str) -> impl FnMut(&mut Schema) {
    move |schema: &mut Schema| {
        let schema = schema.ensure_object();
        let properties = member(schema, "properties", json!({}));
        if let Value::Object(members) = properties {
            members.shift_insert(0, "type".to_owned(), json!({ "const": kind }));
        }
        let required = member(schema, "required", json!([]));
        if let Value::Array(names) = required {
            names.insert(0, json!("type"));
        }
    }
}

fn member<'a>(schema: &'a mut Map<String, Value>, name: &str, empty: Value) -> &'a mut Value {
    schema.entry(name.to_owned()).or_insert(empty)
}
