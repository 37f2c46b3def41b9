//! Kimi Code: `~/.kimi-code/sessions/<directory>/<session>/agents/<agent>/wire.jsonl`, a file for the session (`main`)
//! and one for each subagent, with the title and the parent of a fork in `state.json` of the session.
//!
//! Each part of a reply is a row. Events for clients (`agent.message.appended`) repeat these parts, with earlier times than
//! the rows before them.

use std::path::Path;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::agent::Agent;
use super::content::{
    input_of, is_in, is_true, is_unique_id, new_call, new_message, new_reply, new_result, new_text,
    parse_time, read_tokens, result_parts, session_stem, split_user, string,
};
use super::counting::{IdScope, Meter, TokenCounting, TokenSource};
use super::entry::{Change, Entry, Part};
use super::facts::{Facts, SubagentFacts};
use super::format::Format;
use super::layout::{Layout, SubagentFiles, Subagents};
use super::reading::{Detail, Reading, Shape};
use super::sign::Row as Marks;
use super::title::{ManualTitle, StoredTitle, TitleSource};
use super::title_format::TitleFormat;
use turnpipe_core::io::read_regular;
use turnpipe_core::json::{has_text, non_empty, object, text};
use turnpipe_core::message::{Block, CallEnd, Media, Message, Origin, Role, ToolResult};

/// The format of Kimi Code.
pub(super) static KIMI: Format = Format {
    reading: Reading {
        shape: Shape::Replay,
        cost_words: &[
            "\"usage.record\"",
            "\"llm.request\"",
            "\"stepUuid\"",
            "\"assistant\"",
        ],
        activity_words: &["\"context.append_", "\"turn."],
        ..Reading::SEQUENCE
    },
    counting: TokenCounting {
        ids: IdScope::Global,
        tokens: TokenSource::Records,
        has_older_copies: true,
        ..TokenCounting::REPLIES
    },
    layout: Layout {
        home_variables: &["KIMI_CODE_HOME"],
        home: ".kimi-code",
        session_dirs: &["sessions"],
        side_rows,
        subagents: Subagents::Files(SubagentFiles {
            directory: |session| Some(FilePlace::parse(session)?.session.join("agents")),
            is_file: |path| FilePlace::parse(path).is_some_and(|place| place.agent != MAIN),
            id: |path| Some(FilePlace::parse(path)?.agent.to_owned()),
            is_reserved: true,
        }),
        belongings: |session, _| {
            let own = FilePlace::parse(session).filter(FilePlace::is_own);
            let own = own.map(|place| place.session.to_owned());
            own.into_iter().collect()
        },
        resume: |id, _| Some(format!("kimi -r {id}")),
        ..Layout::NONE
    },
    titles: TitleFormat {
        words: &["\"session.state\""],
        ..TitleFormat::NONE
    },
    ..Format::new(Agent::Kimi, read, has_marks)
};

object! {
    Row {
        kind = "type", form = "kind", time, created = "created_at", agent = "agentId", message: MessageFields<'a>, event: Event<'a>,
        usage: Tokens<'a>, model, alias = "modelAlias", turn = "turnId", first_turn = "fromTurnId", reason,
        error: Failure<'a>, summary, environment: Environment<'a> = "environmentDisclosure",
        session, state: State<'a>, profile = "profileName",
    }
}

object! {
    State {
        cwd, title, is_custom_title = "isCustomTitle", forked_from = "forkedFrom", created = "createdAt",
    }
}

object! {
    Event {
        kind = "type", uuid, step = "stepUuid", of_call = "parentUuid", call_id = "toolCallId", name, args,
        part: ContentPart<'a>, result: Outcome<'a>,
    }
}

object! {
    MessageFields {
        role, id, content, origin: Source<'a>, calls = "toolCalls", call_id = "toolCallId", is_error = "isError",
    }
}

object! {
    Source {
        kind, name, trigger, skill = "skillName", skill_args = "skillArgs", command = "commandName",
        command_args = "commandArgs",
    }
}

object! {
    ContentPart {
        kind = "type", text, think, image: Address<'a> = "imageUrl", audio: Address<'a> = "audioUrl",
        video: Address<'a> = "videoUrl",
    }
}

object! { Address { url } }
object! { Called { id, name, arguments, function: Function<'a> } }
object! { Function { name, arguments } }
object! { Outcome { output, is_error = "isError" } }
object! { Failure { message } }
object! { Environment { cwd } }

object! {
    Tokens {
        input = "inputOther", output, cache_read = "inputCacheRead", cache_write = "inputCacheCreation",
    }
}

/// The name of the agent that is not a subagent.
const MAIN: &str = "main";

/// Known types. The first one is derived from `state.json`.
const KINDS: &str = "session.state metadata agent.message.appended agent.switched agent.turn.ended agent.turn.started \
    config.update context.append_loop_event context.append_message context.apply_compaction context.clear \
    context.undo context.undone context.update_token_count cron.add cron.cursor cron.delete \
    file_history.checkpoint file_history.tracked forked full_compaction.begin full_compaction.cancel \
    full_compaction.complete goal.clear goal.create goal.update interaction.request interaction.resolved \
    interruptionReminder.recorded llm.request llm.tools_snapshot mcp.tools_discovered micro_compaction.apply \
    permission.record_approval_result permission.set_mode plan.revision plan_mode.cancel plan_mode.enter \
    plan_mode.exit plugin.session_start profile.bind prompt.aborted prompt.accepted prompt.completed prompt.steered \
    runtime.set_binding staleGuard.cleared staleGuard.recorded subagent.completed subagent.spawned subagent.started \
    swarm_mode.enter swarm_mode.exit task.started task.terminated task.waitDelivered token_counting.measured \
    token_counting.rebased token_counting.truncated token_counting.turn_recorded tools.register_user_tool \
    tools.reset_active_tools tools.set_active_tools tools.unregister_user_tool tools.update_store tower_mode.enter \
    tower_mode.exit turn.cancel turn.ended turn.prompt turn.steer turn.step.interrupted turn.step.retrying \
    usage.record";

/// Known types of events in a turn.
const EVENTS: &str = "step.begin content.part tool.call tool.result step.end";

fn has_marks(row: &Marks<'_>) -> bool {
    let is_first = row.is_kind("metadata") && row.protocol.is_some() && row.created.is_some();
    is_first || row.is_one_of("context.append_message context.append_loop_event usage.record")
}

/// The session and the agent that the path of a file names.
struct FilePlace<'a> {
    session: &'a Path,
    agent: &'a str,
}

impl<'a> FilePlace<'a> {
    fn parse(file: &'a Path) -> Option<Self> {
        let agent = file.parent()?;
        let agents = agent.parent()?;
        let is_usual = session_stem(file)? == "wire" && agents.file_name()? == "agents";
        let place = Self {
            session: agents.parent()?,
            agent: agent.file_name()?.to_str()?,
        };
        is_usual.then_some(place)
    }

    /// Returns the id of the session.
    fn id(&self) -> Option<&str> {
        self.session.file_name()?.to_str()
    }

    /// Whether the directory belongs to this session alone.
    fn is_own(&self) -> bool {
        let id = self.id().and_then(|id| id.strip_prefix("session_"));
        id.is_some_and(|id| is_unique_id(id.as_ref()))
    }
}

/// Returns a row with the facts in `state.json` and in the path.
fn side_rows(file: &Path) -> Vec<String> {
    let row = FilePlace::parse(file).map(|place| {
        let state = read_regular(&place.session.join("state.json"));
        let state = state.ok().and_then(|json| serde_json::from_str(&json).ok());
        json!({
            "type": "session.state", "session": place.id(), "agentId": place.agent,
            "state": state.unwrap_or(Value::Null),
        })
    });
    row.iter().map(ToString::to_string).collect()
}

fn read(record: &str, detail: Detail) -> Option<Entry> {
    let row = Row::read(record)?;
    let kind = string(row.kind).unwrap_or_default();
    let state = row.state.unwrap_or_default();
    let event = row.event.unwrap_or_default();
    let subtype = string(event.kind);
    let time = row.time.or(row.created).or(state.created);
    let time = time.filter(|_| !has_text(row.form, "event"));
    let is_known_event = || subtype.as_ref().is_none_or(|kind| is_in(EVENTS, kind));
    let entry = Entry {
        is_known: is_in(KINDS, &kind) && is_known_event(),
        uuid: [
            event.uuid,
            event.of_call,
            row.message.and_then(|fields| fields.id),
        ]
        .into_iter()
        .find_map(string),
        part: Part::Turn,
        time: parse_time(time).map(|time| time.to_string()),
        facts: read_facts(&row, &state, time),
        title: read_title(&row, &state),
        meters: read_meter(&row).into_iter().collect(),
        subtype,
        kind,
        ..Entry::default()
    };
    if detail == Detail::Outline {
        return Some(entry);
    }
    let messages = read_messages(&row, &event, &entry.kind);
    let change = read_change(&row, &entry.kind, !messages.is_empty());
    Some(Entry {
        change,
        ..entry.with_messages(messages)
    })
}

fn read_facts(row: &Row<'_>, state: &State<'_>, time: Option<&RawValue>) -> Facts {
    let environment = row.environment.unwrap_or_default();
    let forked_from = string(state.forked_from);
    let facts = Facts {
        session_id: string(row.session),
        is_subagent: row.session.is_some() && !has_text(row.agent, MAIN),
        subagent: SubagentFacts::from_type(string(row.profile)),
        is_head: forked_from.is_some(),
        forked_from,
        // Other rows with a model have the name in the configuration of the user.
        model: string(row.model.filter(|_| has_text(row.kind, "llm.request")))
            .or_else(|| string(row.alias)),
        ..Facts::from_time(time)
    };
    facts.with_directory(string(state.cwd.or(environment.cwd)))
}

fn read_title(row: &Row<'_>, state: &State<'_>) -> Option<StoredTitle> {
    let title = non_empty(state.title).filter(|_| has_text(row.agent, MAIN))?;
    let source = if is_true(state.is_custom_title) {
        TitleSource::Manual
    } else {
        TitleSource::Auto
    };
    Some(StoredTitle::new(title, source, None, ManualTitle::Keep))
}

/// Returns the tokens of a request; `None` for an interrupted request, whose tokens are zero.
fn read_meter(row: &Row<'_>) -> Option<Meter> {
    let fields = row.usage.filter(|_| has_text(row.kind, "usage.record"))?;
    let counts = [
        fields.input,
        fields.output,
        fields.cache_read,
        fields.cache_write,
    ];
    let usage = read_tokens(counts);
    let parts = [row.agent, row.time].into_iter().chain(counts);
    let id: Vec<&str> = parts.flatten().map(RawValue::get).collect();
    usage.is_billable().then(|| Meter::Request {
        id: id.join(" "),
        usage,
        is_first: false,
        session: None,
    })
}

/// Returns the change of the conversation by a row. A turn starts at its prompt; an undo names the number of a turn.
fn read_change(row: &Row<'_>, kind: &str, has_messages: bool) -> Change {
    let turn = |number: Option<&RawValue>| Some(format!("turn {}", number?.get()));
    match kind {
        "turn.prompt" => Change::Put(turn(row.turn).unwrap_or_default()),
        "context.undone" => turn(row.first_turn).map_or(Change::Nothing, Change::RewindTo),
        // A request names the model of the next replies.
        "llm.request" => Change::Put(String::new()),
        _ if has_messages => Change::Put(String::new()),
        _ => Change::Nothing,
    }
}

fn read_messages(row: &Row<'_>, event: &Event<'_>, kind: &str) -> Vec<Message> {
    let message = match kind {
        "context.append_message" => {
            return row
                .message
                .map(|fields| read_whole_message(&fields))
                .unwrap_or_default();
        }
        "context.append_loop_event" => read_event(event),
        "context.apply_compaction" => {
            let summary = string(row.summary).unwrap_or_default();
            Some(new_text(Role::System, Origin::Compaction, summary))
        }
        "turn.ended" if has_text(row.reason, "cancelled") => {
            let notice = "[Request interrupted by user]".to_owned();
            Some(new_text(Role::User, Origin::Injected, notice))
        }
        "turn.ended" if has_text(row.reason, "failed") => {
            let reason = row.error.and_then(|error| string(error.message));
            Some(new_text(
                Role::System,
                Origin::Error,
                reason.unwrap_or_default(),
            ))
        }
        _ => None,
    };
    message.into_iter().collect()
}

/// Returns the message with one block that an event of a turn contains.
fn read_event(event: &Event<'_>) -> Option<Message> {
    let block = match text(event.kind)?.as_ref() {
        "content.part" => read_block(&event.part?)?,
        "tool.call" => new_call(
            string(event.call_id)?,
            string(event.name).unwrap_or_default(),
            input_of(event.args),
        ),
        "tool.result" => {
            let outcome = event.result.unwrap_or_default();
            return Some(result_message(
                string(event.call_id)?,
                outcome.output,
                outcome.is_error,
            ));
        }
        _ => return None,
    };
    Some(Message {
        id: string(event.step),
        ..new_reply(vec![block])
    })
}

fn read_whole_message(fields: &MessageFields<'_>) -> Vec<Message> {
    let source = fields.origin.unwrap_or_default();
    let mut blocks = read_blocks(fields.content);
    match text(fields.role).as_deref() {
        Some("assistant") => {
            blocks.extend(Called::read_list(fields.calls).iter().filter_map(read_call));
            vec![new_reply(blocks)]
        }
        Some("tool") => string(fields.call_id)
            .map(|id| result_message(id, fields.content, fields.is_error))
            .into_iter()
            .collect(),
        Some("user") => {
            let command = typed_command(&source);
            let messages = match text(source.kind).as_deref() {
                None | Some("user") => split_user(Origin::Prompt, blocks),
                Some("system_trigger") if has_text(source.name, "subagent") => {
                    vec![new_message(Role::User, Origin::Prompt, blocks)]
                }
                Some("compaction_summary") => {
                    vec![new_message(Role::User, Origin::Summary, blocks)]
                }
                Some(_) => vec![new_message(Role::User, Origin::Injected, blocks)],
            };
            let prompt = command.map(|command| new_text(Role::User, Origin::Prompt, command));
            let all = prompt.into_iter().chain(messages);
            all.map(|message| Message {
                id: string(fields.id),
                ..message
            })
            .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the command of the user that the agent replaced with the text of a skill or a plugin.
fn typed_command(source: &Source<'_>) -> Option<String> {
    let name =
        text(source.skill.or(source.command)).filter(|_| has_text(source.trigger, "user-slash"))?;
    let arguments = text(source.skill_args.or(source.command_args)).unwrap_or_default();
    Some(format!("/{name} {arguments}").trim_end().to_owned())
}

/// Returns a call in a whole message, as older versions store it.
fn read_call(called: &Called<'_>) -> Option<Block> {
    let function = called.function.unwrap_or_default();
    let arguments = text(called.arguments.or(function.arguments));
    let input = arguments.and_then(|json| RawValue::from_string(json.into_owned()).ok());
    let name = string(called.name.or(function.name)).unwrap_or_default();
    let input = input_of(input.as_deref());
    Some(new_call(string(called.id)?, name, input))
}

/// Returns the blocks of content, which is a text or a list of parts.
fn read_blocks(content: Option<&RawValue>) -> Vec<Block> {
    let text = string(content).map(Block::Text);
    let parts = ContentPart::read_list(content);
    let blocks = parts.iter().filter_map(read_block);
    text.into_iter().chain(blocks).collect()
}

fn read_block(part: &ContentPart<'_>) -> Option<Block> {
    let media = part.image.or(part.audio).or(part.video);
    match text(part.kind)?.as_ref() {
        "text" => string(part.text).map(Block::Text),
        "think" => string(part.think).map(Block::thinking),
        "image_url" | "audio_url" | "video_url" => {
            Some(Block::Media(read_media(&text(media?.url)?)))
        }
        _ => None,
    }
}

/// Returns the attachment at an address; without data unless the address contains it. Most addresses name a file.
fn read_media(url: &str) -> Media {
    let embedded = url
        .strip_prefix("data:")
        .and_then(|data| data.split_once(";base64,"));
    Media {
        media_type: embedded
            .map(|(kind, _)| kind.to_owned())
            .unwrap_or_default(),
        data: embedded.map(|(_, data)| data.to_owned()),
    }
}

fn result_message(id: String, output: Option<&RawValue>, is_error: Option<&RawValue>) -> Message {
    let mut result = ToolResult {
        id,
        parts: result_parts(read_blocks(output)),
        failed: is_true(is_error),
        end: None,
    };
    result.end = parse_end(&result.text()).filter(|_| result.failed);
    new_result(result)
}

/// Returns the end of a command that failed, in the last line of its output.
fn parse_end(output: &str) -> Option<CallEnd> {
    let last = output.lines().next_back()?;
    if last == "Session closed" {
        return Some(CallEnd::Interrupted);
    }
    let status = last.strip_prefix("Command failed with exit code: ")?;
    Some(CallEnd::Exited(status.strip_suffix('.')?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use turnpipe_core::message::ResultPart;

    use super::*;

    fn read_appended_message(message: &str) -> Vec<Message> {
        let record = format!(r#"{{"type":"context.append_message","message":{message}}}"#);
        KIMI.messages(&record)
    }

    #[test]
    fn a_skill_is_the_command_that_was_typed() {
        let messages = read_appended_message(
            r#"{"role":"user","id":"m","content":[{"type":"text","text":"Review it."}],"toolCalls":[],
            "origin":{"kind":"skill_activation","trigger":"user-slash","skillName":"review","skillArgs":"src"}}"#,
        );
        let [typed, body] = messages.as_slice() else {
            panic!("{messages:?}");
        };
        assert_eq!(body.origin, Origin::Injected);
        assert_eq!(
            (typed.origin, typed.text().as_str()),
            (Origin::Prompt, "/review src")
        );
    }

    #[test]
    fn messages_of_older_versions_are_whole() {
        for called in [
            r#"{"type":"function","id":"c","name":"Bash","arguments":"{\"command\":\"ls\"}"}"#,
            r#"{"type":"function","id":"c","function":{"name":"Bash","arguments":"{\"command\":\"ls\"}"}}"#,
        ] {
            let messages = read_appended_message(&format!(
                r#"{{"role":"assistant","content":[],"toolCalls":[{called}]}}"#
            ));
            let call = messages[0].calls().next().unwrap();
            assert_eq!(
                (call.name.as_str(), call.input.get()),
                ("Bash", r#"{"command":"ls"}"#)
            );
        }
        let messages = read_appended_message(
            r#"{"role":"tool","toolCallId":"c","content":[{"type":"text","text":"a"}],"toolCalls":[]}"#,
        );
        assert_eq!(messages[0].results().next().unwrap().text(), "a");
    }

    #[test]
    fn images_are_read_if_the_file_holds_them() {
        let record = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c","result":{"output":[
            {"type":"image_url","imageUrl":{"url":"data:image/png;base64,AAAA"}},
            {"type":"image_url","imageUrl":{"url":"blobref:image/png;0123"}}]}}}"#;
        let messages = KIMI.messages(record);
        let result = messages[0].results().next().unwrap();
        let held = result.parts.iter().map(|part| match part {
            ResultPart::Media(media) => media.data.as_deref(),
            ResultPart::Text(_) => None,
        });
        assert_eq!(held.collect::<Vec<_>>(), [Some("AAAA"), None]);
    }

    #[test]
    fn a_turn_that_failed_has_an_error() {
        let record = r#"{"type":"turn.ended","turnId":0,"reason":"failed","error":{"code":"x","message":"no quota"}}"#;
        let messages = KIMI.messages(record);
        assert_eq!(
            (messages[0].origin, messages[0].text().as_str()),
            (Origin::Error, "no quota")
        );
    }

    #[test]
    fn other_types_are_unknown() {
        let is_known = |record: &str| KIMI.read(record, Detail::Full).unwrap().is_known;
        assert!(is_known(r#"{"type":"turn.steer","input":[]}"#));
        assert!(!is_known(r#"{"type":"turn.new"}"#));
        assert!(!is_known(
            r#"{"type":"context.append_loop_event","event":{"type":"step.new"}}"#
        ));
    }

    /// The user may have made other directories with such names.
    #[test]
    fn only_a_directory_with_an_id_belongs_to_a_session() {
        let belongings = |dir: &str| {
            let path = format!("/h/sessions/p/{dir}/agents/main/wire.jsonl");
            (KIMI.layout.belongings)(Path::new(&path), "id")
        };
        let own = "session_33333333-2222-4333-8444-000000000001";
        assert_eq!(belongings(own), [Path::new("/h/sessions/p").join(own)]);
        assert!(belongings("mine").is_empty());
    }
}
