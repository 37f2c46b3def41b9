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
    has_shell_failed, input_of, is_true, is_unique_id, new_call, new_reply, new_result, new_text,
    read_decimal, read_exit, read_inclusive_tokens, session_stem, string, wrap_member,
};
use super::counting::{IdScope, Meter, Repeats, SideCost, TokenCounting, TokenSource};
use super::edits::{FileEdit, new_edit, new_file, remove_end_line};
use super::entry::{Entry, Part};
use super::facts::{Facts, SubagentFacts};
use super::format::Format;
use super::hook_settings::{HookSettings, HookShell};
use super::layout::{Layout, Subagents};
use super::reading::{Detail, Reading};
use super::sign::Row as Marks;
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::TitleFormat;
use turnpipe_core::io::read_regular;
use turnpipe_core::json::{has_text, is_object, number, object, text};
use turnpipe_core::message::{
    Block, CallEnd, Message, Origin, ResultPart, Role, ToolResult, Usage,
};

/// The format of GitHub Copilot CLI.
pub(super) static COPILOT: Format = Format {
    reading: Reading {
        cost_words: &["\"session.", "\"assistant.message\""],
        read_edits: |record, _| read_edits(record),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        has_older_copies: true,
        tokens: TokenSource::Records,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        subagents: Subagents::InSession(&["\"subagent.started\""]),
        home_variables: HOME,
        home: ".copilot",
        session_dirs: &["session-state"],
        side_rows,
        // Older versions have no directory for each session.
        belongings: |session, _| {
            let dir = session.parent().filter(|dir| {
                let is_events = session_stem(session).is_some_and(|stem| stem == "events");
                is_events && dir.file_name().is_some_and(is_unique_id)
            });
            dir.map(Path::to_owned).into_iter().collect()
        },
        resume: |id, _| Some(format!("copilot --resume={id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"workspace.name\""],
        ..TitleFormat::NONE
    },
    // Events in this spelling have the input and the responses of Claude Code.
    hook_settings: Some(HookSettings {
        user: (HOME, ".copilot"),
        project: ".github/copilot/settings.json",
        activation: "new sessions use it; in a project, the directory must be trusted",
        shell: HookShell::Bash,
        project_variables: &[],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Copilot, read, has_marks)
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
        requests = "toolRequests", call_id = "toolCallId", parent_call = "parentToolCallId", success, result: Outcome<'a>,
        error: Failure<'a>, shell: Shell<'a> = "shellExecution", usage: Tokens<'a>,
        models = "modelMetrics", snapshot: Snapshot<'a> = "accountingSnapshot",
        summary = "summaryContent", text = "message", name, user_named, info = "infoType",
        compaction: Tokens<'a> = "compactionTokensUsed", output_tokens = "outputTokens",
        agent_type = "agentType", agent_name = "agentName",
    }
}

object! { Context { cwd, branch, root = "gitRoot", repository, host = "repositoryHost" } }
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

fn has_marks(row: &Marks<'_>) -> bool {
    is_object(row.data) && text(row.kind).is_some_and(|kind| kind.contains('.'))
}

/// Returns the name of a session.
fn side_rows(session: &Path) -> Vec<String> {
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
        subagent: string(row.agent),
        started_by: string(match kind.as_str() {
            "subagent.started" => data.call_id,
            _ => data.parent_call,
        })
        .filter(|_| is_subagent),
        time: string(row.time),
        facts: read_facts(&row, &data, &kind),
        title: read_title(&data, &kind),
        meters: read_meters(&row, &data, &kind),
        side_cost: read_compaction_cost(&row, &data, &kind),
        kind,
        ..Entry::default()
    };
    if detail != Detail::Outline {
        let said = read_message(&row, &data, &entry.kind, detail);
        entry = entry.with_messages(said);
    }
    Some(entry)
}

fn read_facts(row: &Row<'_>, data: &Data<'_>, kind: &str) -> Facts {
    let is_start = kind == "session.start";
    let is_fork = kind == "session.info" && has_text(data.info, "fork");
    let context = data.context.unwrap_or_default();
    let models = [data.selected_model, data.new_model, data.model];
    let request_model = data.usage.and_then(|usage| usage.model);
    let model = models.into_iter().chain([request_model]).find_map(string);
    Facts {
        session_id: string(data.session).filter(|_| is_start),
        is_head: is_start,
        is_subagent: row.agent.is_some(),
        subagent: SubagentFacts::from_type(
            string(data.agent_type)
                .or_else(|| string(data.agent_name))
                .filter(|_| row.agent.is_some()),
        ),
        branch: string(context.branch),
        repository: string(context.root),
        remote: read_remote(&context),
        forked_from: text(data.text)
            .filter(|_| is_fork)
            .as_deref()
            .and_then(parse_parent),
        model: model.filter(|_| kind != "tool.execution_complete"),
        ..Facts::from_time(row.time)
    }
    .with_directory(string(context.cwd))
}

/// Returns the address of the repository, which older versions record without its host.
fn read_remote(context: &Context<'_>) -> Option<String> {
    let host = text(context.host).unwrap_or("github.com".into());
    Some(format!("https://{host}/{}", text(context.repository)?))
}

fn read_title(data: &Data<'_>, kind: &str) -> Option<StoredTitle> {
    let name = text(data.name).filter(|_| kind == "workspace.name")?;
    let source = if is_true(data.user_named) {
        TitleSource::Manual
    } else {
        TitleSource::Auto
    };
    Some(StoredTitle::new(name, source, None, ManualTitle::Keep))
}

/// Returns the parent's id in the message of a fork: `Forked from "X" (ID) as "Y" (ID).` The parent has a mirrored
/// one.
fn parse_parent(message: &str) -> Option<String> {
    let names = message.strip_prefix("Forked from ")?;
    let (_, id) = names.split_once("\" (")?;
    Some(id.split_once(')')?.0.to_owned())
}

/// Returns the cost of a compaction, which no usage record and no total includes.
fn read_compaction_cost(row: &Row<'_>, data: &Data<'_>, kind: &str) -> Option<SideCost> {
    let tokens = data
        .compaction
        .filter(|_| kind == "session.compaction_complete")?;
    Some(SideCost {
        id: string(row.id),
        repeats: Repeats::Nothing,
        prompt_id: Some("compaction".to_owned()),
        model: string(tokens.model),
        usage: Usage {
            cost: read_dollars(tokens.nano_units),
            ..read_usage(tokens)
        },
    })
}

/// Returns the tokens of requests. Older versions record the sum for each model at the end of each run, and
/// nothing if a session is left without an end.
fn read_meters(row: &Row<'_>, data: &Data<'_>, kind: &str) -> Vec<Meter> {
    if kind != "session.shutdown" {
        return read_meter(row, data, kind).into_iter().collect();
    }
    let snapshot = data.snapshot.and_then(|snapshot| snapshot.models);
    let models: BTreeMap<String, &RawValue> = snapshot
        .or(data.models)
        .and_then(|models| serde_json::from_str(models.get()).ok())
        .unwrap_or_default();
    let totals = models.into_iter().filter_map(|(model, tokens)| {
        Some(Meter::Total {
            model: Some(model),
            usage: read_usage(ModelTokens::from_raw(Some(tokens))?.usage?),
        })
    });
    totals.collect()
}

fn read_meter(row: &Row<'_>, data: &Data<'_>, kind: &str) -> Option<Meter> {
    match kind {
        "session.usage_record" => {
            let tokens = data.usage?;
            let id = tokens.accounting.and_then(|accounting| accounting.id);
            Some(Meter::Request {
                id: string(id.or(tokens.call))?,
                usage: Usage {
                    cost: read_dollars(tokens.nano_units),
                    ..read_usage(tokens)
                },
                is_first: false,
                session: None,
            })
        }
        "assistant.message" => Some(Meter::Output {
            id: string(data.message_id).or_else(|| string(row.id))?,
            output: number(data.output_tokens)?,
        }),
        _ => None,
    }
}

fn read_usage(tokens: Tokens<'_>) -> Usage {
    read_inclusive_tokens([
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write,
    ])
}

/// Returns a cost in dollars: a billion units are a credit of one cent.
fn read_dollars(raw: Option<&RawValue>) -> Option<f64> {
    Some(read_decimal(raw)? / 1e11)
}

fn read_message(row: &Row<'_>, data: &Data<'_>, kind: &str, detail: Detail) -> Option<Message> {
    match kind {
        "user.message" => {
            let source = string(data.source).unwrap_or_default();
            let is_prompt = source.is_empty() || source == "user" || source.starts_with("agent-");
            let origin = if is_prompt {
                Origin::Prompt
            } else {
                Origin::Injected
            };
            Some(new_text(Role::User, origin, string(data.content)?))
        }
        "assistant.message" => Some(read_reply(row, data, detail)),
        "tool.execution_complete" => Some(new_result(read_result(data)?)),
        "abort" => {
            let notice = "[Request interrupted by user]".to_owned();
            Some(new_text(Role::User, Origin::Injected, notice))
        }
        "system.notification" => Some(new_text(
            Role::User,
            Origin::Injected,
            string(data.content)?,
        )),
        "session.error" => Some(new_text(Role::System, Origin::Error, string(data.text)?)),
        "session.compaction_complete" => {
            let summary = string(data.summary).unwrap_or_default();
            Some(new_text(Role::System, Origin::Compaction, summary))
        }
        _ => None,
    }
}

fn read_reply(row: &Row<'_>, data: &Data<'_>, detail: Detail) -> Message {
    let thinking = string(data.reasoning).map(Block::thinking).into_iter();
    let content = string(data.content).map(Block::Text);
    let requests = data.requests.filter(|_| detail != Detail::Costs);
    let requests = Request::read_list(requests).into_iter();
    let calls = requests.filter_map(|request| {
        // Older versions record arguments as text. A tool without a schema has a text as its input.
        let said = text(request.arguments);
        let json = said.as_ref().map(|said| {
            let object = RawValue::from_string(said.clone().into_owned()).ok();
            let object = object.filter(|json| is_object(Some(json)));
            object.unwrap_or_else(|| wrap_member("input", request.arguments))
        });
        Some(new_call(
            string(request.id)?,
            string(request.name).unwrap_or_default(),
            json.unwrap_or_else(|| input_of(request.arguments)),
        ))
    });
    Message {
        id: string(data.message_id).or_else(|| string(row.id)),
        model: string(data.model),
        ..new_reply(thinking.chain(content).chain(calls).collect())
    }
}

/// Returns the result of a call. A shell that failed counts as a success.
fn read_result(data: &Data<'_>) -> Option<ToolResult> {
    let content = data.result.and_then(|result| string(result.content));
    let error = data.error.and_then(|error| string(error.message));
    let parts = vec![ResultPart::Text(content.or(error).unwrap_or_default())];
    let end = read_exit(data.shell.and_then(|shell| shell.exit));
    let failed = match end {
        Some(end) => end != CallEnd::Exited(0),
        None => has_shell_failed(&parts),
    };
    Some(ToolResult {
        id: string(data.call_id)?,
        failed: failed || !is_true(data.success),
        parts,
        end,
    })
}

object! { EditRow { data: EditResult<'a> } }
object! { EditResult { call = "toolCallId", success, files = "fileEdits", result: Detailed<'a> } }
object! { EditedFile { path, kind } }
object! { Detailed { diff = "detailedContent" } }

/// Returns the changes in a record: a diff for each file. The content of files is exact in calls that only make files.
fn read_edits(record: &str) -> Vec<FileEdit> {
    let result = EditRow::read(record).and_then(|row| row.data);
    let result = result.unwrap_or_default();
    let files = EditedFile::read_list(result.files.filter(|_| is_true(result.success)));
    let diff = text(result.result.unwrap_or_default().diff);
    let diff = format!("\n{}", diff.unwrap_or_default());
    let diffs: Vec<&str> = diff.split("\ndiff --git ").skip(1).collect();
    let is_edit = |file: &EditedFile<'_>| has_text(file.kind, "edit");
    if diffs.len() != files.len() || !files.iter().any(is_edit) {
        return Vec::new();
    }
    let edits = files.iter().zip(diffs).map(|(file, diff)| {
        let (call, path) = (string(result.call), string(file.path)?);
        // A new file has an empty line for its last line feed.
        let lines = diff.lines().skip_while(|line| !line.starts_with("@@ "));
        let added_lines: Vec<&str> = lines.filter_map(|line| line.strip_prefix('+')).collect();
        match text(file.kind)?.as_ref() {
            "create" => Some(new_file(call, path, &added_lines.join("\n"))),
            "edit" => {
                let end = if diff.ends_with('\n') { "" } else { "\n" };
                new_edit(call, path, remove_end_line(&format!("{diff}{end}")))
            }
            _ => None,
        }
    });
    // Otherwise the changes are in the call.
    edits.collect::<Option<_>>().unwrap_or_default()
}
