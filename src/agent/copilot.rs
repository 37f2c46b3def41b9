//! GitHub Copilot CLI: `~/.copilot/session-state/<session>/events.jsonl`, with the name of the session in
//! `workspace.yaml` next to it.
//!
//! The system prompt is never read, because the user did not write it.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use serde_json::value::RawValue;

use super::agent::Agent;
use super::content::{
    call, decimal, input_of, is_true, is_unique_id, note, reply, results, session_stem,
    shell_failed, string, tokens_with_cached_input,
};
use super::edits::{FileEdit, edit, hunks_with_end_line};
use super::facts::Facts;
use super::format::{Detail, Entry, Format, Meter, Part};
use super::hook_settings::HookSettings;
use super::sign::Row as Marks;
use super::title::{ManualTitle, StoredTitle, TitleSource};
use crate::io::read_regular;
use crate::json::{is_object, object, text};
use crate::message::{Block, Message, Origin, ResultPart, Role, ToolResult, Usage};

/// The format of GitHub Copilot CLI.
pub(super) static COPILOT: Format = Format {
    title_words: &["\"workspace.name\""],
    cost_words: &[
        "\"session.usage_record\"",
        "\"session.shutdown\"",
        "\"session.start\"",
        "\"session.resume\"",
        "\"session.model_change\"",
        "\"session.compaction_complete\"",
        "\"assistant.message\"",
    ],
    activity_words: &["\"user.message\"", "\"tool.execution_complete\""],
    has_global_ids: true,
    has_meter_records: true,
    // Events in this spelling have the input and the responses of Claude Code.
    hook_settings: Some(HookSettings {
        user: (HOME, ".copilot"),
        project: ".github/copilot/settings.json",
        activation: "new sessions use it; in a project, the directory must be trusted",
        ..HookSettings::JSON
    }),
    home_variables: HOME,
    home: ".copilot",
    session_dirs: &["session-state"],
    beside,
    // Older versions have no directory for each session.
    belongings: |session, _| {
        let dir = session.parent().filter(|dir| {
            let is_events = session_stem(session).is_some_and(|stem| stem == "events");
            is_events && dir.file_name().is_some_and(is_unique_id)
        });
        dir.map(Path::to_owned).into_iter().collect()
    },
    resume: |id, _| Some(format!("copilot --resume={id}")),
    edits: |record, _| change(record).into_iter().collect(),
    ..Format::new(Agent::Copilot, read, wrote)
};

const HOME: &[&str] = &["COPILOT_HOME"];

object! {
    Row {
        kind = "type", id, parent = "parentId", time = "timestamp", data: Data<'a>, agent = "agentId",
    }
}

object! {
    Data {
        session = "sessionId", context: Context<'a>, selected_model = "selectedModel", new_model = "newModel",
        model, content, source, message_id = "messageId", reasoning = "reasoningText",
        requests = "toolRequests", call_id = "toolCallId", success, result: Outcome<'a>,
        error: Failure<'a>, shell: Shell<'a> = "shellExecution", usage: Tokens<'a>,
        models = "modelMetrics", snapshot: Snapshot<'a> = "accountingSnapshot",
        summary = "summaryContent", text = "message", name, user_named,
    }
}

object! { Context { cwd, branch } }
object! { Outcome { content } }
object! { Failure { message } }
object! { Shell { exit = "exitCode" } }
object! { Snapshot { models = "modelMetrics" } }
object! { Request { id = "toolCallId", name, arguments } }
object! { ModelTokens { usage: Tokens<'a> } }
object! { Accounting { id = "usageId" } }

object! {
    Tokens {
        input = "inputTokens", output = "outputTokens", cache_read = "cacheReadTokens",
        cache_write = "cacheWriteTokens", model, accounting: Accounting<'a>, call = "apiCallId",
        nano_units = "totalNanoAiu",
    }
}

fn wrote(row: &Marks<'_>) -> bool {
    is_object(row.data) && text(row.kind).is_some_and(|kind| kind.contains('.'))
}

/// Returns the name of a session.
fn beside(session: &Path) -> Vec<String> {
    let yaml = read_regular(&session.with_file_name("workspace.yaml"));
    let yaml = yaml.unwrap_or_default();
    let member = |key: &str| {
        let mut lines = yaml.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))?;
        // A string in quotation marks is also JSON.
        Some(serde_json::from_str(value).unwrap_or_else(|_| value.to_owned()))
    };
    let row = member("name")
        .filter(|name: &String| !name.is_empty())
        .map(|name| {
            let user_named = member("user_named").as_deref() == Some("true");
            json!({"type": "workspace.name", "data": {"name": name, "user_named": user_named}})
        });
    row.iter().map(ToString::to_string).collect()
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let kind = string(row.kind).unwrap_or_default();
    let data = row.data.unwrap_or_default();
    let is_subagent = row.agent.is_some();
    let mut entry = Entry {
        is_known: kind.contains('.') || kind == "abort",
        uuid: string(row.id),
        parent: string(row.parent),
        part: if is_subagent { Part::Side } else { Part::Turn },
        time: string(row.time),
        facts: facts(&row, &data, &kind),
        title: title(&data, &kind),
        meter: meter(&data, &kind),
        kind,
        ..Entry::default()
    };
    if detail != Detail::Outline {
        let said = said(&row, &data, &entry.kind);
        entry = entry.saying(said);
    }
    Some(entry)
}

fn facts(row: &Row<'_>, data: &Data<'_>, kind: &str) -> Facts {
    let is_start = kind == "session.start";
    let context = data.context.unwrap_or_default();
    let models = [data.selected_model, data.new_model, data.model];
    let of_request = data.usage.and_then(|usage| usage.model);
    let model = models.into_iter().chain([of_request]).find_map(string);
    Facts {
        session_id: string(data.session).filter(|_| is_start),
        is_head: is_start,
        is_subagent: row.agent.is_some(),
        branch: string(context.branch),
        model: model.filter(|_| kind != "tool.execution_complete"),
        ..Facts::at(row.time)
    }
    .in_directory(string(context.cwd))
}

fn title(data: &Data<'_>, kind: &str) -> Option<StoredTitle> {
    let name = text(data.name).filter(|_| kind == "workspace.name")?;
    let source = if is_true(data.user_named) {
        TitleSource::Manual
    } else {
        TitleSource::Auto
    };
    Some(StoredTitle::new(name, source, None, ManualTitle::Keep))
}

/// Returns the tokens of a request. Older versions only record the sum at the end of each run.
fn meter(data: &Data<'_>, kind: &str) -> Option<Meter> {
    match kind {
        "session.usage_record" => {
            let tokens = data.usage?;
            let id = tokens.accounting.and_then(|accounting| accounting.id);
            Some(Meter::Request {
                id: string(id.or(tokens.call))?,
                usage: Usage {
                    cost: nano_units(tokens.nano_units),
                    ..usage(tokens)
                },
                is_first: false,
            })
        }
        "session.shutdown" => {
            let snapshot = data.snapshot.and_then(|snapshot| snapshot.models);
            let models: BTreeMap<String, &RawValue> =
                serde_json::from_str(snapshot.or(data.models)?.get()).ok()?;
            let mut total = Usage::default();
            for model in models.values() {
                total += usage(ModelTokens::of(Some(model))?.usage?);
            }
            Some(Meter::Reading { last: None, total })
        }
        _ => None,
    }
}

fn usage(tokens: Tokens<'_>) -> Usage {
    tokens_with_cached_input([
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
    ])
}

/// Returns a cost in dollars: a billion units are a credit of one cent.
fn nano_units(raw: Option<&RawValue>) -> Option<f64> {
    Some(decimal(raw)? / 1e11)
}

fn said(row: &Row<'_>, data: &Data<'_>, kind: &str) -> Option<Message> {
    match kind {
        "user.message" => {
            let source = string(data.source).unwrap_or_default();
            let is_prompt = source.is_empty() || source == "user" || source.starts_with("agent-");
            let origin = if is_prompt {
                Origin::Prompt
            } else {
                Origin::Injected
            };
            Some(note(Role::User, origin, string(data.content)?))
        }
        "assistant.message" => Some(reply_in(row, data)),
        "tool.execution_complete" => Some(results(vec![Block::Result(result(data)?)])),
        "system.notification" => Some(note(Role::User, Origin::Injected, string(data.content)?)),
        "session.error" => Some(note(Role::System, Origin::Error, string(data.text)?)),
        "session.compaction_complete" => {
            let summary = string(data.summary).unwrap_or_default();
            Some(note(Role::System, Origin::Compaction, summary))
        }
        _ => None,
    }
}

fn reply_in(row: &Row<'_>, data: &Data<'_>) -> Message {
    let thinking = string(data.reasoning).map(Block::thinking).into_iter();
    let content = string(data.content).map(Block::Text);
    let requests = Request::list(data.requests).into_iter();
    let calls = requests.filter_map(|request| {
        // Older versions record arguments as text.
        let json = text(request.arguments);
        let json = json.and_then(|json| RawValue::from_string(json.into_owned()).ok());
        Some(call(
            string(request.id)?,
            string(request.name).unwrap_or_default(),
            json.unwrap_or_else(|| input_of(request.arguments)),
        ))
    });
    Message {
        id: string(data.message_id).or_else(|| string(row.id)),
        model: string(data.model),
        ..reply(thinking.chain(content).chain(calls).collect())
    }
}

/// Returns the result of a call. A shell that failed counts as a success.
fn result(data: &Data<'_>) -> Option<ToolResult> {
    let content = data.result.and_then(|result| string(result.content));
    let error = data.error.and_then(|error| string(error.message));
    let parts = vec![ResultPart::Text(content.or(error).unwrap_or_default())];
    let exit = data.shell.and_then(|shell| shell.exit);
    let failed = match exit {
        Some(exit) => exit.get() != "0",
        None => shell_failed(&parts),
    };
    Some(ToolResult {
        id: string(data.call_id)?,
        failed: failed || !is_true(data.success),
        parts,
    })
}

object! { EditRow { data: EditResult<'a> } }
object! { EditResult { call = "toolCallId", success, files = "fileEdits", result: Detailed<'a> } }
object! { EditedFile { path, kind } }
object! { Detailed { diff = "detailedContent" } }

/// Returns the change in a record. The content of a new file is in the call.
fn change(record: &str) -> Option<FileEdit> {
    let result = EditRow::read(record)?.data?;
    let files = EditedFile::list(result.files.filter(|_| is_true(result.success)));
    let file = files
        .iter()
        .find(|file| text(file.kind).as_deref() == Some("edit"))?;
    let hunks = hunks_with_end_line(&text(result.result?.diff)?);
    edit(string(result.call), string(file.path)?, hunks)
}
