//! `TodoWrite`: the session's to-do list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::builtin::Parameters;
use super::{
    Assessment, CallContext, ContextChange, DecisionContext, InvalidInput, PreparedCall,
    ToolFailure, ToolReply,
};

const MESSAGE: &str = "Todos have been modified successfully. Ensure that you continue to use the \
    todo list to track your progress. Please proceed with the current tasks if applicable";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TodoWrite {
    /// The whole new list
    todos: Vec<Todo>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Todo {
    /// What is to be done, e.g. Run the tests
    #[schemars(length(min = 1))]
    content: String,
    status: Status,
    /// The same while it is being done, e.g. Running the tests
    #[schemars(length(min = 1))]
    active_form: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

impl Parameters for TodoWrite {
    const NAME: &'static str = "TodoWrite";
    const DESCRIPTION: &'static str = "Replaces the session's to-do list. Use it to plan work of \
        several steps and to show progress: mark one item as in_progress while it is being done \
        and as completed at once when it is.";

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let is_blank =
            |todo: &Todo| todo.content.trim().is_empty() || todo.active_form.trim().is_empty();
        match self.todos.iter().position(is_blank) {
            Some(index) => Err(InvalidInput(format!(
                "todos[{index}]: content and activeForm must not be blank"
            ))),
            None => Ok(Box::new(self)),
        }
    }
}

impl PreparedCall for TodoWrite {
    /// Returns an access to nothing: the list is not in the file system, and a placeholder path would make
    /// this call a writer that needs permission. Calls of one batch need no order, since each replaces the
    /// whole list and changes are applied in call order.
    fn assess(&self, _: &DecisionContext) -> Assessment {
        Assessment::harmless(Self::NAME)
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let todos = json!(self.todos);
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
        let reply = session.call::<TodoWrite>(json!({ "todos": new })).unwrap();
        assert_eq!(
            reply.structured,
            json!({ "oldTodos": old, "newTodos": new })
        );
        assert_eq!(reply.changes, [ContextChange::Todos(new)]);
        let access = session.access::<TodoWrite>(&json!({ "todos": [] }));
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
                    .call::<TodoWrite>(json!({ "todos": [item] }))
                    .is_err(),
                "{item}"
            );
        }
        assert!(session.call::<TodoWrite>(json!({ "todos": [] })).is_ok());
    }
}
