//! A dialog as people read it: prompts, replies, and groups of tool calls with their results.

use std::mem;

use crate::message::{Block, Call, Media, Message, Origin, ResultPart, Role, ToolResult};

/// Which calls are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Those of one message.
    Batches,
    /// Neighbouring batches too.
    Merged,
    /// None: calls and results are shown one by one, as they come.
    Apart,
}

/// A part of the outline.
#[derive(Debug, Clone)]
pub enum Piece {
    /// A message, or a note of the agent.
    Said {
        /// Who.
        role: Role,
        /// What for.
        origin: Origin,
        /// The text.
        text: String,
        /// Where.
        place: Place,
    },
    /// Thinking of the model.
    Thought(String, Place),
    /// An image or the like.
    Media(Media, Place),
    /// Calls.
    Tools(ToolGroup),
    /// A call whose result comes later.
    Call(Call),
    /// A result without its call.
    Result(ToolResult, Place),
}

/// Where a part of a message stands in its session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The number of the message.
    pub message: u64,
    /// Whether this is the first part of the message.
    pub is_first: bool,
    /// When, as recorded.
    pub time: Option<String>,
}

/// A call with its result.
#[derive(Debug, Clone)]
pub struct ToolUse {
    /// The call.
    pub call: Call,
    /// Where it stands.
    pub asked: Place,
    /// Its result, if it has one, and where that stands.
    pub answer: Option<(ToolResult, Place)>,
}

/// A subagent whose messages stand on a page of their own.
#[derive(Debug, Clone)]
pub struct Subagent {
    /// Its id.
    pub id: String,
    /// The name of its page, which needs no escaping.
    pub page: String,
}

impl ToolUse {
    /// The page of the subagent that the call started. Claude Code names it on a line of the result; in
    /// Qwen Code the ids of subagents end with those of the calls.
    pub(super) fn subagent_page<'a>(&self, subagents: &'a [Subagent]) -> Option<&'a str> {
        // Nearly all sessions have no subagents.
        let text = match &self.answer {
            Some((result, _)) if !subagents.is_empty() => result.text(),
            _ => String::new(),
        };
        let named = text.lines().find_map(|line| {
            let id = line.strip_prefix("agentId: ")?;
            id.split_ascii_whitespace().next()
        });
        let call = &self.call.id;
        let started = |subagent: &&Subagent| match named {
            Some(id) => subagent.id == id,
            None => !call.is_empty() && subagent.id.ends_with(call),
        };
        subagents
            .iter()
            .find(started)
            .map(|subagent| subagent.page.as_str())
    }
}

/// A group of calls.
#[derive(Debug, Clone, Default)]
pub struct ToolGroup {
    /// The label of the first batch that has one.
    pub label: Option<String>,
    /// The calls.
    pub calls: Vec<ToolUse>,
}

/// Turns messages into pieces.
#[derive(Debug)]
pub struct Outline {
    grouping: Grouping,
    group: ToolGroup,
}

impl Outline {
    /// An empty outline.
    pub fn new(grouping: Grouping) -> Self {
        Self {
            grouping,
            group: ToolGroup::default(),
        }
    }

    /// Takes the next whole message and its number; returns the pieces that are complete.
    pub fn push(&mut self, number: u64, message: Message) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if message.origin == Origin::Label {
            let label = message.text();
            if self.group.calls.is_empty() {
                pieces.push(Piece::Tools(ToolGroup {
                    label: Some(label),
                    calls: Vec::new(),
                }));
            } else {
                self.group.label.get_or_insert(label);
            }
            return pieces;
        }
        let ends_batch = self.grouping == Grouping::Batches && !self.is_waiting();
        if message.role == Role::Assistant && ends_batch {
            self.close(&mut pieces);
        }
        let Message {
            role, origin, time, ..
        } = message;
        let mut is_first = true;
        let mut place = || Place {
            message: number,
            is_first: mem::take(&mut is_first),
            time: time.clone(),
        };
        for block in message.blocks {
            match block {
                Block::Call(call) if self.grouping == Grouping::Apart => {
                    pieces.push(Piece::Call(call));
                }
                Block::Call(call) => self.group.calls.push(ToolUse {
                    call,
                    asked: place(),
                    answer: None,
                }),
                Block::Result(result) => self.result(result, place(), &mut pieces),
                Block::Text(text) if text.trim().is_empty() => {}
                Block::Thinking(thought) if thought.text().trim().is_empty() => {}
                Block::Text(text) => {
                    self.close(&mut pieces);
                    pieces.push(Piece::Said {
                        role,
                        origin,
                        text,
                        place: place(),
                    });
                }
                Block::Thinking(thought) => {
                    self.close(&mut pieces);
                    pieces.push(Piece::Thought(thought.text().to_owned(), place()));
                }
                Block::Media(media) => {
                    self.close(&mut pieces);
                    pieces.push(Piece::Media(media, place()));
                }
            }
        }
        pieces
    }

    /// The last piece.
    pub fn finish(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        self.close(&mut pieces);
        pieces
    }

    fn result(&mut self, result: ToolResult, place: Place, pieces: &mut Vec<Piece>) {
        let call = self
            .group
            .calls
            .iter_mut()
            .find(|tool| tool.call.id == result.id && tool.answer.is_none());
        if let Some(tool) = call {
            tool.answer = Some((result, place));
        } else {
            self.close(pieces);
            pieces.push(Piece::Result(result, place));
        }
    }

    /// Whether a call has no result yet. Calls that run side by side may be messages of their own,
    /// whose results follow the last of them.
    fn is_waiting(&self) -> bool {
        self.group.calls.iter().any(|tool| tool.answer.is_none())
    }

    fn close(&mut self, pieces: &mut Vec<Piece>) {
        if !self.group.calls.is_empty() {
            pieces.push(Piece::Tools(mem::take(&mut self.group)));
        }
    }
}

impl ToolGroup {
    /// The line above the group: its label or tools, and how many calls there are.
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

    /// The names of the tools, each once.
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

/// The text of a result, with a word for each attachment.
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

/// A word for an attachment.
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
        let mut pieces = Vec::new();
        for message in dialog {
            pieces.extend(outline.push(1, message));
        }
        pieces.extend(outline.finish());
        pieces
            .into_iter()
            .map(|piece| match piece {
                Piece::Tools(group) => {
                    assert!(group.calls.iter().all(|tool| tool.answer.is_some()));
                    group.header()
                }
                Piece::Said { text, .. } => text,
                Piece::Result(result, _) => format!("stray {}", result.id),
                Piece::Call(call) => format!("call {}", call.id),
                Piece::Thought(..) | Piece::Media(..) => String::new(),
            })
            .collect()
    }

    #[test]
    fn calls_stand_with_their_results_and_label() {
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
    fn results_of_parallel_calls_stand_under_them() {
        let mut outline = Outline::new(Grouping::Batches);
        let dialog = [
            reply(vec![call("1")]),
            reply(vec![call("2")]),
            results(&["1"]),
            results(&["2"]),
            reply(vec![call("3")]),
        ];
        let mut pieces: Vec<Piece> = dialog
            .into_iter()
            .flat_map(|message| outline.push(1, message))
            .collect();
        pieces.extend(outline.finish());
        let answered: Vec<Vec<bool>> = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Tools(group) => {
                    let calls = group.calls.iter();
                    calls.map(|tool| tool.answer.is_some()).collect()
                }
                _ => Vec::new(),
            })
            .collect();
        assert_eq!(answered, [vec![true, true], vec![false]]);
    }

    #[test]
    fn a_call_leads_to_the_subagent_that_it_started() {
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
                asked: Place::default(),
                answer: result.map(|result| (result, Place::default())),
            };
            assert_eq!(tool.subagent_page(&subagents), page, "{id} {text:?}");
            assert_eq!(tool.subagent_page(&[]), None);
        }
    }
}
