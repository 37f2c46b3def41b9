//! opencode: the database `~/.local/share/opencode/opencode.db`, and documents of `opencode export`.
//!
//! Both are read as the same rows: one of the session, then one of each message with its parts.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::Agent;
use super::content::{
    input_of, is_in, is_true, new_call, new_message, new_results, new_text, parse_time, read_count,
    read_decimal, read_exit, read_tokens, session_stem, string,
};
use super::counting::{IdScope, TokenCounting};
use super::entry::{Entry, Part};
use super::facts::{Facts, SubagentFacts};
use super::format::Format;
use super::hook_settings::{HookSettings, SettingsSyntax};
use super::layout::{Layout, SubagentFiles, Subagents, has_name_prefix, parse_subagent_id};
use super::opencode_database::DATABASE;
use super::opencode_edits::read_edits;
use super::reading::{Detail, Reading};
use super::stream_conversation::StreamConversation;
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::TitleFormat;
use turnpipe_core::json::{elements, has_text, is_object, non_empty, non_null, object, text};
use turnpipe_core::message::{
    Block, CallEnd, Media, Message, Origin, ResultPart, Role, ToolResult, Usage,
};

/// The format of opencode.
pub(super) static OPENCODE: Format = Format {
    reading: Reading {
        document: Some(read_document),
        database: Some(&DATABASE),
        read_edits: |record, _| read_edits(record),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        has_older_copies: true,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        home_variables: &["XDG_DATA_HOME"],
        home: ".local/share",
        session_dirs: &["opencode/opencode.db"],
        subagents: Subagents::Files(SubagentFiles {
            directory: export_subagents_path,
            is_file: has_session_id,
            id: parse_subagent_id,
            is_reserved: false,
        }),
        resume: |id, _| Some(format!("opencode --session {id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"slug\""],
        ..TitleFormat::NONE
    },
    hook_settings: Some(HookSettings {
        syntax: SettingsSyntax::Script(include_str!("hooks/opencode.js")),
        hooks: &[("tool.execute.before", "pre-tool-use")],
        user: (&["XDG_CONFIG_HOME"], ".config"),
        file: "opencode/plugin/turnpipe.js",
        project: ".opencode/plugin/turnpipe.js",
        project_variables: &[],
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Opencode, read, |row| {
        is_object(row.info) && row.messages.is_none()
    })
};

/// Returns the directory for the exported sessions of the subagents of an exported session. The directories
/// of nested subagents are next to each other. `None` for a session in a database.
fn export_subagents_path(session: &Path) -> Option<PathBuf> {
    if session.file_name()?.to_str()?.contains('#') {
        return None;
    }
    let dir = session.parent()?;
    let is_nested = has_session_id(dir);
    let top = if is_nested { dir.parent()? } else { dir };
    Some(top.join(session_stem(session)?))
}

fn has_session_id(path: &Path) -> bool {
    has_name_prefix(path, "ses_")
}

object! { Document { info, messages } }
object! { Row { info: Info<'a>, parts } }

object! {
    Info {
        id, session = "sessionID", parent = "parentID", directory, title, role,
        time: Time<'a>, model: Model<'a>, model_id = "modelID", path: Location<'a>,
        tokens: Tokens<'a>, cost, summary, error: Failure<'a>, agent,
    }
}

object! { Time { created, updated, completed } }
object! { Model { id, model_id = "modelID" } }
object! { Location { cwd } }
object! { Tokens { input, output, reasoning, cache: Cache<'a> } }
object! { Cache { read, write } }
object! { Failure { name, message, data: FailureData<'a> } }
object! { FailureData { message } }

object! {
    Piece {
        kind = "type", text, synthetic, ignored, tool, call_id = "callID", state: State<'a>, mime,
        url, prompt,
    }
}

object! { State { status, input, output, error, metadata: Metadata<'a>, attachments } }
object! { Metadata { exit } }
object! { Attachment { mime, url } }
object! { StreamRow { time = "timestamp", part: StreamPart<'a>, error: Failure<'a> } }
object! {
    StreamPart {
        id, message = "messageID", text, tool, call = "callID", state: State<'a>, reason,
        tokens: Tokens<'a>, cost,
    }
}

/// The beginning of the title of a session that has none yet.
const PLACEHOLDERS: [&str; 2] = ["New session - ", "Child session - "];

/// The tool that opencode records for calls that cannot be run.
const INVALID: &str = "invalid";

/// Returns the rows of an export.
fn read_document(json: &str) -> Option<Vec<String>> {
    let members = Document::read(json)?;
    let info = members.info.filter(|info| is_object(Some(info)))?;
    let messages = members.messages.filter(|raw| raw.get().starts_with('['))?;
    let messages = elements(Some(messages)).into_iter();
    let session = format!("{{\"info\":{}}}", info.get());
    let rows = std::iter::once(session).chain(messages.map(|row| row.get().to_owned()));
    Some(rows.collect())
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let info = row.info?;
    let role = string(info.role);
    let created = parse_time(info.time.as_ref().and_then(|time| time.created));
    let mut entry = Entry {
        kind: role.clone().unwrap_or_else(|| "session".to_owned()),
        is_known: role
            .as_deref()
            .is_none_or(|role| is_in("user assistant", role)),
        uuid: string(info.id).filter(|_| role.is_some()),
        part: if role.is_some() {
            Part::Turn
        } else {
            Part::Step
        },
        time: created.map(|time| time.to_string()),
        facts: read_facts(&info, role.as_deref()),
        title: read_title(&info, role.as_deref()),
        ..Entry::default()
    };
    if detail != Detail::Outline {
        let pieces = Piece::read_list(row.parts);
        let messages = match role.as_deref() {
            Some("user") => read_user(&info, &pieces),
            Some("assistant") => read_reply(&info, &pieces),
            _ => Vec::new(),
        };
        entry = entry.with_messages(messages);
    }
    Some(entry)
}

fn read_facts(info: &Info<'_>, role: Option<&str>) -> Facts {
    let time = info.time.unwrap_or_default();
    let ends = [time.created, time.updated, time.completed];
    let model = info.model.unwrap_or_default();
    let directory = match role {
        None => string(info.directory),
        Some(_) => info.path.as_ref().and_then(|path| string(path.cwd)),
    };
    Facts {
        session_id: if role.is_some() {
            string(info.session)
        } else {
            string(info.id)
        },
        is_subagent: role.is_none() && non_null(info.parent).is_some(),
        subagent: SubagentFacts::from_type(string(info.agent)),
        is_head: role.is_none(),
        parent: string(info.parent).filter(|_| role.is_none()),
        model: [model.id, model.model_id, info.model_id]
            .into_iter()
            .find_map(string),
        started: parse_time(time.created),
        last_activity: ends.into_iter().filter_map(parse_time).max(),
        ..Facts::default()
    }
    .with_directory(directory)
}

fn read_title(info: &Info<'_>, role: Option<&str>) -> Option<StoredTitle> {
    let title = text(info.title).filter(|_| role.is_none())?;
    let is_placeholder = PLACEHOLDERS.iter().any(|start| title.starts_with(start));
    let manual_title = ManualTitle::Keep;
    (!is_placeholder).then(|| StoredTitle::new(title, TitleSource::Auto, None, manual_title))
}

/// Returns a key that copies share: a fork gives messages new ids but keeps their times.
fn build_copy_key(info: &Info<'_>) -> Option<String> {
    let time = info.time.as_ref()?;
    let tokens = info.tokens.unwrap_or_default();
    let numbers = [time.created, time.completed, tokens.input, tokens.output];
    let numbers = numbers
        .into_iter()
        .flatten()
        .map(|raw| raw.get().to_owned());
    let key: Vec<String> = numbers.chain(string(info.model_id)).collect();
    Some(key.join("-"))
}

fn read_user(info: &Info<'_>, pieces: &[Piece<'_>]) -> Vec<Message> {
    let (injected, typed): (Vec<_>, Vec<_>) = pieces
        .iter()
        .partition(|piece| is_true(piece.synthetic) || is_true(piece.ignored));
    let said = [(Origin::Injected, injected), (Origin::Prompt, typed)];
    let said = said.map(|(origin, pieces)| {
        let blocks = pieces.into_iter().filter_map(read_block).collect();
        Message {
            id: build_copy_key(info).filter(|_| origin == Origin::Prompt),
            ..new_message(Role::User, origin, blocks)
        }
    });
    said.into_iter()
        .filter(|message| !message.blocks.is_empty())
        .collect()
}

fn read_reply(info: &Info<'_>, pieces: &[Piece<'_>]) -> Vec<Message> {
    let (mut blocks, mut answers) = (Vec::new(), Vec::new());
    for piece in pieces {
        blocks.extend(read_block(piece));
        if text(piece.kind).as_deref() == Some("tool") {
            let (call, result) = read_call(piece);
            blocks.push(call);
            answers.extend(result.map(Block::Result));
        }
    }
    let origin = if is_true(info.summary) {
        Origin::Compaction
    } else {
        Origin::Reply
    };
    let mut messages = vec![Message {
        id: build_copy_key(info),
        model: string(info.model_id),
        usage: read_usage(info.tokens, info.cost),
        ..new_message(Role::Assistant, origin, blocks)
    }];
    if !answers.is_empty() {
        messages.push(new_results(answers));
    }
    if let Some(error) = &info.error {
        let reason = read_failure_reason(error).unwrap_or_default();
        messages.push(new_text(Role::System, Origin::Error, reason));
    }
    messages
}

/// Returns the block of a part that is not a call.
fn read_block(piece: &Piece<'_>) -> Option<Block> {
    match text(piece.kind)?.as_ref() {
        "text" => string(piece.text).map(Block::Text),
        // A slash command such as `/review`, which a subagent runs.
        "subtask" => string(piece.prompt).map(Block::Text),
        "reasoning" => string(piece.text).map(Block::thinking),
        "file" => Some(Block::Media(read_media(piece.mime, piece.url))),
        _ => None,
    }
}

fn read_media(media_type: Option<&RawValue>, url: Option<&RawValue>) -> Media {
    let url = text(url).unwrap_or_default();
    Media {
        media_type: string(media_type).unwrap_or_default(),
        data: url.split_once(";base64,").map(|(_, data)| data.to_owned()),
    }
}

/// Returns a call, and its result once it has one. A shell that failed counts as completed.
fn read_call(piece: &Piece<'_>) -> (Block, Option<ToolResult>) {
    let state = piece.state.unwrap_or_default();
    let id = string(piece.call_id).unwrap_or_default();
    let name = string(piece.tool).unwrap_or_default();
    let status = string(state.status).unwrap_or_default();
    let result = is_in("completed error", &status).then(|| {
        let result = read_result(id.clone(), &state);
        ToolResult {
            failed: result.failed || name == INVALID,
            ..result
        }
    });
    (new_call(id, name, input_of(state.input)), result)
}

/// Returns the result of a call: its output, or else its error, and images.
fn read_result(id: String, state: &State<'_>) -> ToolResult {
    let said = string(state.output).or_else(|| string(state.error));
    let attached = Attachment::read_list(state.attachments).into_iter();
    let images = attached
        .map(|attached| read_media(attached.mime, attached.url))
        .filter(|image| image.data.is_some());
    let text = ResultPart::Text(said.unwrap_or_default());
    let end = read_call_end(state);
    let is_good = end.is_none_or(|end| end == CallEnd::Exited(0));
    ToolResult {
        id,
        parts: std::iter::once(text)
            .chain(images.map(ResultPart::Media))
            .collect(),
        failed: has_text(state.status, "error") || !is_good,
        end,
    }
}

fn read_usage(spent: Option<Tokens<'_>>, cost: Option<&RawValue>) -> Option<Usage> {
    let spent = spent?;
    let cache = spent.cache.unwrap_or_default();
    let usage = read_tokens([spent.input, spent.output, cache.read, cache.write]);
    Some(Usage {
        output: usage.output + read_count(spent.reasoning),
        cost: read_decimal(cost),
        ..usage
    })
}

fn read_failure_reason(failure: &Failure<'_>) -> Option<String> {
    let inner = failure.data.unwrap_or_default().message;
    [inner, failure.message, failure.name]
        .into_iter()
        .find_map(string)
}

/// Returns how a call ended. A shell that the user interrupted counts as completed.
fn read_call_end(state: &State<'_>) -> Option<CallEnd> {
    let exit = state.metadata.and_then(|metadata| non_null(metadata.exit));
    let is_aborted = || {
        let output = text(state.output).unwrap_or_default();
        let error = text(state.error).unwrap_or_default();
        error == "Tool execution aborted"
            || output.ends_with("User aborted the command\n</shell_metadata>")
    };
    read_exit(exit).or_else(|| is_aborted().then_some(CallEnd::Interrupted))
}

/// Reads a row of `opencode run --format json`, one for each finished part of a message. A call comes
/// with its result.
pub(super) fn read_stream_row(
    kind: &str,
    row: &str,
    conversation: &mut StreamConversation,
) -> Option<()> {
    let row = StreamRow::read(row)?;
    conversation.set_time(row.time);
    if kind == "error" {
        conversation.push_failure(&read_failure_reason(&row.error?)?);
        conversation.end_run(Some("error"));
        return Some(());
    }
    let part = row.part?;
    if let Some(id) = non_empty(part.message) {
        conversation.continue_message(&id);
    }
    let said = || Some(text(part.text)?.into_owned());
    match kind {
        "text" => conversation.push_reply(vec![Block::Text(said()?)]),
        "reasoning" => conversation.push_reply(vec![Block::thinking(said()?)]),
        "tool_use" => {
            let state = part.state.unwrap_or_default();
            let id = text(non_null(part.call).or(part.id))?;
            conversation.push_call(&id, &text(part.tool)?, state.input);
            // A running call has no result yet.
            if !has_text(state.status, "running") {
                conversation.push_result(read_result(id.into_owned(), &state));
            }
        }
        "step_finish" => {
            let reason = text(part.reason);
            let usage = read_usage(part.tokens, part.cost).unwrap_or_default();
            conversation.set_usage(usage, reason.as_deref());
            if reason.as_deref() != Some("tool-calls") {
                conversation.end_run(None);
            }
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_of_a_command_in_a_subagent_is_of_the_user() {
        let record = r#"{"info":{"id":"m","role":"user"},"parts":[{"type":"subtask","agent":"general",
            "description":"review changes","command":"review","prompt":"Review the last commit"}]}"#;
        let messages = OPENCODE.messages(record);
        let [prompt] = messages.as_slice() else {
            panic!("{messages:?}");
        };
        assert_eq!(prompt.origin, Origin::Prompt);
        assert_eq!(prompt.text(), "Review the last commit");
    }

    /// As in a stream.
    #[test]
    fn results_in_a_file_have_images() {
        let record = r#"{"info":{"id":"m","role":"assistant"},"parts":[{"type":"tool","callID":"c","tool":"read",
            "state":{"status":"completed","output":"Image","attachments":[
                {"mime":"image/png","url":"data:image/png;base64,AAAA"}]}}]}"#;
        let messages = OPENCODE.messages(record);
        let result = messages.iter().flat_map(Message::results).next().unwrap();
        let [ResultPart::Text(_), ResultPart::Media(image)] = result.parts.as_slice() else {
            panic!("{:?}", result.parts);
        };
        assert_eq!(image.data.as_deref(), Some("AAAA"));
    }
}
