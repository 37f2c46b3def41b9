//! The outline of a conversation: prompts, replies, and groups of tool calls with their results.

use std::collections::{HashMap, VecDeque};
use std::mem;

use crate::message::{Block, Call, Media, Message, Origin, ResultPart, Role, ToolResult};
use crate::session::MAX_WAITING;

/// The grouping of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Calls of one message.
    Batches,
    /// Calls of neighbouring messages.
    Merged,
    /// No grouping: calls and results are shown separately, in stream order.
    Apart,
}

#[derive(Debug, Clone)]
pub enum Section {
    /// The text of a message, or a note of the agent.
    Text {
        role: Role,
        origin: Origin,
        text: String,
        position: Position,
    },
    /// The model's thinking.
    Thinking(String, Position),
    /// An attachment.
    Media(Media, Position),
    /// A group of calls.
    Tools(ToolGroup),
    /// A call whose result follows later.
    Call(Call),
    /// A result without its call.
    Result(ToolResult, Position),
}

/// The position of a part of a message in the session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The number of the message.
    pub message: u64,
    /// Whether this is the first part of the message.
    pub is_first: bool,
    /// The recorded time.
    pub time: Option<String>,
}

/// A call with its result.
#[derive(Debug, Clone)]
pub struct ToolUse {
    pub call: Call,
    /// The position of the call.
    pub position: Position,
    /// The result with its position, if there is one.
    pub result: Option<(ToolResult, Position)>,
    /// The sections of the subagent that it started, if they are in the same file.
    pub subagent: Vec<Section>,
}

/// A subagent with a page.
#[derive(Debug, Clone)]
pub struct Subagent {
    pub id: String,
    /// The file name of the page, which needs no escaping.
    pub page: String,
}

impl ToolUse {
    /// Whether `result` is the result of this call, which has none yet.
    fn is_answered_by(&self, result: &ToolResult) -> bool {
        self.result.is_none() && self.call.id == result.id
    }

    /// Returns the page of the subagent that the call started.
    pub(super) fn subagent_page<'a>(&self, subagents: &'a [Subagent]) -> Option<&'a str> {
        // Most sessions have no subagents.
        let text = match &self.result {
            Some((result, _)) if !subagents.is_empty() => result.text(),
            _ => String::new(),
        };
        find_subagent_page(&self.call.id, &text, subagents)
    }
}

/// Returns the page of the subagent that a call started. Claude Code prints its id in the `result`;
/// Qwen Code ends its id with the id of the call.
pub(super) fn find_subagent_page<'a>(
    call: &str,
    result: &str,
    subagents: &'a [Subagent],
) -> Option<&'a str> {
    let printed_id = result.lines().find_map(|line| {
        let id = line.strip_prefix("agentId: ")?;
        id.split_ascii_whitespace().next()
    });
    let is_started = |subagent: &&Subagent| match printed_id {
        Some(id) => subagent.id == id,
        None => !call.is_empty() && subagent.id.ends_with(call),
    };
    subagents
        .iter()
        .find(is_started)
        .map(|subagent| subagent.page.as_str())
}

/// A group of calls.
#[derive(Debug, Clone, Default)]
pub struct ToolGroup {
    /// The label of the first batch that has one.
    pub label: Option<String>,
    pub calls: Vec<ToolUse>,
}

/// Maximum size of the messages whose sections wait, in bytes.
const MAX_WAITING_SIZE: usize = 16 * 1024 * 1024;

/// Maximum depth of subagents of subagents. The messages of deeper ones are shown among those of their parents.
const MAX_DEPTH: usize = 8;

/// Builds sections from messages. A call has its result, and the sections of the subagent that it started: later
/// sections wait for them.
#[derive(Debug)]
pub struct Outline {
    grouping: Grouping,
    /// The number of subagents above.
    depth: usize,
    group: ToolGroup,
    /// Sections that wait, in order.
    pending: VecDeque<Section>,
    /// The size of the messages in `group` and `pending`.
    size: usize,
    /// The outlines of subagents, by the calls that started them.
    subagents: HashMap<String, Self>,
    /// The call of this outline above each call of a subagent.
    callers: HashMap<String, String>,
}

impl Outline {
    /// Creates an empty outline.
    pub fn new(grouping: Grouping) -> Self {
        Self {
            grouping,
            depth: 0,
            group: ToolGroup::default(),
            pending: VecDeque::new(),
            size: 0,
            subagents: HashMap::new(),
            callers: HashMap::new(),
        }
    }

    /// Adds a complete message with its number. Returns the completed sections.
    pub fn push(&mut self, number: u64, message: Message) -> Vec<Section> {
        self.size += message.size();
        match self.caller_of(&message) {
            Some(caller) => self.pass_to_subagent(number, message, &caller),
            None => self.add(number, message),
        }
        if self.size > MAX_WAITING_SIZE {
            return self.finish();
        }
        self.release(false)
    }

    /// Returns the remaining sections.
    pub fn finish(&mut self) -> Vec<Section> {
        self.close_group();
        self.release(true)
    }

    /// Returns the call that has the sections of a message of a subagent.
    fn caller_of(&mut self, message: &Message) -> Option<String> {
        let call = message.parent_call.as_ref()?;
        let caller = self.callers.get(call).unwrap_or(call).clone();
        let is_known =
            self.depth < MAX_DEPTH && self.find_tool(|tool| tool.call.id == caller).is_some();
        is_known.then_some(caller)
    }

    fn pass_to_subagent(&mut self, number: u64, mut message: Message, caller: &str) {
        let calls = message.calls();
        self.callers
            .extend(calls.map(|call| (call.id.clone(), caller.to_owned())));
        message.parent_call.take_if(|call| *call == caller);
        let subagent = self.subagents.entry(caller.to_owned());
        let outline = subagent.or_insert_with(|| Self {
            depth: self.depth + 1,
            ..Self::new(self.grouping)
        });
        let sections = outline.push(number, message);
        if let Some(tool) = self.find_tool(|tool| tool.call.id == caller) {
            tool.subagent.extend(sections);
        }
    }

    fn add(&mut self, number: u64, message: Message) {
        if message.origin == Origin::Label {
            let label = message.text();
            if self.group.calls.is_empty() {
                self.pending.push_back(Section::Tools(ToolGroup {
                    label: Some(label),
                    calls: Vec::new(),
                }));
            } else {
                self.group.label.get_or_insert(label);
            }
            return;
        }
        let ends_batch = self.grouping == Grouping::Batches && !self.group.is_waiting();
        let is_full = self.group.calls.len() >= MAX_WAITING;
        if message.role == Role::Assistant && (ends_batch || is_full) {
            self.close_group();
        }
        let Message {
            role, origin, time, ..
        } = message;
        let mut is_first = true;
        let mut position = || Position {
            message: number,
            is_first: mem::take(&mut is_first),
            time: time.clone(),
        };
        for block in message.blocks {
            let section = match block {
                Block::Call(call) if self.grouping == Grouping::Apart => Section::Call(call),
                Block::Call(call) => {
                    self.group.calls.push(ToolUse {
                        call,
                        position: position(),
                        result: None,
                        subagent: Vec::new(),
                    });
                    continue;
                }
                Block::Result(result) => {
                    match self.find_tool(|tool| tool.is_answered_by(&result)) {
                        Some(tool) => {
                            tool.result = Some((result, position()));
                            continue;
                        }
                        None => Section::Result(result, position()),
                    }
                }
                Block::Text(text) if text.trim().is_empty() => continue,
                Block::Thinking(thought) if thought.text().trim().is_empty() => continue,
                Block::Text(text) => Section::Text {
                    role,
                    origin,
                    text,
                    position: position(),
                },
                Block::Thinking(thought) => {
                    Section::Thinking(thought.text().to_owned(), position())
                }
                Block::Media(media) => Section::Media(media, position()),
            };
            self.close_group();
            self.pending.push_back(section);
        }
    }

    /// Returns the first wanted call of the last group that has one. Ids of calls can be missing or repeated.
    fn find_tool(&mut self, is_wanted: impl Fn(&ToolUse) -> bool) -> Option<&mut ToolUse> {
        let pending = self.pending.iter_mut().filter_map(|section| match section {
            Section::Tools(group) => Some(group),
            _ => None,
        });
        let groups = pending.chain(std::iter::once(&mut self.group));
        let mut found = groups.rev().map(|group| &mut group.calls);
        found.find_map(|calls| calls.iter_mut().find(|tool| is_wanted(tool)))
    }

    /// Returns the sections before the first one that waits; all of them if `is_last`, or if too many wait.
    fn release(&mut self, is_last: bool) -> Vec<Section> {
        let mut sections = Vec::new();
        while let Some(mut section) = self.pending.pop_front() {
            if let Section::Tools(group) = &mut section {
                if group.is_waiting() && !is_last && self.pending.len() < MAX_WAITING {
                    self.pending.push_front(section);
                    break;
                }
                for tool in &mut group.calls {
                    let subagent = self.subagents.remove(&tool.call.id);
                    let rest = subagent.map(|mut subagent| subagent.finish());
                    tool.subagent.extend(rest.into_iter().flatten());
                }
            }
            sections.push(section);
        }
        if self.pending.is_empty() && self.group.calls.is_empty() {
            self.size = 0;
        }
        sections
    }

    fn close_group(&mut self) {
        if !self.group.calls.is_empty() {
            let group = mem::take(&mut self.group);
            self.pending.push_back(Section::Tools(group));
        }
    }
}

impl ToolGroup {
    /// Whether a call has no result yet. Parallel calls may be separate messages, whose results follow the last one.
    fn is_waiting(&self) -> bool {
        self.calls.iter().any(|tool| tool.result.is_none())
    }

    /// Returns the heading of the group: its label or tools, and the number of calls.
    pub fn header(&self) -> String {
        let count = self.calls.len();
        let name = match &self.label {
            Some(label) => label.clone(),
            None => self.tool_names(),
        };
        match count {
            0 => name,
            1 => format!("{name} · 1 tool"),
            _ => format!("{name} · {count} tools"),
        }
    }

    /// Returns the distinct names of the tools.
    fn tool_names(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for ToolUse { call, .. } in &self.calls {
            if !names.contains(&call.name.as_str()) {
                names.push(&call.name);
            }
        }
        names.join(", ")
    }
}

/// Returns the text of a result, with a placeholder for each attachment.
pub(super) fn result_text(result: &ToolResult) -> String {
    let parts: Vec<String> = result
        .parts
        .iter()
        .map(|part| match part {
            ResultPart::Text(text) => text.clone(),
            ResultPart::Media(media) => media_placeholder(media),
        })
        .collect();
    parts.join("\n")
}

/// Types of images that pages and trajectories contain.
const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Whether an attachment is an image that pages and trajectories contain.
pub(super) fn is_image(media: &Media) -> bool {
    IMAGES.contains(&media.media_type.as_str())
}

/// Returns the placeholder of an attachment.
pub(super) fn media_placeholder(media: &Media) -> String {
    match media.media_type.as_str() {
        "" => "[attachment]".to_owned(),
        kind => format!("[{kind}]"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn call(id: &str) -> Block {
        Block::Call(Call {
            id: id.to_owned(),
            name: "Read".to_owned(),
            input: RawValue::from_string(r#"{"limit":3,"file_path":"a.rs"}"#.to_owned()).unwrap(),
            signature: None,
        })
    }

    fn message(role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
        Message {
            blocks,
            ..Message::new(role, origin)
        }
    }

    fn results(ids: &[&str]) -> Message {
        let blocks = ids.iter().map(|id| {
            Block::Result(ToolResult {
                id: (*id).to_owned(),
                parts: vec![ResultPart::Text("out".to_owned())],
                failed: false,
                end: None,
            })
        });
        message(Role::User, Origin::Results, blocks.collect())
    }

    fn label(text: &str) -> Message {
        let blocks = vec![Block::Text(text.to_owned())];
        message(Role::System, Origin::Label, blocks)
    }

    fn reply(blocks: Vec<Block>) -> Message {
        message(Role::Assistant, Origin::Reply, blocks)
    }

    fn headers(grouping: Grouping) -> Vec<String> {
        let mut outline = Outline::new(grouping);
        let dialog = [
            reply(vec![call("1"), call("2")]),
            results(&["2", "1"]),
            label("Read a file"),
            reply(vec![call("3")]),
            results(&["3"]),
            label("Read another"),
            reply(vec![Block::Text("done".to_owned())]),
            results(&["9"]),
        ];
        let mut sections = Vec::new();
        for message in dialog {
            sections.extend(outline.push(1, message));
        }
        sections.extend(outline.finish());
        sections
            .into_iter()
            .map(|section| match section {
                Section::Tools(group) => {
                    assert!(group.calls.iter().all(|tool| tool.result.is_some()));
                    group.header()
                }
                Section::Text { text, .. } => text,
                Section::Result(result, _) => format!("stray {}", result.id),
                Section::Call(call) => format!("call {}", call.id),
                Section::Thinking(..) | Section::Media(..) => String::new(),
            })
            .collect()
    }

    #[test]
    fn calls_are_grouped_with_results_and_label() {
        assert_eq!(
            headers(Grouping::Batches),
            [
                "Read a file · 2 tools",
                "Read another · 1 tool",
                "done",
                "stray 9"
            ]
        );
        assert_eq!(
            headers(Grouping::Merged),
            ["Read a file · 3 tools", "done", "stray 9"]
        );
        assert_eq!(
            headers(Grouping::Apart),
            [
                "call 1",
                "call 2",
                "stray 2",
                "stray 1",
                "Read a file",
                "call 3",
                "stray 3",
                "Read another",
                "done",
                "stray 9"
            ]
        );
    }

    #[test]
    fn results_of_parallel_calls_join_their_group() {
        let mut outline = Outline::new(Grouping::Batches);
        let dialog = [
            reply(vec![call("1")]),
            reply(vec![call("2")]),
            results(&["1"]),
            results(&["2"]),
            reply(vec![call("3")]),
        ];
        let mut sections: Vec<Section> = dialog
            .into_iter()
            .flat_map(|message| outline.push(1, message))
            .collect();
        sections.extend(outline.finish());
        let answered: Vec<Vec<bool>> = sections
            .iter()
            .map(|section| match section {
                Section::Tools(group) => {
                    let calls = group.calls.iter();
                    calls.map(|tool| tool.result.is_some()).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        assert_eq!(answered, [vec![true, true], vec![false]]);
    }

    /// Returns a line for each section.
    fn lines(outline: &mut Outline, dialog: Vec<Message>) -> Vec<String> {
        let mut sections: Vec<Section> = dialog
            .into_iter()
            .flat_map(|message| outline.push(1, message))
            .collect();
        sections.extend(outline.finish());
        sections.iter().map(line).collect()
    }

    fn line(section: &Section) -> String {
        match section {
            Section::Tools(group) => {
                let calls = group.calls.iter().map(|tool| {
                    let inside: Vec<String> = tool.subagent.iter().map(line).collect();
                    let mark = if tool.result.is_some() { "" } else { "?" };
                    format!("{}{mark}{inside:?}", tool.call.id)
                });
                calls.collect::<Vec<_>>().join(" ").replace("[]", "")
            }
            Section::Text { text, .. } => text.clone(),
            Section::Result(result, _) => format!("stray {}", result.id),
            _ => String::new(),
        }
    }

    fn reply_text(text: &str) -> Message {
        reply(vec![Block::Text(text.to_owned())])
    }

    #[test]
    fn results_belong_to_their_calls_although_other_messages_lie_between() {
        let mut outline = Outline::new(Grouping::Batches);
        let dialog = vec![
            reply(vec![call("1"), call("2")]),
            results(&["2"]),
            reply_text("still running"),
            reply(vec![call("3")]),
            results(&["3"]),
            results(&["1", "9"]),
            // An id that is used again.
            reply(vec![call("3")]),
            reply_text("interrupted"),
            reply(vec![call("3"), call(""), call("")]),
            results(&["3", "", ""]),
        ];
        let expected = [
            "1 2",
            "still running",
            "3",
            "stray 9",
            "3?",
            "interrupted",
            "3  ",
        ];
        assert_eq!(lines(&mut outline, dialog), expected);
    }

    #[test]
    fn sections_wait_only_for_so_many_others() {
        let mut outline = Outline::new(Grouping::Batches);
        let mut sections = outline.push(1, reply(vec![call("1")]));
        for _ in 0..MAX_WAITING {
            sections.extend(outline.push(1, reply_text("x")));
        }
        assert!(!sections.is_empty());
        assert_eq!(lines(&mut outline, vec![results(&["1"])]), ["stray 1"]);
        let large = reply_text(&"x".repeat(MAX_WAITING_SIZE + 1));
        let unanswered = outline.push(1, reply(vec![call("1")])).len();
        assert_eq!((unanswered, outline.push(1, large).len()), (0, 2));
    }

    #[test]
    fn subagents_are_parts_of_the_calls_that_started_them() {
        let inside = |caller: &str, message: Message| Message {
            parent_call: Some(caller.to_owned()),
            ..message
        };
        let mut outline = Outline::new(Grouping::Batches);
        let dialog = vec![
            reply(vec![call("a"), call("b")]),
            inside("a", reply_text("in a")),
            inside("b", reply(vec![call("c")])),
            inside("c", reply_text("in c")),
            reply_text("beside"),
            inside("b", results(&["c"])),
            results(&["a", "b"]),
            inside("a", reply_text("too late")),
        ];
        let expected = [r#"a["in a"] b["c[\"in c\"]"]"#, "beside", "too late"];
        assert_eq!(lines(&mut outline, dialog), expected);
    }

    #[test]
    fn a_call_links_to_its_subagent() {
        let subagents = ["aa52773", "b10", "explore-call_1"].map(|id| Subagent {
            id: id.to_owned(),
            page: format!("{id}.html"),
        });
        let rows = [
            (
                "t1",
                Some("Found.\nagentId: b10 (for resuming)"),
                Some("b10.html"),
            ),
            ("t1", Some("agentId: b10"), Some("b10.html")),
            ("t1", Some("agentId: b1"), None),
            ("t1", Some("its agentId: b10"), None),
            ("t1", None, None),
            ("", Some("done"), None),
            (
                "call_1",
                Some("Background agent launched"),
                Some("explore-call_1.html"),
            ),
            ("call_1", None, Some("explore-call_1.html")),
        ];
        for (id, text, page) in rows {
            let result = text.map(|text| ToolResult {
                id: id.to_owned(),
                parts: vec![ResultPart::Text(text.to_owned())],
                failed: false,
                end: None,
            });
            let tool = ToolUse {
                call: Call {
                    id: id.to_owned(),
                    name: "Task".to_owned(),
                    input: RawValue::from_string("{}".to_owned()).unwrap(),
                    signature: None,
                },
                position: Position::default(),
                result: result.map(|result| (result, Position::default())),
                subagent: Vec::new(),
            };
            assert_eq!(tool.subagent_page(&subagents), page, "{id} {text:?}");
            assert_eq!(tool.subagent_page(&[]), None);
        }
    }
}
