//! `codex exec --json`: threads of turns, turns of items. Calls are items named after their effect.

use std::collections::HashSet;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use super::codex::read_usage;
use super::content::read_exit;
use super::stream_conversation::{StreamConversation, read_parts};
use turnpipe_core::json::{has_text, is_object, is_true, non_empty, non_null, object, text};
use turnpipe_core::message::{Block, ResultPart, ToolResult};

object! { Row { item, usage, message, error } }

object! {
    Item {
        kind = "type", id, text, command, output = "aggregated_output", exit_code, changes, server,
        tool, arguments, result, error, query, prompt, agents = "agents_states", items, status,
    }
}

object! { Change { path, kind } }
object! { McpResult { content } }
object! { Failure { message } }
object! { Todo { text, completed } }

/// The state between rows.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The calls of the turn that were emitted.
    started: HashSet<String>,
    /// The failure that was emitted last.
    failure: Option<String>,
}

impl Rows {
    /// Translates a row; `None` if it is of another type.
    pub(super) fn read_row(
        &mut self,
        kind: &str,
        row: &str,
        conversation: &mut StreamConversation,
    ) -> Option<()> {
        let row = Row::read(row)?;
        match kind {
            "thread.started" | "turn.started" => *self = Self::default(),
            "item.started" => self.start_item(&Item::from_raw(row.item)?, conversation)?,
            "item.completed" => self.complete_item(&Item::from_raw(row.item)?, conversation)?,
            "turn.completed" => {
                conversation.add_reading(read_usage(row.usage).unwrap_or_default(), "end_turn");
                conversation.end_run(Some("completed"));
            }
            "error" => self.add_failure(row.message, conversation)?,
            "turn.failed" => {
                conversation.end_run(Some("failed"));
                self.add_failure(Failure::from_raw(row.error)?.message, conversation)?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Adds a failure. Most are reported twice.
    fn add_failure(
        &mut self,
        reason: Option<&RawValue>,
        conversation: &mut StreamConversation,
    ) -> Option<()> {
        let reason = non_empty(reason)?.into_owned();
        if self.failure.as_ref() != Some(&reason) {
            conversation.push_failure(&reason);
            self.failure = Some(reason);
        }
        Some(())
    }

    fn start_item(&mut self, item: &Item<'_>, conversation: &mut StreamConversation) -> Option<()> {
        let kind = text(item.kind)?;
        let id = text(item.id)?;
        // The query of a search and the list of tasks are complete at the end of the item.
        if matches!(&*kind, "web_search" | "todo_list") {
            return Some(());
        }
        let (name, input) = read_call(&kind, item)?;
        conversation.push_call(&id, &name, Some(&input));
        self.started.insert(id.into_owned());
        Some(())
    }

    fn complete_item(
        &mut self,
        item: &Item<'_>,
        conversation: &mut StreamConversation,
    ) -> Option<()> {
        let kind = text(item.kind)?;
        let said = || Some(text(item.text)?.into_owned());
        match &*kind {
            "agent_message" => {
                conversation.start_text_message();
                conversation.push_reply(vec![Block::Text(said()?)]);
            }
            "reasoning" => {
                conversation.start_text_message();
                conversation.push_reply(vec![Block::thinking(said()?)]);
            }
            // A notice from Codex, not a failure.
            "error" => {}
            _ => {
                let id = text(item.id)?;
                let (name, input) = read_call(&kind, item)?;
                if !self.started.remove(&*id) {
                    conversation.push_call(&id, &name, Some(&input));
                }
                conversation.push_result(ToolResult {
                    id: id.into_owned(),
                    parts: read_result(item),
                    failed: has_failed(item),
                    end: read_exit(item.exit_code),
                });
            }
        }
        Some(())
    }
}

/// Returns an item as a call of a common tool.
fn read_call(kind: &str, item: &Item<'_>) -> Option<(String, Box<RawValue>)> {
    let (name, input) = match kind {
        "command_execution" => {
            let script = parse_script(&text(item.command)?);
            ("Bash", json!({"command": script}))
        }
        "file_change" => {
            let changes = Change::read_list(item.changes);
            let path = text(changes.first()?.path)?;
            let are_removed = changes.iter().all(|change| has_text(change.kind, "delete"));
            let name = if are_removed { "Delete" } else { "Edit" };
            (name, json!({"file_path": path, "changes": item.changes}))
        }
        "web_search" => ("WebSearch", json!({"query": text(item.query)?})),
        "todo_list" => {
            let steps = Todo::read_list(item.items);
            let steps = steps.iter().map(|step| {
                let status = if is_true(step.completed) {
                    "completed"
                } else {
                    "pending"
                };
                json!({"step": text(step.text), "status": status})
            });
            ("update_plan", json!({"plan": steps.collect::<Vec<_>>()}))
        }
        "mcp_tool_call" => {
            let tool = text(item.tool)?;
            let name = match non_empty(item.server) {
                Some(server) => format!("mcp__{server}__{tool}"),
                None => tool.into_owned(),
            };
            // Older versions omit them.
            let arguments = item.arguments.unwrap_or(RawValue::NULL);
            return Some((name, arguments.to_owned()));
        }
        "collab_tool_call" => {
            let input = json!({"prompt": non_null(item.prompt)});
            return Some((text(item.tool)?.into_owned(), to_raw_value(&input).ok()?));
        }
        _ => return None,
    };
    Some((name.to_owned(), to_raw_value(&input).ok()?))
}

/// Returns the command in a command line like `/bin/bash -lc 'git status'`.
fn parse_script(command: &str) -> String {
    match shlex::split(command).as_deref() {
        Some([_, option, script]) if option == "-lc" => script.clone(),
        _ => command.to_owned(),
    }
}

fn read_result(item: &Item<'_>) -> Vec<ResultPart> {
    if let Some(failure) = Failure::from_raw(item.error) {
        let message = text(failure.message).unwrap_or_default();
        return vec![ResultPart::Text(message.into_owned())];
    }
    if let Some(result) = McpResult::from_raw(item.result) {
        return read_parts(result.content);
    }
    let agents = || item.agents.filter(|agents| is_object(Some(agents)));
    let output = text(item.output).or_else(|| Some(agents()?.get().into()));
    // The text of a result in a session file for a declined call.
    let refusal =
        has_text(item.status, "declined").then_some("exec command rejected by user".into());
    let output = refusal.or(output).unwrap_or_default().into_owned();
    vec![ResultPart::Text(output)]
}

fn has_failed(item: &Item<'_>) -> bool {
    let is_zero = |code: &RawValue| matches!(code.get(), "0" | "null");
    text(item.status).is_some_and(|status| status == "failed" || status == "declined")
        || !item.exit_code.is_none_or(is_zero)
}
