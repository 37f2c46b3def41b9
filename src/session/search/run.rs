//! Finds what is looked for in a session.

use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use grep_matcher::Matcher;
use serde_json::Value;

use super::excerpt::Excerpt;
use super::query::Query;
use crate::dialog::{Block, Message, Origin, Role, Thread};
use crate::jsonl::AhoCorasickPrefilter;
use crate::session::conversation::Scope;
use crate::session::lines::{Line, for_each_line, for_each_line_with};
use crate::session::opened::{Positioned, Session};
use crate::session::tail::MessageLines;

/// The part of a message that something is found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FoundIn {
    /// What was said.
    Text,
    /// What the model thought.
    Thinking,
    /// The input of a call, its strings.
    Call,
    /// The result of a call.
    Result,
}

/// A part of a message in which the pattern matches.
#[derive(Debug, Clone)]
pub struct Found {
    /// The line, counted from 1; old documents have none.
    pub line: Option<u64>,
    /// The record.
    pub uuid: Option<String>,
    /// Who speaks.
    pub role: Role,
    /// What the message is there for.
    pub origin: Origin,
    /// Whose conversation it belongs to.
    pub thread: Thread,
    /// When, as it stands there.
    pub time: Option<String>,
    /// In which part.
    pub place: FoundIn,
    /// The tool, where it is a call.
    pub tool: Option<String>,
    /// The first match.
    pub excerpt: Excerpt,
    /// How many matches the part holds.
    pub matches: u64,
}

/// How many finds in records that repeat others are held back.
const MOST_HELD: usize = 4096;

impl Session {
    /// Looks for a pattern in all messages, those of branches that were left included, until
    /// `visit` breaks. Returns how many lines were too long to be looked into.
    ///
    /// # Errors
    /// Reading failed.
    pub fn search(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(Found) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let mut search = Search {
            query,
            visit,
            left: query.most.map_or(usize::MAX, NonZeroUsize::get),
            told: Vec::new(),
            held: Vec::new(),
            too_long: 0,
        };
        if self.is_document() {
            self.each_message(Scope::AllBranches, &mut |message| {
                search.message(None, &message)
            })?;
            return Ok(0);
        }
        let mut lines = MessageLines::new(Some(self.format()));
        let mut look = |line: Line<'_>| {
            let is_too_long = line.raw.is_empty() && !line.damage.is_empty();
            search.too_long += u64::from(is_too_long);
            let (messages, repeats) = lines.messages_and_repeats(line.raw);
            for message in messages {
                search.message(Some(line.number), &message)?;
            }
            for repeat in repeats {
                search.repeat(line.number, &repeat)?;
            }
            ControlFlow::Continue(())
        };
        let source = Positioned {
            file: &self.file,
            at: 0,
        };
        let broken = match &query.needles {
            Some(needles) => {
                let needles: Vec<&str> = needles.iter().map(String::as_str).collect();
                let prefilter = AhoCorasickPrefilter::new(&needles).map_err(io::Error::other)?;
                for_each_line_with(prefilter, source, 0, &mut look)?
            }
            None => for_each_line(source, 0, &mut look)?,
        };
        if broken.is_none() {
            let _ = search.finish();
        }
        Ok(search.too_long)
    }
}

struct Search<'a> {
    query: &'a Query,
    visit: &'a mut dyn FnMut(Found) -> ControlFlow<()>,
    /// How many more finds are wanted.
    left: usize,
    /// Whose messages something was found in.
    told: Vec<Role>,
    /// Found in records that, as a rule, repeat what others say.
    held: Vec<Found>,
    too_long: u64,
}

impl Search<'_> {
    fn message(&mut self, line: Option<u64>, message: &Message) -> ControlFlow<()> {
        for found in self.query.find(line, message) {
            if !self.told.contains(&found.role) {
                self.told.push(found.role);
                self.held.retain(|held| held.role != found.role);
            }
            self.tell(found)?;
        }
        ControlFlow::Continue(())
    }

    /// What is found in a record that repeats others is found in those too, if there are any.
    fn repeat(&mut self, line: u64, message: &Message) -> ControlFlow<()> {
        for found in self.query.find(Some(line), message) {
            if self.told.contains(&found.role) {
                continue;
            }
            self.held.push(found);
            if self.held.len() > MOST_HELD {
                return self.finish();
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self) -> ControlFlow<()> {
        for found in std::mem::take(&mut self.held) {
            self.tell(found)?;
        }
        ControlFlow::Continue(())
    }

    fn tell(&mut self, found: Found) -> ControlFlow<()> {
        (self.visit)(found)?;
        self.left -= 1;
        if self.left == 0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

/// Where in a message the pattern matches.
struct InPart {
    place: FoundIn,
    tool: Option<String>,
    excerpt: Excerpt,
    matches: u64,
}

impl Query {
    /// The parts of a message in which the pattern matches.
    fn find(&self, line: Option<u64>, message: &Message) -> Vec<Found> {
        if !self.roles.is_empty() && !self.roles.contains(&message.role) {
            return Vec::new();
        }
        let parts = message.blocks.iter().filter_map(|block| {
            let part = self.find_in(block)?;
            Some(Found {
                line,
                uuid: message.uuid.clone(),
                role: message.role,
                origin: message.origin,
                thread: message.thread,
                time: message.time.clone(),
                place: part.place,
                tool: part.tool,
                excerpt: part.excerpt,
                matches: part.matches,
            })
        });
        parts.collect()
    }

    fn find_in(&self, block: &Block) -> Option<InPart> {
        let place = match block {
            Block::Text(_) => FoundIn::Text,
            Block::Thinking(_) => FoundIn::Thinking,
            Block::Call(_) => FoundIn::Call,
            Block::Result(_) => FoundIn::Result,
            Block::Media(_) => return None,
        };
        if !self.places.contains(&place) {
            return None;
        }
        let (tool, found) = match block {
            Block::Text(text) | Block::Thinking(text) => (None, self.first(&[text])),
            Block::Call(call) => (
                Some(call.name.clone()),
                self.first(&strings(call.input.get())),
            ),
            Block::Result(result) => (None, self.first(&[result.text()])),
            Block::Media(_) => (None, None),
        };
        let (excerpt, matches) = found?;
        Some(InPart {
            place,
            tool,
            excerpt,
            matches,
        })
    }

    /// The first match in any of the texts, and how many there are in all of them.
    fn first(&self, texts: &[impl AsRef<str>]) -> Option<(Excerpt, u64)> {
        let (mut first, mut count) = (None, 0);
        for text in texts {
            let text = text.as_ref();
            // This matcher reports no errors.
            let _ = self.matcher.find_iter(text.as_bytes(), |range| {
                count += 1;
                if first.is_none() {
                    let range = range.start()..range.end();
                    first = Some(match self.context {
                        0 => Excerpt::around(text, range),
                        lines => Excerpt::with_lines(text, range, lines),
                    });
                }
                true
            });
        }
        Some((first?, count))
    }
}

/// All strings in a value, in order, but no keys; the value itself where it is nested too deeply.
fn strings(json: &str) -> Vec<String> {
    fn collect(value: Value, strings: &mut Vec<String>) {
        match value {
            Value::String(text) => strings.push(text),
            Value::Array(elements) => elements
                .into_iter()
                .for_each(|element| collect(element, strings)),
            Value::Object(members) => members
                .into_iter()
                .for_each(|(_, value)| collect(value, strings)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let Ok(value) = serde_json::from_str(json) else {
        return vec![json.to_owned()];
    };
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
