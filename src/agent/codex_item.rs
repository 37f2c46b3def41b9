//! The items of the Responses API in the files of Codex, and the changes of files in them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::content::{call, reply, results, shell_failed, string, user_messages};
use super::edits::{EditKind, FileEdit, added, unified};
use crate::api::responses_parts;
use crate::json::{object, text};
use crate::message::{Block, Message, Origin, ResultPart, ToolResult};

object! {
    /// The payload of a row, which may be an item, or a bare item.
    Payload {
        kind = "type", id, role, content, summary, name, arguments, input, action, call_id, output,
        cwd, git, model, forked_from = "forked_from_id", parent_thread = "parent_thread_id",
        base = "history_base", message, error, item, info, usage, thread_usage = "thread_token_usage", response_id, source, thread = "thread_id",
        thread_name, timestamp, settings = "thread_settings",
    }
}

object! { Output { content, output, success, metadata } }
object! { Metadata { exit_code } }

/// The beginnings of results of calls to an unknown tool, and of patches that do not apply.
const FAILURES: [&str; 2] = ["unsupported call: ", "apply_patch verification failed: "];

/// Returns the message in an item.
pub(super) fn item_messages(item: &Payload<'_>) -> Vec<Message> {
    let blocks = || content(item.content);
    match text(item.kind).as_deref() {
        Some("message") => {}
        Some("agent_message") => return agent_message(item, blocks()),
        _ => return step(item).into_iter().collect(),
    }
    let blocks = blocks();
    match text(item.role).as_deref() {
        Some("assistant") => vec![reply(blocks)],
        Some("user") => user_messages(Origin::Prompt, blocks),
        Some("developer" | "system") => user_messages(Origin::Injected, blocks),
        _ => Vec::new(),
    }
}

object! { Part { kind = "type" } }

/// The beginning of the task of a subagent.
const TASK: &str = "Message Type: NEW_TASK";

/// Returns a message between agents. Its content may be encrypted.
fn agent_message(item: &Payload<'_>, mut blocks: Vec<Block>) -> Vec<Message> {
    let parts = Part::list(item.content).into_iter();
    if parts
        .filter_map(|part| text(part.kind))
        .any(|kind| kind == "encrypted_content")
    {
        blocks.push(Block::Text("(encrypted)".to_owned()));
    }
    let is_task = blocks.iter().all(|block| matches!(block, Block::Text(text) if text.starts_with(TASK) || text == "(encrypted)"));
    let origin = if is_task {
        Origin::Prompt
    } else {
        Origin::Injected
    };
    user_messages(origin, blocks)
}

/// Returns thinking, a call or a result.
fn step(item: &Payload<'_>) -> Option<Message> {
    let name = || string(item.name).unwrap_or_default();
    let call = |id, name, input| reply(vec![call(id, name, input)]);
    match text(item.kind)?.as_ref() {
        "reasoning" => {
            let mut thoughts = content(item.summary);
            thoughts.extend(content(item.content));
            let thoughts = thoughts.into_iter().filter_map(|block| match block {
                Block::Text(text) => Some(Block::thinking(text)),
                _ => None,
            });
            let blocks: Vec<Block> = thoughts.collect();
            (!blocks.is_empty()).then(|| reply(blocks))
        }
        "function_call" => Some(call(
            string(item.call_id)?,
            name(),
            arguments(item.arguments),
        )),
        "custom_tool_call" => Some(call(
            string(item.call_id)?,
            name(),
            wrapped("input", item.input),
        )),
        "local_shell_call" => Some(call(
            string(item.call_id).or_else(|| string(item.id))?,
            "local_shell".to_owned(),
            wrapped("action", item.action),
        )),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let result = output(string(item.call_id)?, item.output);
            Some(results(vec![Block::Result(result)]))
        }
        _ => None,
    }
}

/// Returns the blocks of `content`, which is a string or a list.
pub(super) fn content(raw: Option<&RawValue>) -> Vec<Block> {
    responses_parts(raw).into_iter().map(Block::from).collect()
}

/// Returns the arguments, which are JSON in a string. Anything else is kept unchanged.
fn arguments(raw: Option<&RawValue>) -> Box<RawValue> {
    let parsed = text(raw).and_then(|json| RawValue::from_string(json.into_owned()).ok());
    parsed
        .or_else(|| raw.map(ToOwned::to_owned))
        .unwrap_or_default()
}

/// Builds an object with one member.
fn wrapped(name: &str, raw: Option<&RawValue>) -> Box<RawValue> {
    let value = raw.map_or("null", RawValue::get);
    RawValue::from_string(format!("{{\"{name}\":{value}}}")).unwrap_or_default()
}

/// Returns the result of a call: a string (possibly JSON itself), an object, or a list.
fn output(id: String, raw: Option<&RawValue>) -> ToolResult {
    let plain = text(raw);
    let object = match &plain {
        Some(json) if json.starts_with('{') => Output::read(json),
        Some(_) => None,
        None => Output::of(raw),
    };
    let object = object.unwrap_or_default();
    let code = Metadata::of(object.metadata).and_then(|metadata| metadata.exit_code);
    let failed = code.is_some_and(|code| code.get() != "0")
        || object.success.is_some_and(|raw| raw.get() == "false")
        || plain
            .as_ref()
            .is_some_and(|text| FAILURES.iter().any(|failure| text.starts_with(failure)));
    let parts = match text(object.output.or(object.content)).or_else(|| plain.clone()) {
        Some(text) => vec![ResultPart::Text(text.into_owned())],
        None => responses_parts(raw),
    };
    ToolResult {
        id,
        failed: failed || shell_failed(&parts),
        parts,
    }
}

object! { Row { payload: Payload<'a> } }
object! { Item { kind = "type", id, changes, status } }
object! { Change { kind = "type", content, diff = "unified_diff", moved_to = "move_path" } }

/// Returns the changes in a record.
pub(super) fn changes(record: &str) -> Vec<FileEdit> {
    let payload = Row::read(record).and_then(|row| row.payload);
    let Some(item) = payload.and_then(|payload| Item::of(payload.item)) else {
        return Vec::new();
    };
    let is_done = text(item.kind).as_deref() == Some("FileChange")
        && text(item.status).as_deref() == Some("completed");
    let changes = item.changes.filter(|_| is_done).map(RawValue::get);
    let changes = changes.and_then(|json| serde_json::from_str(json).ok());
    let changes: BTreeMap<String, &RawValue> = changes.unwrap_or_default();
    let edits = changes.into_iter().filter_map(|(path, raw)| {
        let change = Change::of(Some(raw))?;
        let call = string(item.id);
        match text(change.kind)?.as_ref() {
            "add" => Some(added(call, path, &text(change.content)?)),
            "delete" => Some(FileEdit {
                kind: EditKind::Remove,
                hunks: unified(&text(change.content)?, ""),
                ..added(call, path, "")
            }),
            _ => Some(FileEdit {
                call,
                path,
                moved_to: string(change.moved_to),
                kind: EditKind::Change,
                // A file may only be moved.
                hunks: text(change.diff)?.into_owned(),
            }),
        }
    });
    edits.collect()
}
