//! Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, and the older `.json` documents.
//!
//! The newer files are logs to be replayed (see [`super::replay`]); an old document is read as if
//! its head and each of its messages were a row.

use serde_json::value::RawValue;

use super::claude::{note, user_messages};
use super::claude_content::{input_of, string};
use super::format::{Format, Precedence, Shape, TitleSearch};
use super::gemini_parts::blocks;
use super::title_rule::{Standing, TitleRecord};
use super::{Agent, Envelope, Facts, Title, TitleSource};
use crate::dialog::{Block, Call, CallResult, Message, Origin, Part, Role, Usage, exit_code};
use crate::wire::object::{elements, non_empty, number, object, text};

/// See the module.
#[derive(Debug)]
pub(super) struct Gemini;

object! {
    Row {
        kind = "type",
        id = "id",
        time = "timestamp",
        content = "content",
        display = "displayContent",
        thoughts = "thoughts",
        tokens = "tokens",
        model = "model",
        calls = "toolCalls",
        session = "sessionId",
        project = "projectHash",
        start = "startTime",
        updated = "lastUpdated",
        session_kind = "kind",
        directories = "directories",
        summary = "summary",
        set = "$set",
        rewind_to = "$rewindTo",
    }
}

object! {
    Set {
        messages = "messages",
        updated = "lastUpdated",
        summary = "summary",
        directories = "directories",
    }
}

object! {
    Thought {
        subject = "subject",
        description = "description",
    }
}

object! {
    Tokens {
        input = "input",
        output = "output",
        cached = "cached",
        thoughts = "thoughts",
    }
}

object! {
    ToolCall {
        id = "id",
        name = "name",
        args = "args",
        result = "result",
        status = "status",
        display = "resultDisplay",
    }
}

/// What a row does to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// It adds a message, or replaces the one with this id.
    Put(String),
    /// Its items replace everything; their ids.
    Reset(Vec<String>),
    /// The message with this id goes, and all after it.
    RewindTo(String),
    /// Nothing.
    Nothing,
}

impl Gemini {
    /// What a row does to the log.
    pub(super) fn step(record: &str) -> Step {
        let Some(row) = Row::read(record) else {
            return Step::Nothing;
        };
        if let Some(id) = string(row.rewind_to) {
            return Step::RewindTo(id);
        }
        if let Some(set) = Set::of(row.set) {
            let Some(messages) = set.messages else {
                return Step::Nothing;
            };
            let rows = Row::list(Some(messages)).into_iter();
            return Step::Reset(rows.map(|row| string(row.id).unwrap_or_default()).collect());
        }
        match (string(row.kind), string(row.id)) {
            (Some(_), id) => Step::Put(id.unwrap_or_default()),
            (None, _) => Step::Nothing,
        }
    }
}

impl Format for Gemini {
    fn agent(&self) -> Agent {
        Agent::Gemini
    }

    fn shape(&self) -> Shape {
        Shape::Replay
    }

    fn envelope(&self, record: &str) -> Envelope {
        let row = Row::read(record).unwrap_or_default();
        let set = Set::of(row.set);
        let kind = if row.set.is_some() {
            "$set".to_owned()
        } else if row.rewind_to.is_some() {
            "$rewindTo".to_owned()
        } else if row.project.is_some() {
            "header".to_owned()
        } else {
            string(row.kind).unwrap_or_default()
        };
        let time = string(row.time)
            .or_else(|| set.and_then(|set| string(set.updated)))
            .or_else(|| string(row.start));
        Envelope {
            kind,
            subtype: None,
            uuid: string(row.id),
            parent: None,
            time,
        }
    }

    fn knows(&self, envelope: &Envelope) -> bool {
        const KINDS: [&str; 8] = [
            "$set",
            "$rewindTo",
            "header",
            "user",
            "gemini",
            "info",
            "warning",
            "error",
        ];
        KINDS.contains(&envelope.kind.as_str())
    }

    fn messages(&self, record: &str) -> Vec<Message> {
        let Some(row) = Row::read(record) else {
            return Vec::new();
        };
        match Set::of(row.set) {
            Some(set) => Row::list(set.messages).iter().flat_map(said).collect(),
            None => said(&row),
        }
    }

    fn item_messages(&self, record: &str, item: u32) -> Vec<Message> {
        let Some(row) = Row::read(record) else {
            return Vec::new();
        };
        match Set::of(row.set) {
            Some(set) => Row::list(set.messages)
                .get(item as usize)
                .map(said)
                .unwrap_or_default(),
            None => said(&row),
        }
    }

    fn facts(&self, record: &str, facts: &mut Facts) {
        let Some(row) = Row::read(record) else {
            return;
        };
        let set = Set::of(row.set).unwrap_or_default();
        if facts.session_id.is_none() {
            facts.session_id = string(row.session);
            facts.is_subagent = text(row.session_kind).as_deref() == Some("subagent");
        }
        if let Some(hash) = string(row.project) {
            facts.cwd_hash = Some(hash);
        }
        let directories = row.directories.or(set.directories);
        facts.note_cwd(
            elements(directories)
                .first()
                .and_then(|raw| string(Some(raw))),
        );
        for time in [row.time, row.start, row.updated, set.updated] {
            facts.note_time(time);
        }
        facts.note_model(string(row.model));
    }

    fn title_search(&self) -> TitleSearch {
        TitleSearch {
            needle: "\"summary\"",
            precedence: Precedence::Later,
        }
    }

    fn title(&self, record: &str) -> Option<TitleRecord> {
        let row = Row::read(record)?;
        let set = Set::of(row.set).unwrap_or_default();
        let is_head = row.project.is_some() && row.kind.is_none();
        let summary = match text(set.summary) {
            Some(summary) => summary,
            None if is_head => text(row.summary)?,
            None => return None,
        };
        Some(TitleRecord {
            title: Title {
                text: summary.into_owned(),
                source: TitleSource::Auto,
            },
            time: None,
            standing: Standing::Ordinary,
        })
    }
}

/// What is said in a row: a reply with calls is followed by their results.
fn said(row: &Row<'_>) -> Vec<Message> {
    let mut messages = match text(row.kind).as_deref() {
        Some("user") => user(row),
        Some("gemini") => reply(row),
        Some("error") => {
            let told = plain(row.content);
            vec![note(Role::System, Origin::Error, told)]
        }
        Some("info" | "warning") => {
            let told = plain(row.content);
            vec![note(Role::System, Origin::Injected, told)]
        }
        _ => Vec::new(),
    };
    for message in &mut messages {
        message.uuid = string(row.id);
        message.time = string(row.time);
    }
    messages
}

fn plain(content: Option<&RawValue>) -> String {
    let message = Message {
        blocks: blocks(content),
        ..Message::new(Role::System, Origin::Injected)
    };
    message.text()
}

/// Results stand in the row of the calls too, and there with their status.
fn user(row: &Row<'_>) -> Vec<Message> {
    let mut content = blocks(row.display.or(row.content));
    let had_results = content
        .iter()
        .any(|block| matches!(block, Block::Result(_)));
    content.retain(|block| !matches!(block, Block::Result(_)));
    if content.is_empty() && had_results {
        return Vec::new();
    }
    user_messages(Origin::Prompt, content)
}

fn reply(row: &Row<'_>) -> Vec<Message> {
    let mut content: Vec<Block> = Thought::list(row.thoughts).iter().map(thought).collect();
    let spoken = blocks(row.content).into_iter();
    content.extend(spoken.filter(|block| !matches!(block, Block::Text(text) if text.is_empty())));
    let message_id = non_empty(row.id).unwrap_or_default();
    let mut results = Vec::new();
    for (index, call) in ToolCall::list(row.calls).iter().enumerate() {
        let id = string(call.id).unwrap_or_else(|| format!("{message_id}#{index}"));
        content.push(Block::Call(Call {
            id: id.clone(),
            name: string(call.name).unwrap_or_default(),
            input: input_of(call.args),
        }));
        results.extend(result(call, id).map(Block::Result));
    }
    let mut messages = vec![Message {
        id: string(row.id),
        model: string(row.model),
        usage: usage(row.tokens),
        blocks: content,
        ..Message::new(Role::Assistant, Origin::Reply)
    }];
    if !results.is_empty() {
        messages.push(Message {
            blocks: results,
            ..Message::new(Role::User, Origin::Results)
        });
    }
    messages
}

fn thought(thought: &Thought<'_>) -> Block {
    let words = [thought.subject, thought.description];
    let words: Vec<String> = words.into_iter().filter_map(string).collect();
    Block::Thinking(words.join(": "))
}

/// The result of a call, as far as there is one.
fn result(call: &ToolCall<'_>, id: String) -> Option<CallResult> {
    let status = string(call.status);
    let failed = matches!(status.as_deref(), Some("error" | "cancelled"));
    let mut parts = Vec::new();
    let mut told_of_failure = false;
    for block in blocks(call.result) {
        match block {
            Block::Result(result) => {
                told_of_failure |= result.failed;
                parts.extend(result.parts);
            }
            Block::Text(text) => parts.push(Part::Text(text)),
            Block::Media(media) => parts.push(Part::Media(media)),
            Block::Thinking(_) | Block::Call(_) => {}
        }
    }
    if parts.is_empty() {
        let display = string(call.display);
        if display.is_none() && !failed && call.result.is_none() {
            return None;
        }
        parts.push(Part::Text(display.unwrap_or_default()));
    }
    let code = parts.iter().find_map(|part| match part {
        Part::Text(text) => exit_code(text),
        Part::Media(_) => None,
    });
    Some(CallResult {
        id,
        parts,
        failed: failed || told_of_failure || code.is_some_and(|code| code != 0),
    })
}

fn usage(raw: Option<&RawValue>) -> Option<Usage> {
    let tokens = Tokens::of(raw)?;
    let count = |raw| number(raw).unwrap_or_default();
    let (cached, thinking) = (count(tokens.cached), count(tokens.thoughts));
    Some(Usage {
        input: count(tokens.input).saturating_sub(cached),
        output: count(tokens.output) + thinking,
        cache_read: cached,
        thinking,
        ..Usage::default()
    })
}
