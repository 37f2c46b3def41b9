//! Claude Code: `~/.claude/projects/<directory>/<session>.jsonl`. turnpipe's own files have the same
//! form.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Agent;
use super::claude_edits::{read_change, result_id};
use super::claude_lines::classify;
use super::content::{
    is_in, is_true, is_unique_id, new_text, read_decimal, read_uuid_link, session_stem,
    sibling_path, split_user, string,
};
use super::counting::{IdScope, Repeats, SideCost, TokenCounting};
use super::entry::{Entry, Part, Summary, WebSearches};
use super::facts::{Facts, SubagentFacts};
use super::format::Format;
use super::hook_settings::HookSettings;
use super::layout::{Layout, SubagentFiles, Subagents, has_name_prefix, parse_subagent_id};
use super::own_record::{
    new_claude_title, new_recap, read_origin, read_side_cost, read_title_source,
};
use super::reading::{Detail, Reading, Shape};
use super::sign::Row as Marks;
use super::title::{ManualTitle, Precedence, StoredTitle, TitleSource};
use super::title_format::{TitleFormat, TitleStore};
use crate::api::{read_anthropic_blocks, read_anthropic_usage};
use turnpipe_core::io::{Environment, read_regular};
use turnpipe_core::json::{elements, non_null, number, object, text};
use turnpipe_core::message::{Message, Origin, Role};

/// The format of Claude Code.
pub(super) static CLAUDE: Format = Format {
    reading: Reading {
        shape: Shape::Tree,
        cost_words: &[
            "\"assistant\"",
            "\"usage\"",
            "\"searchCount\"",
            "\"cost-state\"",
        ],
        activity_words: &["\"user\"", "\"queued_command\""],
        classify,
        read_link: read_uuid_link,
        read_edits: |record, _| read_change(record).into_iter().collect(),
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        home_variables: HOME,
        home: ".claude",
        roots: find_roots,
        side_rows: |session| {
            if has_name_prefix(session, "agent-") {
                return vec![read_subagent_row(session)];
            }
            let file = sibling_path(session, "")
                .and_then(|dir| read_regular(&dir.join("custom-title.json")).ok());
            let title = file
                .as_deref()
                .and_then(Row::read)
                .and_then(|row| string(row.custom_title));
            let row = title
                .map(|title| json!({"type": "custom-title", "customTitle": title}).to_string());
            row.into_iter().collect()
        },
        subagents: Subagents::Files(SubagentFiles {
            directory: |session| Some(sibling_path(session, "")?.join("subagents")),
            is_file: |path| has_name_prefix(path, "agent-"),
            id: parse_subagent_id,
            is_reserved: true,
        }),
        belongings: |session, _| {
            let Some(dir) = sibling_path(session, "") else {
                return Vec::new();
            };
            if session_stem(session).is_some_and(is_unique_id) {
                return vec![dir];
            }
            ["subagents", "tool-results", "workflows"]
                .map(|name| dir.join(name))
                .into()
        },
        retention: Some(("cleanupPeriodDays", 30)),
        resume: |id, _| Some(format!("claude --resume {id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["-title\"", "\"summary\""],
        precedence: Precedence::Manual,
        store: TitleStore::SessionFile,
        new_title: Some(new_claude_title),
        new_recap: Some(|at, text| new_recap(at, text.into())),
        ..TitleFormat::NONE
    },
    hook_settings: Some(HookSettings {
        user: (HOME, ".claude"),
        project: ".claude/settings.json",
        takes_sandbox: true,
        activation: "new sessions use it; `/hooks` lists it",
        ..HookSettings::JSON
    }),
    ..Format::new(Agent::Claude, read, has_marks)
};

/// Returns what is known of a subagent from the file next to its own, and from its directory.
fn read_subagent_row(file: &Path) -> String {
    let stem = session_stem(file).unwrap_or_default().to_string_lossy();
    let json = read_regular(&file.with_file_name(format!("{stem}.meta.json"))).ok();
    let mut row = match json.and_then(|json| serde_json::from_str(&json).ok()) {
        Some(Value::Object(members)) => members,
        _ => serde_json::Map::new(),
    };
    let parent_dir = file.parent().and_then(Path::file_name);
    let workflow = parent_dir
        .and_then(OsStr::to_str)
        .filter(|name| name.starts_with("wf_"));
    row.insert("workflow".to_owned(), json!(workflow));
    row.insert("type".to_owned(), json!("subagent-meta"));
    Value::Object(row).to_string()
}

fn read_subagent(row: &Row<'_>, kind: &str) -> Option<Box<SubagentFacts>> {
    let facts = SubagentFacts {
        agent_type: string(row.agent_type),
        workflow: string(row.workflow),
        parent: string(row.parent_agent),
    };
    (kind == "subagent-meta").then(|| Box::new(facts))
}

/// Variables that name the directory of Claude Code.
const HOME: &[&str] = &["CLAUDE_CONFIG_DIR"];

/// Types of records that only Claude Code writes.
const OWN_KINDS: &str = "agent-name ai-title attachment bridge-session custom-title \
    continued-in cost-state file-history-delta file-history-snapshot last-prompt mode permission-mode pr-link progress \
    queue-operation relocated summary worktree-state";

fn has_marks(row: &Marks<'_>) -> bool {
    if row.is_one_of(OWN_KINDS) {
        return true;
    }
    let has_content = row.message.is_some_and(|message| message.content.is_some());
    let is_marked = row.parent.is_some() || row.session.is_some() || row.time.is_some();
    row.is_one_of("user assistant system")
        && is_marked
        && (has_content || row.is_kind("system") && text(row.session).is_some())
}

fn find_roots(_: &Layout, environment: &Environment) -> Vec<PathBuf> {
    let homes: Vec<PathBuf> = if let Some(list) = environment.text(HOME[0]) {
        let paths = list.split(',').map(str::trim);
        let paths = paths.filter(|path| !path.is_empty());
        paths.map(PathBuf::from).collect()
    } else {
        let home = environment.text("HOME").map(Path::new);
        let config = match environment.text("XDG_CONFIG_HOME") {
            Some(path) => Some(PathBuf::from(path)),
            None => home.map(|home| home.join(".config")),
        };
        let homes = [
            home.map(|home| home.join(".claude")),
            config.map(|config| config.join("claude")),
        ];
        homes.into_iter().flatten().collect()
    };
    homes
        .into_iter()
        .map(|home| home.join("projects"))
        .collect()
}

object! {
    Row {
        kind = "type", subtype, uuid, parent = "parentUuid", logical_parent = "logicalParentUuid",
        session = "sessionId", time = "timestamp", cwd, branch = "gitBranch",
        sidechain = "isSidechain", meta = "isMeta", compact_summary = "isCompactSummary",
        api_error = "isApiErrorMessage", message: MessageFields<'a>, content, summary, leaf = "leafUuid",
        labelled_calls = "preceding_tool_use_ids", custom_title = "customTitle",
        ai_title = "aiTitle", title_source = "titleSource", forked_from = "forkedFrom", attachment,
        origin, error, relocated = "relocatedCwd", turnpipe, progress: Progress<'a> = "data",
        tool_result: ToolUseResult<'a> = "toolUseResult", total_cost = "totalCostUSD",
        worktree: Worktree<'a> = "worktreeSession", agent_type = "agentType",
        parent_agent = "parentAgentId", workflow,
    }
}

object! { MessageFields { id, model, content, usage } }
object! { Fork { session = "sessionId" } }
object! { Attachment { kind = "type", prompt, origin } }
object! { ApiError { message, error, status } }
object! { Sender { kind } }
object! { Progress { kind = "type", message: SubagentRecord<'a>, agent = "agentId" } }
object! { SubagentRecord { kind = "type", time = "timestamp", message: MessageFields<'a> } }
object! { ToolUseResult { searches = "searchCount" } }
object! { Worktree { original = "originalCwd" } }

/// Known record types, the most frequent first.
const KINDS: &str = "assistant user progress agent-color agent-name agent-setting ai-title artifact-autoreact-ledger \
    artifact-comment-monitor atis-latch attribution-snapshot bridge-session content-replacement continued-in cost-state \
    custom-title file-history-delta file-history-snapshot fork-context-ref frame-link last-prompt subagent-meta \
    marble-origami-commit marble-origami-snapshot mode permission-mode pr-link queue-operation \
    relocated result speculation-accept started summary tag task-summary worktree-state system attachment tool_use_summary title recap";

pub(super) fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let kind = string(row.kind).unwrap_or_default();
    let subtype = string(row.subtype);
    let fields = row.message;
    let entry = Entry {
        is_known: is_in(KINDS, &kind),
        is_annotation: subtype.as_deref() == Some("away_summary")
            || row.turnpipe.is_some() && !matches!(kind.as_str(), "user" | "assistant"),
        uuid: string(row.uuid),
        parent: string(row.parent),
        logical_parent: string(row.logical_parent),
        part: match (kind.as_str(), subtype.as_deref()) {
            _ if is_true(row.sidechain) => Part::Side,
            ("user" | "assistant", _) => Part::Turn,
            // A recap stays the last record until the conversation continues.
            ("system", Some("compact_boundary" | "away_summary")) => Part::Step,
            _ => Part::Aside,
        },
        time: string(row.time),
        facts: read_facts(&row, &kind, fields, detail),
        title: read_title(&row, &kind),
        subagent: row
            .progress
            .filter(|_| kind == "progress")
            .and_then(|progress| string(progress.agent)),
        summary: if kind == "summary" {
            read_summary(&row)
        } else {
            None
        },
        kind,
        subtype,
        ..Entry::default()
    };
    if detail == Detail::Outline {
        return Some(entry);
    }
    let messages = read_messages(&row, &entry, fields, detail);
    let mut entry = entry.with_messages(messages);
    entry.side_cost = read_side_cost(row.turnpipe, &entry.messages)
        .or_else(|| read_subagent_cost(&row, &entry.kind));
    entry.searches = read_searches(&row);
    entry.recorded_cost = read_decimal(row.total_cost).filter(|_| entry.kind == "cost-state");
    Some(entry)
}

fn read_facts(
    row: &Row<'_>,
    kind: &str,
    fields: Option<MessageFields<'_>>,
    detail: Detail,
) -> Facts {
    let is_side = is_true(row.sidechain);
    let fields = fields.filter(|_| kind == "assistant");
    let model = fields.and_then(|fields| read_model(&fields));
    if matches!(detail, Detail::Costs | Detail::Activity) {
        // Callers that skip records read these facts at the ends of the file.
        return Facts {
            session_id: string(row.session),
            forked_from: read_fork(row),
            subagent: read_subagent(row, kind),
            model: model.filter(|_| !is_side),
            ..Facts::default()
        };
    }
    Facts {
        session_id: string(row.session),
        is_subagent: is_side && row.uuid.is_some(),
        is_main: !is_side && row.uuid.is_some() && matches!(kind, "user" | "assistant"),
        branch: string(row.branch),
        subagent: read_subagent(row, kind),
        repository: row.worktree.and_then(|tree| string(tree.original)),
        model,
        forked_from: read_fork(row),
        ..Facts::from_time(row.time)
    }
    .with_directory(string(row.relocated).or_else(|| string(row.cwd)))
}

fn read_summary(row: &Row<'_>) -> Option<Summary> {
    Some(Summary {
        last_record: string(row.leaf)?,
        text: string(row.summary)?,
    })
}

/// Returns the session that the record was copied from.
fn read_fork(row: &Row<'_>) -> Option<String> {
    Fork::from_raw(row.forked_from).and_then(|fork| string(fork.session))
}

fn read_title(row: &Row<'_>, kind: &str) -> Option<StoredTitle> {
    let (title, source) = match kind {
        "custom-title" => (text(row.custom_title)?, read_title_source(row.title_source)),
        "ai-title" => (text(row.ai_title)?, TitleSource::Auto),
        _ => return None,
    };
    // A custom title replaces all earlier titles.
    let manual_title = ManualTitle::from(kind == "custom-title");
    Some(StoredTitle::new(title, source, row.time, manual_title))
}

fn read_messages(
    row: &Row<'_>,
    entry: &Entry,
    fields: Option<MessageFields<'_>>,
    detail: Detail,
) -> Vec<Message> {
    let into_list = |message: Option<Message>| message.into_iter().collect();
    match entry.kind.as_str() {
        "user" => fields.map_or_else(Vec::new, |fields| read_user(row, &fields, detail)),
        "assistant" => into_list(fields.map(|fields| read_reply(row, &fields, detail))),
        "system" => into_list(read_system(row, entry.subtype.as_deref())),
        "attachment" => read_attachment(row, detail),
        "tool_use_summary" => into_list(string(row.summary).map(|label| {
            let calls = elements(row.labelled_calls).into_iter();
            Message {
                labelled_calls: calls.filter_map(|call| string(Some(call))).collect(),
                ..new_text(Role::System, Origin::Label, label)
            }
        })),
        _ => Vec::new(),
    }
}

/// Returns the reply to a subagent in a progress record.
fn read_subagent_cost(row: &Row<'_>, kind: &str) -> Option<SideCost> {
    let progress = row.progress.filter(|_| kind == "progress")?;
    let record = progress.message?;
    let fields = record.message?;
    Some(SideCost {
        id: Some(string(fields.id)?),
        repeats: Repeats::SubagentReply,
        prompt_id: None,
        model: read_model(&fields),
        usage: read_anthropic_usage(fields.usage).filter(|usage| !usage.is_empty())?,
    })
}

/// Returns the web searches of the call whose result the record contains.
fn read_searches(row: &Row<'_>) -> Option<WebSearches> {
    Some(WebSearches {
        count: number(row.tool_result?.searches).filter(|count| *count > 0)?,
        call: result_id(row.message?.content)?,
    })
}

fn read_user(row: &Row<'_>, fields: &MessageFields<'_>, detail: Detail) -> Vec<Message> {
    let origin = if is_true(row.compact_summary) {
        Origin::Summary
    } else if is_true(row.meta)
        || !is_by_user(row.origin)
        || read_origin(row.turnpipe).as_deref() == Some("injected")
    {
        Origin::Injected
    } else {
        Origin::Prompt
    };
    let blocks = read_anthropic_blocks(fields.content, detail.block_detail());
    split_user(origin, blocks)
}

/// Whether the sender is absent or the user.
fn is_by_user(sender: Option<&RawValue>) -> bool {
    let kind = Sender::from_raw(sender).and_then(|sender| string(sender.kind));
    kind.is_none_or(|kind| kind == "human")
}

/// Returns the model that replied, unless the reply is synthetic.
fn read_model(fields: &MessageFields<'_>) -> Option<String> {
    string(fields.model).filter(|model| model != "<synthetic>")
}

fn read_reply(row: &Row<'_>, fields: &MessageFields<'_>, detail: Detail) -> Message {
    let model = read_model(fields);
    let recorded = read_origin(row.turnpipe);
    // Claude Code writes such a reply itself, without a request.
    let is_synthetic = model.is_none() && string(fields.model).is_some();
    let origin = match recorded.as_deref() {
        Some("meter") => {
            return Message {
                usage: read_anthropic_usage(fields.usage),
                ..Message::new(Role::System, Origin::Meter)
            };
        }
        Some("error") => Origin::Error,
        _ if is_true(row.api_error) => Origin::Error,
        _ if is_synthetic => Origin::Injected,
        _ => Origin::Reply,
    };
    let usage = read_anthropic_usage(fields.usage).filter(|_| !is_synthetic);
    Message {
        id: string(fields.id),
        usage,
        model,
        blocks: match detail {
            Detail::Costs => Vec::new(),
            Detail::Activity | Detail::Outline | Detail::Counts | Detail::Full => {
                read_anthropic_blocks(fields.content, detail.block_detail())
            }
        },
        ..Message::new(Role::Assistant, origin)
    }
}

fn read_system(row: &Row<'_>, subtype: Option<&str>) -> Option<Message> {
    let content = string(row.content);
    let (origin, content) = match subtype? {
        "compact_boundary" => (Origin::Compaction, content.unwrap_or_default()),
        "away_summary" => (Origin::Recap, content.unwrap_or_default()),
        "api_error" | "error" | "api_refusal" => (
            Origin::Error,
            content.unwrap_or_else(|| read_api_error(row.error)),
        ),
        _ => return None,
    };
    Some(new_text(Role::System, origin, content))
}

/// Returns the text of an API error, at any level of nesting.
fn read_api_error(raw: Option<&RawValue>) -> String {
    if let Some(reason) = string(raw) {
        return reason;
    }
    let Some(error) = ApiError::from_raw(raw) else {
        return String::new();
    };
    if let Some(reason) = string(error.message) {
        return reason;
    }
    match non_null(error.error) {
        Some(inner) => read_api_error(Some(inner)),
        None => non_null(error.status).map_or_else(String::new, |status| status.get().to_owned()),
    }
}

/// Returns a prompt that the user typed while the model was working.
fn read_attachment(row: &Row<'_>, detail: Detail) -> Vec<Message> {
    let attachment = Attachment::from_raw(row.attachment).unwrap_or_default();
    let content = read_anthropic_blocks(attachment.prompt, detail.block_detail());
    if content.is_empty() || text(attachment.kind).as_deref() != Some("queued_command") {
        return Vec::new();
    }
    let origin = if is_by_user(attachment.origin) {
        Origin::Prompt
    } else {
        Origin::Injected
    };
    split_user(origin, content)
}
