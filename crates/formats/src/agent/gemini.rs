//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, and older `.json` documents.
//!
//! Newer files are logs to replay (see [`super::entry::Change`]). The head of an old document and
//! each of its messages are read like rows.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::agent::Agent;
use super::content::{
    has_shell_failed, input_of, is_in, is_unique_id, new_call, new_message, new_reply, new_results,
    new_text, read_count, read_gemini_blocks, read_inclusive_tokens, session_stem, split_user,
    string,
};
use super::counting::{IdScope, TokenCounting};
use super::entry::{Change, Entry, LoggedRow};
use super::facts::Facts;
use super::format::Format;
use super::gemini_edits::read_edits;
use super::layout::{Layout, SubagentFiles, Subagents, parse_subagent_id};
use super::own_record::{read_manual_title, read_side_cost};
use super::reading::{Detail, Reading, Shape};
use super::sign::Row as Marks;
use super::stream_conversation::{StreamConversation, read_blocks as content_blocks};
use super::title::{StoredTitle, TitleSource};
use super::title_format::{TitleFormat, TitleStore};
use crate::agent::hook_settings::{HookSettings, HookShell};
use crate::api::Signed;
use turnpipe_core::io::{open_regular, read_regular};
use turnpipe_core::json::{elements, has_text, non_empty, number, object, text};
use turnpipe_core::message::{Block, Message, Origin, ResultPart, Role, ToolResult, Usage};

/// The format of Gemini CLI.
pub(super) static GEMINI: Format = Format {
    reading: Reading {
        shape: Shape::Replay,
        document: Some(read_document),
        read_edits: |record, _| read_edits(record),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Session,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        side_rows: |session| {
            parse_parent_id(session)
                .into_iter()
                .map(|id| json!({"parentSession": id}).to_string())
                .collect()
        },
        subagents: Subagents::Files(SubagentFiles {
            directory: subagent_dir,
            is_file: |_| true,
            id: parse_subagent_id,
            is_reserved: false,
        }),
        home_variables: HOME,
        session_dirs: &[".gemini/tmp"],
        resume: |id, _| Some(format!("gemini --resume {id}")),
        belongings: |session, id| {
            let chats = session.parent();
            let project = chats.and_then(Path::parent);
            let (Some(chats), Some(project), true) = (chats, project, is_unique_id(id.as_ref()))
            else {
                return Vec::new();
            };
            let subagents = chats.join(id);
            let results = project.join(format!("tool-outputs/session-{id}"));
            let log = project.join(format!("logs/session-{id}.jsonl"));
            vec![subagents, results, log, project.join(id)]
        },
        shared_files: |session| {
            let files =
                |project: &Path| Some(vec![project.join(PROJECT_ROOT), projects_index(project)?]);
            let project = session.parent().and_then(Path::parent);
            project.and_then(files).unwrap_or_default()
        },
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"summary\""],
        store: TitleStore::SessionFile,
        // The agent ignores members next to `$set`.
        new_title: Some(
            |_, title, _| json!({"$set": {"summary": title.text}, "titleSource": title.source.name()}),
        ),
        ..TitleFormat::NONE
    },
    hook_settings: Some(HookSettings {
        hooks: &[("BeforeTool", "pre-tool-use")],
        timeout: 10_000,
        has_names: true,
        user: (HOME, ""),
        file: ".gemini/settings.json",
        project: ".gemini/settings.json",
        activation: "new sessions use it; in a project, the directory must be trusted",
        shell: HookShell::Bash,
        project_variables: &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Gemini, read, has_marks)
};

fn subagent_dir(session: &Path) -> Option<PathBuf> {
    let chats = session.parent()?;
    let stem = session_stem(session)?;
    if let Some(id) = read_session_id(session).filter(|id| is_subagent_dir(stem, OsStr::new(id))) {
        return Some(chats.join(id)).filter(|dir| dir.is_dir());
    }
    let is_own = |dir: &PathBuf| dir.file_name().is_some_and(|id| is_subagent_dir(stem, id));
    let dirs = fs::read_dir(chats)
        .ok()?
        .flatten()
        .map(|entry| entry.path());
    dirs.into_iter().find(is_own)
}

const HOME: &[&str] = &["GEMINI_CLI_HOME"];

object! { Document { session = "sessionId", messages } }

object! {
    Row {
        kind = "type", id, time = "timestamp", content, display = "displayContent", thoughts,
        tokens, model, calls = "toolCalls", session = "sessionId", project = "projectHash",
        start = "startTime", updated = "lastUpdated", session_kind = "kind", directories, summary,
        set = "$set", rewind_to = "$rewindTo", title_source = "titleSource", turnpipe,
        parent = "parentSession",
    }
}

object! { Set { messages, updated = "lastUpdated", summary, directories } }
object! { Thought { subject, description } }
object! { Tokens { input, output, cached, thoughts } }
object! { ToolCall { id, name, args, result, status, display = "resultDisplay" } }

/// Known record types.
const KINDS: &str = "$set $rewindTo header user gemini info warning error beside";

fn has_marks(row: &Marks<'_>) -> bool {
    // A prompt is the second row. The first one may be damaged.
    let is_prompt =
        row.is_kind("user") && row.has_id() && row.time.is_some() && row.content.is_some();
    // A row with messages is a whole document.
    row.project.is_some() && row.session.is_some() && row.messages.is_none()
        || row.set.is_some()
        || row.rewind_to.is_some()
        || row.is_kind("gemini") && row.id.is_some()
        || is_prompt && row.uuid.is_none() && row.parent_id.is_none()
}

/// Returns the session id in the first row of a file.
fn read_session_id(session: &Path) -> Option<String> {
    let file = open_regular(session, File::options().read(true), OFlags::empty()).ok()?;
    let mut row = String::new();
    let mut file = BufReader::new(file.take(MAX_HEADER));
    file.read_line(&mut row).ok()?;
    string(Row::read(&row)?.session)
}

/// Maximum length of the first row, in bytes.
const MAX_HEADER: u64 = 64 * 1024;

/// The length of the session id in the name of a file.
const SHORT_ID: usize = 8;

/// Whether a directory contains the subagents of the session in a file `session-TIME-SHORT_ID`.
pub fn is_subagent_dir(stem: &OsStr, dir: &OsStr) -> bool {
    let id = dir.to_str().filter(|_| is_unique_id(dir));
    let short = id.and_then(|id| id.get(..SHORT_ID));
    let is_named = |short: &str| stem.as_encoded_bytes().ends_with(short.as_bytes());
    short.is_some_and(is_named)
}

/// Returns the session that started the subagent with this file: its directory has its name.
fn parse_parent_id(session: &Path) -> Option<String> {
    let dir = session.parent()?;
    let is_chats = dir.parent()?.file_name()? == "chats";
    let id = dir.file_name().filter(|id| is_chats && is_unique_id(id))?;
    Some(id.to_str()?.to_owned())
}

/// The file with the directory of a project.
const PROJECT_ROOT: &str = ".project_root";

/// Returns the index of the directories of all projects.
fn projects_index(project: &Path) -> Option<PathBuf> {
    Some(project.parent()?.parent()?.join("projects.json"))
}

/// Returns the directory of the project of a chat: `tmp/PROJECT/.project_root`, else the directory with
/// this name in `projects.json`.
pub(super) fn find_project_root(session: &Path) -> Option<String> {
    let project = session.parent()?.parent()?;
    if let Ok(root) = read_regular(&project.join(PROJECT_ROOT)) {
        return Some(root.trim().to_owned()).filter(|root| !root.is_empty());
    }
    let index: Value = serde_json::from_str(&read_regular(&projects_index(project)?).ok()?).ok()?;
    let name = project.file_name()?.to_str()?;
    let mut projects = index.get("projects")?.as_object()?.iter();
    let (root, _) = projects.find(|(_, known)| known.as_str() == Some(name))?;
    Some(root.clone())
}

/// Returns the rows of an old document: its head and its messages.
fn read_document(json: &str) -> Option<Vec<String>> {
    let members = Document::read(json)?;
    let messages = members.messages.filter(|raw| raw.get().starts_with('['))?;
    members.session?;
    // The head is the document itself. Its messages are ignored there.
    let mut rows = vec![json.to_owned()];
    let messages = elements(Some(messages)).into_iter();
    rows.extend(messages.map(|raw| raw.get().to_owned()));
    Some(rows)
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let set = Set::from_raw(row.set).unwrap_or_default();
    let kind = if row.set.is_some() {
        "$set".to_owned()
    } else if row.rewind_to.is_some() {
        "$rewindTo".to_owned()
    } else if row.project.is_some() {
        "header".to_owned()
    } else if row.parent.is_some() {
        "beside".to_owned()
    } else {
        string(row.kind).unwrap_or_default()
    };
    let time = [row.time, set.updated, row.start]
        .into_iter()
        .find_map(string);
    let mut entry = Entry {
        is_known: is_in(KINDS, &kind),
        uuid: string(row.id),
        time,
        facts: read_facts(&row, &set),
        title: read_title(&row, &set),
        is_annotation: set.summary.is_some() && set.messages.is_none(),
        kind,
        ..Entry::default()
    };
    if detail != Detail::Outline {
        entry.change = read_change(&row, &set, detail);
        if row.set.is_none() {
            entry.messages = read_messages(&row, detail, &|_| false);
        }
        entry.side_cost = read_side_cost(row.turnpipe, &entry.messages);
    }
    Some(entry)
}

/// Returns the effect of a row on the log.
fn read_change(row: &Row<'_>, set: &Set<'_>, detail: Detail) -> Change {
    if let Some(id) = string(row.rewind_to) {
        return Change::RewindTo(id);
    }
    if set.messages.is_some() {
        let rows = Row::read_list(set.messages);
        // In a resumed history, only separate messages have results.
        let mut call_ids = HashSet::new();
        if detail != Detail::Costs {
            let calls = rows.iter().flat_map(|row| ToolCall::read_list(row.calls));
            call_ids.extend(calls.filter_map(|call| string(call.id)));
        }
        let logged_rows = rows.iter().map(|row| {
            let messages = read_messages(row, detail, &|id| !call_ids.contains(id));
            LoggedRow {
                id: string(row.id).unwrap_or_default(),
                messages,
            }
        });
        return Change::Reset(logged_rows.collect());
    }
    match row.set {
        None if string(row.kind).is_some() => Change::Put(string(row.id).unwrap_or_default()),
        _ => Change::Nothing,
    }
}

fn read_facts(row: &Row<'_>, set: &Set<'_>) -> Facts {
    let directories = row.directories.or(set.directories);
    let directory = elements(directories)
        .first()
        .and_then(|raw| string(Some(raw)));
    let times = [row.time, row.start, row.updated, set.updated];
    let times = times.into_iter().map(Facts::from_time);
    Facts {
        session_id: string(row.session),
        is_subagent: text(row.session_kind).as_deref() == Some("subagent"),
        cwd_hash: string(row.project),
        parent: string(row.parent),
        model: string(row.model),
        ..times.fold(Facts::default(), Facts::merge_later)
    }
    .with_directory(directory)
}

fn read_title(row: &Row<'_>, set: &Set<'_>) -> Option<StoredTitle> {
    let is_head = row.project.is_some() && row.kind.is_none();
    let summary = text(set.summary).or_else(|| text(row.summary).filter(|_| is_head))?;
    // A summary without a source was written by the agent.
    let source = match text(row.title_source).as_deref() {
        Some("manual") => TitleSource::Manual,
        _ => TitleSource::Auto,
    };
    let stored = StoredTitle::new(summary, source, None, read_manual_title(row.turnpipe));
    Some(stored)
}

/// Returns the messages in a row. Results follow the reply. The row of a call usually contains its result
/// too: a result in a separate message counts only if `is_alone`.
fn read_messages(row: &Row<'_>, detail: Detail, is_alone: &dyn Fn(&str) -> bool) -> Vec<Message> {
    let mut messages = match text(row.kind).as_deref() {
        Some("user") if detail == Detail::Costs && !may_be_summary(row) => Vec::new(),
        Some("user") => read_user(row, is_alone),
        Some("gemini") => read_reply(row, detail),
        Some("error") => {
            vec![new_text(
                Role::System,
                Origin::Error,
                read_plain_text(row.content),
            )]
        }
        Some("info" | "warning") => {
            vec![new_text(
                Role::System,
                Origin::Injected,
                read_plain_text(row.content),
            )]
        }
        _ => Vec::new(),
    };
    for message in &mut messages {
        message.uuid = string(row.id);
        message.time = string(row.time);
    }
    messages
}

fn read_plain_text(content: Option<&RawValue>) -> String {
    new_message(
        Role::System,
        Origin::Injected,
        read_gemini_blocks(content, Signed::Anything),
    )
    .text()
}

/// The beginning of a summary that replaces the conversation before it.
const SNAPSHOT: &str = "<state_snapshot>";

fn may_be_summary(row: &Row<'_>) -> bool {
    row.content.is_some_and(|raw| raw.get().contains(SNAPSHOT))
}

fn read_user(row: &Row<'_>, is_alone: &dyn Fn(&str) -> bool) -> Vec<Message> {
    let text = read_plain_text(row.content);
    if text.starts_with(SNAPSHOT) {
        return vec![new_text(Role::System, Origin::Compaction, text)];
    }
    let mut content = read_gemini_blocks(row.display.or(row.content), Signed::Anything);
    let had_blocks = !content.is_empty();
    content.retain(|block| !matches!(block, Block::Result(result) if !is_alone(&result.id)));
    if content.is_empty() && had_blocks {
        return Vec::new();
    }
    split_user(Origin::Prompt, content)
}

fn read_reply(row: &Row<'_>, detail: Detail) -> Vec<Message> {
    // Most of the row is calls with their results.
    let calls = row.calls.filter(|_| detail != Detail::Costs);
    let mut content: Vec<Block> = Thought::read_list(row.thoughts)
        .iter()
        .map(read_thought)
        .collect();
    let spoken = read_gemini_blocks(row.content, Signed::Anything).into_iter();
    content.extend(spoken.filter(|block| !matches!(block, Block::Text(text) if text.is_empty())));
    let message_id = string(row.id).unwrap_or_default();
    let mut answers = Vec::new();
    for (index, called) in ToolCall::read_list(calls).iter().enumerate() {
        let id = string(called.id).unwrap_or_else(|| format!("{message_id}#{index}"));
        let name = string(called.name).unwrap_or_default();
        content.push(new_call(id.clone(), name, input_of(called.args)));
        answers.extend(read_result(called, id).map(Block::Result));
    }
    let mut messages = vec![Message {
        id: string(row.id),
        model: string(row.model),
        usage: read_usage(row.tokens),
        ..new_reply(content)
    }];
    if !answers.is_empty() {
        messages.push(new_results(answers));
    }
    messages
}

fn read_thought(thought: &Thought<'_>) -> Block {
    let parts = [thought.subject, thought.description];
    let parts: Vec<String> = parts.into_iter().filter_map(string).collect();
    Block::thinking(parts.join(": "))
}

/// Returns the result of a call, if there is one yet.
fn read_result(call: &ToolCall<'_>, id: String) -> Option<ToolResult> {
    let status = string(call.status);
    let mut failed = matches!(status.as_deref(), Some("error" | "cancelled"));
    let mut parts = Vec::new();
    for block in read_gemini_blocks(call.result, Signed::Anything) {
        match block {
            Block::Result(result) => {
                failed |= result.failed;
                parts.extend(result.parts);
            }
            Block::Text(text) => parts.push(ResultPart::Text(text)),
            Block::Media(media) => parts.push(ResultPart::Media(media)),
            Block::Thinking(_) | Block::Call(_) => {}
        }
    }
    if parts.is_empty() {
        let display = string(call.display);
        if display.is_none() && !failed && call.result.is_none() {
            return None;
        }
        parts.push(ResultPart::Text(display.unwrap_or_default()));
    }
    Some(ToolResult {
        id,
        failed: failed || has_shell_failed(&parts),
        parts,
        end: None,
    })
}

fn read_usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::from_raw(raw)?;
    let counts = [tokens.input, tokens.output, tokens.cached, None];
    let usage = read_inclusive_tokens(counts);
    Some(Usage {
        output: usage.output + read_count(tokens.thoughts),
        ..usage
    })
}

object! {
    StreamRow {
        role, content, time = "timestamp", model, id = "tool_id", name = "tool_name", parameters,
        output, status, error, message, stats,
    }
}

object! { Failure { message } }
object! { Stats { models, duration = "duration_ms", calls = "tool_calls" } }

object! {
    /// The tokens of one model, or of all.
    StreamTokens { total = "total_tokens", input = "input_tokens", cached }
}

/// The types of rows of a stream.
const STREAM_KINDS: &str = "init message tool_use tool_result error result";

/// The parser state between rows of `gemini --output-format stream-json`. Texts arrive in fragments, and the
/// last one is not marked. Calls and results have rows of their own. Token counts arrive at the end.
#[derive(Debug, Default)]
pub(super) struct StreamRows {
    /// The open text.
    open_text: String,
}

impl StreamRows {
    /// Translates a row; `None` if it is of another type.
    pub(super) fn read_row(
        &mut self,
        kind: &str,
        row: &str,
        conversation: &mut StreamConversation,
    ) -> Option<()> {
        let row = StreamRow::read(row)?;
        let is_reply = kind == "message" && has_text(row.role, "assistant");
        // No fragment of a text is marked as the last.
        if !is_reply && is_in(STREAM_KINDS, kind) {
            self.end_text(conversation);
        }
        conversation.set_time(row.time);
        match kind {
            "init" => {
                conversation.model = string(row.model);
                return None;
            }
            "message" if has_text(row.role, "user") => {
                conversation.push_prompt(content_blocks(row.content));
            }
            "message" if is_reply => {
                let part = text(row.content)?;
                if !part.is_empty() {
                    conversation.push_text_delta(&part, self.open_text.is_empty());
                    self.open_text.push_str(&part);
                }
            }
            "tool_use" => {
                conversation.push_call(&text(row.id)?, &text(row.name)?, row.parameters);
            }
            "tool_result" => {
                let failure =
                    Failure::from_raw(row.error).and_then(|failure| text(failure.message));
                let said = non_empty(row.output).or(failure).unwrap_or_default();
                conversation.push_result(ToolResult {
                    id: text(row.id)?.into_owned(),
                    parts: vec![ResultPart::Text(said.into_owned())],
                    failed: has_text(row.status, "error"),
                    end: None,
                });
            }
            "error" => conversation.push_failure(&text(row.message)?),
            "result" => {
                if let Some(failure) = Failure::from_raw(row.error) {
                    conversation.push_failure(&text(failure.message)?);
                }
                add_usage(row.stats, conversation);
                conversation.end_run(text(row.status).as_deref());
                if let Some(end) = &mut conversation.end {
                    end.duration =
                        Stats::from_raw(row.stats).and_then(|stats| number(stats.duration));
                }
                // For readers of the stream, it also ends the session.
                return None;
            }
            _ => return None,
        }
        Some(())
    }

    /// Ends the open text.
    pub(super) fn end_text(&mut self, conversation: &mut StreamConversation) {
        if !self.open_text.is_empty() {
            let text = std::mem::take(&mut self.open_text);
            conversation.push_reply(vec![Block::Text(text)]);
        }
    }
}

/// Adds the tokens of each model in the whole run. The open message can have the tokens of one model.
fn add_usage(stats: Option<&RawValue>, conversation: &mut StreamConversation) {
    let run = Stats::from_raw(stats).unwrap_or_default();
    // Each call needs another request.
    let is_sum = number(run.calls) != Some(0);
    let models = run
        .models
        .and_then(|models| serde_json::from_str(models.get()).ok());
    let models: BTreeMap<String, &RawValue> = models.unwrap_or_default();
    if models.is_empty()
        && let Some(all) = StreamTokens::from_raw(stats)
    {
        conversation.set_usage(read_stream_usage(&all, is_sum), None);
    }
    for (position, (model, used)) in models.into_iter().enumerate() {
        if position > 0 {
            conversation.begin_message();
        }
        conversation.model = Some(model);
        let used = StreamTokens::from_raw(Some(used)).unwrap_or_default();
        conversation.set_usage(read_stream_usage(&used, is_sum), None);
    }
}

fn read_stream_usage(tokens: &StreamTokens<'_>, is_sum: bool) -> Usage {
    Usage {
        is_sum,
        // Only the total includes thinking.
        output: read_count(tokens.total).saturating_sub(read_count(tokens.input)),
        ..read_inclusive_tokens([tokens.input, None, tokens.cached, None])
    }
}
