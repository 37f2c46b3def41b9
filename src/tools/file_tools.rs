//! The built-in tools that work on files, and the to-do list.

use std::sync::Arc;

use super::Tool;
use super::edit::Edit;
use super::glob::Glob;
use super::grep::Grep;
use super::ls::Ls;
use super::read::Read;
use super::todo_write::TodoWrite;
use super::write::Write;

/// All of them, sorted by name.
pub fn file_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Edit),
        Arc::new(Glob),
        Arc::new(Grep),
        Arc::new(Ls),
        Arc::new(Read),
        Arc::new(TodoWrite),
        Arc::new(Write),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn declarations_are_complete_and_sorted() {
        let tools = file_tools();
        assert!(tools.is_sorted_by_key(|tool| tool.name()));
        for tool in tools {
            let schema = tool.input_schema();
            assert!(jsonschema::meta::is_valid(schema), "{}", tool.name());
            assert_eq!(schema["additionalProperties"], Value::Bool(false));
            assert!(!tool.description().is_empty());
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(
                    property["description"].is_string(),
                    "{} {name}",
                    tool.name()
                );
            }
        }
    }
}
