//! The outline of a conversation: prompts, replies, and groups of tool calls with their results.

use std::mem;

use crate::message::{Block, Call, Media, Message, Origin, ResultPart, Role, ToolResult};

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
}

/// A subagent with a page.
#[derive(Debug, Clone)]
pub struct Subagent {
    pub id: String,
    /// The file name of the page, which needs no escaping.
    pub page: String,
}

impl ToolUse {
    /// Returns the page of the subagent that the call started.
    pub(super) fn subagent_page<'a>(&self, subagents: &'a [Subagent]) -> Option<&'a str> {
        // Most sessions have no subagents.
        let text = match &self.result {
            Some((result, _)) if !subagents.is_empty() => result.text(),
            _ => String::new(),
        };
        started_subagent(&self.call.id, &text, subagents)
    }
}

/// Returns the page of the subagent that a call started. Claude Code prints its id in the `result`;
/// Qwen Code ends its id with the id of the call.
pub(super) fn started_subagent<'a>(
    call: &str,
    result: &str,
    subagents: &'a [Subagent],
) -> Option<&'a str> {
    let named = result.lines().find_map(|line| {
        let id = line.strip_prefix("agentId: ")?;
        id.split_ascii_whitespace().next()
    });
    let started = |subagent: &&Subagent| match named {
        Some(id) => subagent.id == id,
        None => !call.is_empty() && subagent.id.ends_with(call),
    };
    subagents
        .iter()
        .find(started)
        .map(|subagent| subagent.page.as_str())
}

/// A group of calls.
#[derive(Debug, Clone, Default)]
pub struct ToolGroup {
    /// The label of the first batch that has one.
    pub label: Option<String>,
    pub calls: Vec<ToolUse>,
}

/// Builds sections from messages.
#[derive(Debug)]
pub struct Outline {
    grouping: Grouping,
    group: ToolGroup,
}

impl Outline {
    /// Creates an empty outline.
    pub fn new(grouping: Grouping) -> Self {
        Self {
            grouping,
            group: ToolGroup::default(),
        }
    }

    /// Adds a complete message with its number. Returns the completed sections.
    pub fn push(&mut self, number: u64, message: Message) -> Vec<Section> {
        let mut sections = Vec::new();
        if message.origin == Origin::Label {
            let label = message.text();
            if self.group.calls.is_empty() {
                sections.push(Section::Tools(ToolGroup {
                    label: Some(label),
                    calls: Vec::new(),
                }));
            } else {
                self.group.label.get_or_insert(label);
            }
            return sections;
        }
        let ends_batch = self.grouping == Grouping::Batches && !self.is_waiting();
        if message.role == Role::Assistant && ends_batch {
            self.close(&mut sections);
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
            match block {
                Block::Call(call) if self.grouping == Grouping::Apart => {
                    sections.push(Section::Call(call));
                }
                Block::Call(call) => self.group.calls.push(ToolUse {
                    call,
                    position: position(),
                    result: None,
                }),
                Block::Result(result) => self.result(result, position(), &mut sections),
                Block::Text(text) if text.trim().is_empty() => {}
                Block::Thinking(thought) if thought.text().trim().is_empty() => {}
                Block::Text(text) => {
                    self.close(&mut sections);
                    sections.push(Section::Text {
                        role,
                        origin,
                        text,
                        position: position(),
                    });
                }
                Block::Thinking(thought) => {
                    self.close(&mut sections);
                    sections.push(Section::Thinking(thought.text().to_owned(), position()));
                }
                Block::Media(media) => {
                    self.close(&mut sections);
                    sections.push(Section::Media(media, position()));
                }
            }
        }
        sections
    }

    /// Returns the last section.
    pub fn finish(&mut self) -> Vec<Section> {
        let mut sections = Vec::new();
        self.close(&mut sections);
        sections
    }

    fn result(&mut self, result: ToolResult, position: Position, sections: &mut Vec<Section>) {
        let call = self
            .group
            .calls
            .iter_mut()
            .find(|tool| tool.call.id == result.id && tool.result.is_none());
        if let Some(tool) = call {
            tool.result = Some((result, position));
        } else {
            self.close(sections);
            sections.push(Section::Result(result, position));
        }
    }

    /// Whether a call has no result yet. Parallel calls may be separate messages, whose results follow
    /// the last one.
    fn is_waiting(&self) -> bool {
        self.group.calls.iter().any(|tool| tool.result.is_none())
    }

    fn close(&mut self, sections: &mut Vec<Section>) {
        if !self.group.calls.is_empty() {
            sections.push(Section::Tools(mem::take(&mut self.group)));
        }
    }
}

impl ToolGroup {
    /// Returns the heading of the group: its label or tools, and the number of calls.
    pub fn header(&self) -> String {
        let count = self.calls.len();
        let name = match &self.label {
            Some(label) => label.clone(),
            None => self.names(),
        };
        match count {
            0 => name,
            1 => format!("{name} · 1 tool"),
            _ => format!("{name} · {count} tools"),
        }
    }

    /// Returns the distinct names of the tools.
    fn names(&self) -> String {
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
            ResultPart::Media(media) => media_word(media),
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
pub(super) fn media_word(media: &Media) -> String {
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
            };
            assert_eq!(tool.subagent_page(&subagents), page, "{id} {text:?}");
            assert_eq!(tool.subagent_page(&[]), None);
        }
    }
}
