//! `TodoWrite`: the session's to-do list.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Access, AccessError, CallContext, ContextChange, Input, InvalidInput, Tool, ToolContext,
    ToolFailure, ToolReply, arguments,
};

const MESSAGE: &str = "Todos have been modified successfully. Ensure that you continue to use the \
    todo list to track your progress. Please proceed with the current tasks if applicable";

/// Replaces the to-do list.
#[derive(Debug)]
pub struct TodoWrite;

#[derive(Debug, Deserialize)]
struct Arguments {
    todos: Vec<Todo>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Todo {
    content: String,
    status: Status,
    active_form: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "todos": {
                "type": "array",
                "description": "The whole new list",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {
                            "type": "string",
                            "minLength": 1,
                            "description": "What is to be done, e.g. Run the tests",
                        },
                        "status": {
                            "type": "string",
                            "enum": ["pending", "in_progress", "completed"],
                        },
                        "activeForm": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The same while it is being done, e.g. Running the tests",
                        },
                    },
                    "required": ["content", "status", "activeForm"],
                    "additionalProperties": false,
                },
            },
        },
        "required": ["todos"],
        "additionalProperties": false,
    })
});

impl Tool for TodoWrite {
    fn name(&self) -> &'static str {
        "TodoWrite"
    }

    fn description(&self) -> &'static str {
        "Replaces the session's to-do list. Use it to plan work of several steps and to show \
         progress: mark one item as in_progress while it is being done and as completed at once \
         when it is."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    /// Nothing: the list is no place in the file system, and a made-up one would make a call that
    /// harms nobody count as a writer, to be asked about or denied. Two calls of one batch need
    /// no order between them, because each replaces the whole list and the changes are applied
    /// in call order afterwards; the last one wins either way.
    fn access(&self, _: &Input, _: &ToolContext) -> Result<Access, AccessError> {
        Ok(Access::nothing())
    }

    fn validate(&self, input: &Input, _: &ToolContext) -> Result<(), InvalidInput> {
        let arguments: Arguments = arguments::parse(input)?;
        for (index, todo) in arguments.todos.iter().enumerate() {
            if todo.content.trim().is_empty() || todo.active_form.trim().is_empty() {
                return Err(InvalidInput(format!(
                    "todos[{index}]: content and activeForm must not be blank"
                )));
            }
        }
        Ok(())
    }

    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        self.validate(input, call.session)?;
        let arguments: Arguments = arguments::parse(input)?;
        let todos = json!(arguments.todos);
        let structured = json!({ "oldTodos": *call.session.todos, "newTodos": todos });
        Ok(ToolReply {
            changes: vec![ContextChange::Todos(todos)],
            ..ToolReply::text(MESSAGE, structured)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::test_context::Session;
    use super::*;

    #[test]
    fn the_list_is_replaced() {
        let mut session = Session::new();
        let old = json!([{ "content": "Rest", "status": "pending", "activeForm": "Resting" }]);
        session.context.todos = Arc::new(old.clone());
        let new = json!([
            { "content": "Rest", "status": "completed", "activeForm": "Resting" },
            { "content": "Work", "status": "in_progress", "activeForm": "Working" },
        ]);
        let reply = session.call(&TodoWrite, json!({ "todos": new })).unwrap();
        assert_eq!(
            reply.structured,
            json!({ "oldTodos": old, "newTodos": new })
        );
        assert_eq!(reply.changes, [ContextChange::Todos(new)]);
        let input = Input::new();
        let access = TodoWrite.access(&input, &session.context).unwrap();
        assert!(access.is_read_only());
    }

    #[test]
    fn unusable_items_are_refused() {
        let session = Session::new();
        let bad = [
            json!({ "content": "a", "status": "done", "activeForm": "b" }),
            json!({ "content": "", "status": "pending", "activeForm": "b" }),
            json!({ "content": "a", "status": "pending", "activeForm": " " }),
            json!({ "content": "a", "status": "pending" }),
            json!({ "content": "a", "status": "pending", "activeForm": "b", "id": "1" }),
        ];
        for item in bad {
            assert!(
                session
                    .call(&TodoWrite, json!({ "todos": [item] }))
                    .is_err(),
                "{item}"
            );
        }
        assert!(session.call(&TodoWrite, json!({ "todos": [] })).is_ok());
    }
}
