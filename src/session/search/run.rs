//! Searches one session.

use std::io;
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};

use grep_matcher::Matcher;
use serde_json::Value;

use super::needles::Query;
use crate::agent::{Detail, LineClass};
use crate::jsonl::Prefilter;
use crate::message::{Block, Message, Origin, Role, Thread};
use crate::records::HitBlock;
use crate::session::lines::RawLines;
use crate::session::session::{Session, each_entry_on_line};
use crate::session::tail::MessageLines;
use crate::session::tree::Scope;

/// A part of a message that matches.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// The line number, from 1. Old documents have none.
    pub line: Option<u64>,
    /// The id of the record.
    pub uuid: Option<String>,
    /// The role.
    pub role: Role,
    /// The origin of the message.
    pub origin: Origin,
    /// The conversation it belongs to.
    pub thread: Thread,
    /// The timestamp, as stored.
    pub time: Option<String>,
    /// The part that matches.
    pub place: HitBlock,
    /// The tool, for calls.
    pub tool: Option<String>,
    /// The first match.
    pub excerpt: MatchExcerpt,
    /// The number of matches in the part.
    pub matches: u64,
}

impl SearchHit {
    /// Returns the hit in a block of a message. `None` if the block is never searched.
    pub(super) fn new(
        line: Option<u64>,
        message: &Message,
        block: &Block,
        (excerpt, matches): (MatchExcerpt, u64),
    ) -> Option<Self> {
        let tool = match block {
            Block::Call(call) => Some(call.name.clone()),
            _ => None,
        };
        Some(Self {
            line,
            uuid: message.uuid.clone(),
            role: message.role,
            origin: message.origin,
            thread: message.thread,
            time: message.time.clone(),
            place: place_of(block)?,
            tool,
            excerpt,
            matches,
        })
    }

    /// Returns a key of the record and the hit in it, which copies of the record share.
    pub(super) fn record(&self) -> Option<String> {
        let record = self.uuid.as_ref().or(self.time.as_ref())?;
        let (role, place, matches) = (self.role, self.place, self.matches);
        let text = self.excerpt.text();
        Some(format!("{record} {role:?} {place:?} {matches} {text}"))
    }
}

/// Returns the kind of a block, if it is searched.
fn place_of(block: &Block) -> Option<HitBlock> {
    match block {
        Block::Text(_) => Some(HitBlock::Text),
        Block::Thinking(_) => Some(HitBlock::Thinking),
        Block::Call(_) => Some(HitBlock::Call),
        Block::Result(_) => Some(HitBlock::Result),
        Block::Media(_) => None,
    }
}

/// Facts about a session that was searched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Searched {
    /// Number of lines that were too long to parse.
    pub too_long: u64,
    /// Whether no record in the file contains a title. False if it was not searched to the end.
    pub holds_no_title: bool,
}

/// Maximum number of hits in repeated records that are held back.
const MAX_HELD: usize = 4096;

impl Session {
    /// Searches all messages, including abandoned branches, until `visit` breaks.
    ///
    /// # Errors
    /// Reading failed.
    pub fn search(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(SearchHit) -> ControlFlow<()>,
    ) -> io::Result<Searched> {
        let mut search = Search {
            query,
            visit,
            left: query.most.map_or(usize::MAX, NonZeroUsize::get),
            roles_with_hits: Vec::new(),
            held: Vec::new(),
        };
        if self.is_document() {
            for message in self.messages(Scope::AllBranches)? {
                if search.message(None, &message?).is_break() {
                    break;
                }
            }
            return Ok(Searched::default());
        }
        // Most of a file is results.
        let detail = if query.places.contains(&HitBlock::Result) {
            Detail::Full
        } else {
            Detail::Counts
        };
        let mut lines = MessageLines::new(Some(self.format()));
        let title_words = self.format().title_words;
        let of_title = Prefilter::new(title_words).map_err(io::Error::other)?;
        let mut entries = self.entries();
        let words: Vec<&str> = match &query.needles {
            // A text may be on several lines of a stream.
            Some(needles) if !self.format().is_stream() => needles
                .iter()
                .map(String::as_str)
                .chain(title_words.iter().copied())
                .collect(),
            _ => Vec::new(),
        };
        let mut flow = ControlFlow::Continue(());
        let mut holds_no_title = true;
        let mut raw_lines = RawLines::new(self.reader(), &words)?;
        while flow.is_continue()
            && let Some(line) = raw_lines.next()?
        {
            let class = (self.format().line_class)(line.text);
            if class == LineClass::Anything {
                holds_no_title = holds_no_title && of_title.find(line.text, 0).is_none();
            }
            if !query.places.iter().any(|place| may_hold(class, *place)) {
                continue;
            }
            let (at, text) = (line.offset, line.text);
            each_entry_on_line(at, text, &mut entries, detail, &mut |_, mut entry| {
                let repeats = std::mem::take(&mut entry.repeats);
                let messages = lines.messages_in(entry);
                if flow.is_continue() {
                    flow = search.record(line.number, &messages, &repeats);
                }
            });
        }
        let is_whole = flow.is_continue();
        if is_whole {
            let _ = search.finish();
        }
        Ok(Searched {
            too_long: raw_lines.too_long,
            holds_no_title: holds_no_title && is_whole,
        })
    }
}

/// Whether a line may contain such a part of a message.
fn may_hold(line: LineClass, place: HitBlock) -> bool {
    match line {
        LineClass::NoMessage | LineClass::Cost => false,
        LineClass::Results => place == HitBlock::Result,
        LineClass::NoText => place != HitBlock::Text,
        LineClass::Anything => true,
    }
}

struct Search<'a> {
    query: &'a Query,
    visit: &'a mut dyn FnMut(SearchHit) -> ControlFlow<()>,
    /// Number of hits that are still wanted.
    left: usize,
    /// The roles with a hit.
    roles_with_hits: Vec<Role>,
    /// Hits in records that usually repeat other records.
    held: Vec<SearchHit>,
}

impl Search<'_> {
    fn record(&mut self, line: u64, messages: &[Message], repeats: &[Message]) -> ControlFlow<()> {
        for message in messages {
            self.message(Some(line), message)?;
        }
        for repeat in repeats {
            self.repeat(line, repeat)?;
        }
        ControlFlow::Continue(())
    }

    fn message(&mut self, line: Option<u64>, message: &Message) -> ControlFlow<()> {
        for found in self.query.find(line, message) {
            if !self.roles_with_hits.contains(&found.role) {
                self.roles_with_hits.push(found.role);
                self.held.retain(|held| held.role != found.role);
            }
            self.report(found)?;
        }
        ControlFlow::Continue(())
    }

    /// Holds a hit in a record that repeats others, which contain it too if they exist.
    fn repeat(&mut self, line: u64, message: &Message) -> ControlFlow<()> {
        for found in self.query.find(Some(line), message) {
            if self.roles_with_hits.contains(&found.role) {
                continue;
            }
            self.held.push(found);
            if self.held.len() > MAX_HELD {
                return self.finish();
            }
        }
        ControlFlow::Continue(())
    }

    fn finish(&mut self) -> ControlFlow<()> {
        for found in std::mem::take(&mut self.held) {
            self.report(found)?;
        }
        ControlFlow::Continue(())
    }

    fn report(&mut self, found: SearchHit) -> ControlFlow<()> {
        (self.visit)(found)?;
        self.left -= 1;
        if self.left == 0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Query {
    /// Returns the parts of a message that match.
    fn find(&self, line: Option<u64>, message: &Message) -> Vec<SearchHit> {
        if !self.roles.is_empty() && !self.roles.contains(&message.role) {
            return Vec::new();
        }
        let parts = message.blocks.iter().filter_map(|block| {
            if !self.places.contains(&place_of(block)?) {
                return None;
            }
            let found = match block {
                Block::Text(text) => self.first(&[text]),
                Block::Thinking(thought) => self.first(&[thought.text()]),
                Block::Call(call) => self.first(&strings(call.input.get())),
                Block::Result(result) => self.first(&[result.text()]),
                Block::Media(_) => None,
            };
            SearchHit::new(line, message, block, found?)
        });
        parts.collect()
    }

    /// Returns the first match in any of the texts, and the number of matches in all of them.
    fn first(&self, texts: &[impl AsRef<str>]) -> Option<(MatchExcerpt, u64)> {
        let (mut first, mut count) = (None, 0);
        for text in texts {
            let text = text.as_ref();
            // This matcher returns no errors.
            let _ = self.matcher.find_iter(text.as_bytes(), |range| {
                count += 1;
                if first.is_none() {
                    let range = range.start()..range.end();
                    first = Some(match self.context {
                        0 => MatchExcerpt::around(text, range),
                        lines => MatchExcerpt::with_lines(text, range, lines),
                    });
                }
                true
            });
        }
        Some((first?, count))
    }
}

/// Returns all strings in a value, in order, without keys. A value that is nested too deeply counts
/// as one string.
pub(super) fn strings(json: &str) -> Vec<String> {
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

/// Length of the context on each side of a match, in bytes.
const AROUND: usize = 100;

/// Maximum length of the context in lines on each side, in bytes.
const MAX_CONTEXT: usize = 64 * 1024;

/// Maximum length of the shown part of a match, in bytes.
const MAX_MATCH: usize = 400;

/// A match in its context. Its concatenated parts are a part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchExcerpt {
    /// The text before the match.
    pub before: String,
    /// The match, or its beginning.
    pub matched: String,
    /// The text after the match.
    pub after: String,
    /// Whether the context consists of whole lines.
    pub has_lines: bool,
}

impl MatchExcerpt {
    /// Returns the match at `range` of `text`, in bytes.
    pub(super) fn around(text: &str, range: Range<usize>) -> Self {
        let start = text.floor_char_boundary(range.start);
        let shown = range.end.min(start + MAX_MATCH).max(start);
        let end = text.ceil_char_boundary(shown);
        let from = text.ceil_char_boundary(start.saturating_sub(AROUND));
        let to = text.floor_char_boundary(end.saturating_add(AROUND).min(text.len()));
        Self {
            before: text[from..start].to_owned(),
            matched: text[start..end].to_owned(),
            after: text[end..to].to_owned(),
            has_lines: false,
        }
    }

    /// Returns the match at `range` of `text`, with `count` lines before it and after it.
    pub(super) fn with_lines(text: &str, range: Range<usize>, count: usize) -> Self {
        let matched = Self::around(text, range.clone());
        let start = text.floor_char_boundary(range.start);
        let end = start + matched.matched.len();
        let lowest = text.ceil_char_boundary(start.saturating_sub(MAX_CONTEXT));
        let before = &text[lowest..start];
        let from = before
            .rmatch_indices('\n')
            .nth(count)
            .map_or(0, |(at, _)| at + 1);
        let highest = text.floor_char_boundary((end + MAX_CONTEXT).min(text.len()));
        let after = &text[end..highest];
        let to = after
            .match_indices('\n')
            .nth(count)
            .map_or(after.len(), |(at, _)| at);
        Self {
            before: before[from..].to_owned(),
            after: after[..to].to_owned(),
            has_lines: true,
            ..matched
        }
    }

    /// Returns all parts joined.
    pub fn text(&self) -> String {
        [&*self.before, &self.matched, &self.after].concat()
    }
}

#[cfg(test)]
mod excerpt_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn context_is_short() {
        let text = format!("{}needle{}", "é".repeat(300), "ü".repeat(300));
        let excerpt = MatchExcerpt::around(&text, 600..606);
        assert_eq!(excerpt.matched, "needle");
        assert_eq!((excerpt.before.len(), excerpt.after.len()), (100, 100));
        let all = MatchExcerpt::around(&text, 0..text.len());
        assert_eq!(all.matched.len(), 400);
    }

    #[test]
    fn context_is_whole_lines() {
        let text = "one\ntwo\nthree needle three\nfour\nfive";
        let at = text.find("needle").unwrap();
        let rows = [
            (0, "three needle three"),
            (1, "two\nthree needle three\nfour"),
            (9, text),
        ];
        for (count, expected) in rows {
            let excerpt = MatchExcerpt::with_lines(text, at..at + 6, count);
            assert_eq!(excerpt.matched, "needle");
            assert_eq!(excerpt.text(), expected);
        }
    }

    proptest! {
        #[test]
        fn an_excerpt_is_a_part_of_the_text(text in "[aé\n]{0,300}", start in 0_usize..600, length in 0_usize..600) {
            let start = start.min(text.len());
            let end = (start + length).min(text.len());
            let excerpt = MatchExcerpt::around(&text, start..end);
            prop_assert!(text.contains(&excerpt.text()));
        }
    }
}
