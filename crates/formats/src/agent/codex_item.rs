//! The items of the Responses API in the files of Codex, and the changes of files in them.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::content::{
    has_shell_failed, new_call, new_reply, new_result, split_user, string, wrap_member,
};
use super::edits::{EditKind, FileEdit, diff_texts, new_file};
use crate::api::read_responses_parts;
use turnpipe_core::json::{has_text, is_true, non_null, object, text};
use turnpipe_core::message::{
    Block, CallEnd, CallOutcome, Media, Message, Origin, ResultPart, ToolResult,
};

object! {
    /// The payload of a row, which may be an item, or a bare item.
    Payload {
        kind = "type", id, role, content, summary, name, arguments, input, action, call_id, output,
        status, tools, result, prompt = "revised_prompt", query, cwd, git, model, forked_from = "forked_from_id", parent_thread = "parent_thread_id",
        base = "history_base", message, error, item, info, usage, thread_usage = "thread_token_usage", response_id, source, thread = "thread_id",
        thread_name, timestamp, settings = "thread_settings",
    }
}

object! { Output { content, output, success, metadata } }
object! { Metadata { exit_code } }

/// Returns the messages in an item of this time.
pub(super) fn read_item(item: &Payload<'_>, time: Option<&str>) -> Vec<Message> {
    let blocks = || read_content(item.content);
    match text(item.kind).as_deref() {
        Some("message") => {}
        Some("agent_message") => return read_agent_message(item, blocks()),
        _ => {
            let hosted = read_hosted_call(item, time);
            return read_step(item).into_iter().chain(hosted).collect();
        }
    }
    let blocks = blocks();
    match text(item.role).as_deref() {
        Some("assistant") => vec![new_reply(blocks)],
        Some("user") => split_user(Origin::Prompt, blocks),
        Some("developer" | "system") => split_user(Origin::Injected, blocks),
        _ => Vec::new(),
    }
}

object! { Part { kind = "type" } }

/// The beginning of the task of a subagent.
const TASK: &str = "Message Type: NEW_TASK";

/// Returns a message between agents. Its content may be encrypted.
fn read_agent_message(item: &Payload<'_>, mut blocks: Vec<Block>) -> Vec<Message> {
    let parts = Part::read_list(item.content).into_iter();
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
    split_user(origin, blocks)
}

/// Returns thinking, a call or a result.
fn read_step(item: &Payload<'_>) -> Option<Message> {
    let name = || string(item.name).unwrap_or_default();
    let call = |id, name, input| new_reply(vec![new_call(id, name, input)]);
    match text(item.kind)?.as_ref() {
        "reasoning" => {
            let mut thoughts = read_content(item.summary);
            thoughts.extend(read_content(item.content));
            let thoughts = thoughts.into_iter().filter_map(|block| match block {
                Block::Text(text) => Some(Block::thinking(text)),
                _ => None,
            });
            let blocks: Vec<Block> = thoughts.collect();
            (!blocks.is_empty()).then(|| new_reply(blocks))
        }
        "function_call" => Some(call(
            string(item.call_id)?,
            name(),
            read_arguments(item.arguments),
        )),
        "custom_tool_call" => Some(call(
            string(item.call_id)?,
            name(),
            wrap_member("input", item.input),
        )),
        "local_shell_call" => Some(call(
            string(item.call_id).or_else(|| string(item.id))?,
            "local_shell".to_owned(),
            wrap_member("action", item.action),
        )),
        "tool_search_call" => Some(call(
            string(item.call_id)?,
            "tool_search".to_owned(),
            read_arguments(item.arguments),
        )),
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let result = read_output(string(item.call_id)?, item.output);
            Some(new_result(result))
        }
        "tool_search_output" => {
            let found = item.tools.map_or("", RawValue::get).to_owned();
            Some(new_result(ToolResult {
                id: string(item.call_id)?,
                parts: vec![ResultPart::Text(found)],
                ..ToolResult::default()
            }))
        }
        _ => None,
    }
}

/// Returns a call that the server ran, and its result: no other record has it. Older versions record no id.
pub(super) fn read_hosted_call(item: &Payload<'_>, time: Option<&str>) -> Vec<Message> {
    let kind = text(item.kind).unwrap_or_default();
    let (name, input, output) = match &*kind {
        "web_search_call" | "WebSearch" => {
            let query = || wrap_member("query", item.query);
            let action = non_null(item.action).map(ToOwned::to_owned);
            ("web_search", action.unwrap_or_else(query), None)
        }
        "image_generation_call" => {
            let image = string(item.result).map(|data| Media {
                media_type: "image/png".to_owned(),
                data: Some(data),
            });
            (
                "image_generation",
                wrap_member("prompt", item.prompt),
                image,
            )
        }
        _ => return Vec::new(),
    };
    let id = string(item.id).or_else(|| string(item.call_id));
    let id = id.unwrap_or_else(|| format!("{name} {}", time.unwrap_or_default()));
    let call = new_call(id.clone(), name.to_owned(), input);
    let mut messages = vec![new_reply(vec![call])];
    if text(item.status).is_none_or(|status| status != "in_progress") {
        messages.push(new_result(ToolResult {
            id,
            parts: output.map(ResultPart::Media).into_iter().collect(),
            failed: has_text(item.status, "failed"),
            end: None,
        }));
    }
    messages
}

/// Returns the blocks of `content`, which is a string or a list.
pub(super) fn read_content(raw: Option<&RawValue>) -> Vec<Block> {
    let parts = read_responses_parts(raw).into_iter();
    parts.map(Block::from).collect()
}

/// Returns the arguments, which are JSON in a string. Anything else is kept unchanged.
fn read_arguments(raw: Option<&RawValue>) -> Box<RawValue> {
    let parsed = text(raw).and_then(|json| RawValue::from_string(json.into_owned()).ok());
    parsed
        .or_else(|| raw.map(ToOwned::to_owned))
        .unwrap_or_default()
}

/// Returns the result of a call: a string (possibly JSON itself), an object, or a list.
fn read_output(id: String, raw: Option<&RawValue>) -> ToolResult {
    let plain = text(raw);
    let object = match &plain {
        Some(json) if json.starts_with('{') => Output::read(json),
        Some(_) => None,
        None => Output::from_raw(raw),
    };
    let object = object.unwrap_or_default();
    let code = Metadata::from_raw(object.metadata).and_then(|metadata| metadata.exit_code);
    let outcome = CallOutcome::from_result(plain.as_deref().unwrap_or_default(), false);
    let failed = code.is_some_and(|code| code.get() != "0")
        || object.success.is_some_and(|raw| raw.get() == "false")
        || outcome != CallOutcome::Ok;
    let parts = match text(object.output.or(object.content)).or_else(|| plain.clone()) {
        Some(text) => vec![ResultPart::Text(text.into_owned())],
        None => read_responses_parts(raw),
    };
    ToolResult {
        id,
        failed: failed || has_shell_failed(&parts),
        parts,
        end: (outcome == CallOutcome::Interrupted).then_some(CallEnd::Interrupted),
    }
}

object! { Row { payload: Changed<'a> } }
object! { Changed { kind = "type", id, call_id, item, changes, status, success } }
object! { Change { kind = "type", content, diff = "unified_diff", moved_to = "move_path" } }

/// Returns the changes in a record: an item, or an event of older versions.
pub(super) fn read_edits(record: &str) -> Vec<FileEdit> {
    let payload = Row::read(record).and_then(|row| row.payload);
    let item = payload.and_then(|payload| match text(payload.kind)?.as_ref() {
        "patch_apply_end" => Some(payload),
        _ => Changed::from_raw(payload.item).filter(|item| has_text(item.kind, "FileChange")),
    });
    let Some(item) = item else {
        return Vec::new();
    };
    let is_done = has_text(item.status, "completed") || is_true(item.success);
    let id = || string(item.id).or_else(|| string(item.call_id));
    let changes: BTreeMap<String, &RawValue> = item
        .changes
        .filter(|_| is_done)
        .and_then(|json| serde_json::from_str(json.get()).ok())
        .unwrap_or_default();
    let edits = changes.into_iter().filter_map(|(path, raw)| {
        let change = Change::from_raw(Some(raw))?;
        let call = id();
        match text(change.kind)?.as_ref() {
            "add" => Some(new_file(call, path, &text(change.content)?)),
            "delete" => Some(FileEdit {
                kind: EditKind::Remove,
                hunks: diff_texts(&text(change.content)?, ""),
                ..new_file(call, path, "")
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
