//! Searches one session.

use std::collections::HashSet;
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

use grep_matcher::Matcher;
use serde_json::Value;

use super::needles::Query;
use crate::files::distinct::Key;
use crate::files::lines::RawLines;
use crate::read::session::{Session, visit_entries_on_line};
use crate::read::tail::MessageLines;
use crate::read::tree::Scope;
use turnpipe_core::jsonl::Prefilter;
use turnpipe_core::message::{Block, Message, Origin, Role, Thread};
use turnpipe_core::text::MatchExcerpt;
use turnpipe_formats::agent::{Detail, LineClass};
use turnpipe_formats::records::HitBlock;

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

/// The matches in a text.
pub(super) struct TextMatches {
    pub(super) first: MatchExcerpt,
    pub(super) count: u64,
}

impl SearchHit {
    /// Returns the hit in a block of a message. `None` if the block is never searched.
    pub(super) fn new(
        line: Option<u64>,
        message: &Message,
        block: &Block,
        found: TextMatches,
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
            place: find_block_kind(block)?,
            tool,
            excerpt: found.first,
            matches: found.count,
        })
    }

    /// Returns the hit in the title of a session, if `query` matches it.
    pub(super) fn from_title(query: &Query, title: &str) -> Option<Self> {
        let found = query.find_first(&[title])?;
        Some(Self {
            line: None,
            uuid: None,
            role: Role::System,
            origin: Origin::Injected,
            thread: Thread::Main,
            time: None,
            place: HitBlock::Title,
            tool: None,
            excerpt: found.first,
            matches: found.count,
        })
    }

    /// Returns a key of the record and the hit in it, which copies of the record share.
    pub(super) fn to_record_key(&self) -> Option<String> {
        let record = self.uuid.as_ref().or(self.time.as_ref())?;
        Some(format!("{record} {}", self.to_key()))
    }

    /// Returns a key of the hit without its record.
    fn to_key(&self) -> String {
        let (role, place, matches) = (self.role, self.place, self.matches);
        format!("{role:?} {place:?} {matches} {}", self.excerpt.text())
    }
}

/// Returns the kind of a block, if it is searched.
fn find_block_kind(block: &Block) -> Option<HitBlock> {
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
pub struct SearchSummary {
    /// Number of lines that were too long to parse.
    pub too_long: u64,
    /// Whether no record in the file contains a title. False if it was not searched to the end.
    pub known_untitled: bool,
}

/// Maximum number of hits in repeated records that are deferred.
const MAX_DEFERRED_HITS: usize = 4096;

impl Session {
    /// Searches all messages, including abandoned branches, until `visit` breaks.
    ///
    /// # Errors
    /// Reading failed.
    pub fn search(
        &self,
        query: &Query,
        visit: &mut dyn FnMut(SearchHit) -> ControlFlow<()>,
    ) -> io::Result<SearchSummary> {
        let mut search = Search {
            query,
            visit,
            remaining: query.max_hits.map_or(usize::MAX, NonZeroUsize::get),
            reported: HashSet::new(),
            deferred_hits: Vec::new(),
        };
        if self.is_document() {
            for message in self.messages(Scope::AllBranches)? {
                if search.search_message(None, &message?).is_break() {
                    break;
                }
            }
            return Ok(SearchSummary::default());
        }
        let mut summary = SearchSummary::default();
        if self.search_lines(&mut search, &mut summary)?.is_continue() {
            self.report_deferred_hits(&mut search)?;
        }
        Ok(summary)
    }

    /// Searches the lines of a file in order. Breaks before the end if no more hits are wanted.
    fn search_lines(
        &self,
        search: &mut Search<'_>,
        summary: &mut SearchSummary,
    ) -> io::Result<ControlFlow<()>> {
        let query = search.query;
        // Most of a file is results.
        let detail = if query.places.contains(&HitBlock::Result) {
            Detail::Full
        } else {
            Detail::Counts
        };
        let mut lines = MessageLines::new(Some(self.format()));
        let title_words = self.format().titles.words;
        let title_filter = Prefilter::new(title_words).map_err(io::Error::other)?;
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
        let mut known_untitled = true;
        let mut raw_lines = RawLines::new(self.reader(), &words)?;
        while flow.is_continue()
            && let Some(line) = raw_lines.next()?
        {
            let class = (self.format().reading.classify)(line.text);
            if class == LineClass::Anything {
                known_untitled = known_untitled && title_filter.find(line.text, 0).is_none();
            }
            if !query.places.iter().any(|place| may_contain(class, *place)) {
                continue;
            }
            let (at, text) = (line.offset, line.text);
            visit_entries_on_line(at, text, &mut entries, detail, &mut |_, mut entry| {
                let repeats = std::mem::take(&mut entry.repeats);
                let messages = lines.convert_entry(entry);
                if flow.is_continue() {
                    flow = search.search_record(line.number, &messages, &repeats);
                }
            });
        }
        summary.too_long = raw_lines.too_long;
        summary.known_untitled = known_untitled && flow.is_continue();
        Ok(flow)
    }

    /// Reports the deferred hits, except those in records that repeat others.
    fn report_deferred_hits(&self, search: &mut Search<'_>) -> io::Result<()> {
        let deferred = search.take_deferred_hits();
        if deferred.is_empty() {
            return Ok(());
        }
        let unrepeated = self.find_unrepeated_records(search.query)?;
        let is_unrepeated = |hit: &SearchHit| {
            hit.to_record_key()
                .is_none_or(|key| unrepeated.contains(&key))
        };
        let mut wanted = deferred.into_iter().filter(is_unrepeated);
        // A break means that no more hits are wanted.
        let _ = wanted.try_for_each(|hit| search.report(hit));
        Ok(())
    }

    /// Returns the records of the hits in messages, without records that repeat others.
    fn find_unrepeated_records(&self, query: &Query) -> io::Result<HashSet<String>> {
        let mut unrepeated = HashSet::new();
        for message in self.messages(Scope::AllBranches)? {
            let hits = query.find_hits(None, &message?).into_iter();
            unrepeated.extend(hits.filter_map(|hit| hit.to_record_key()));
        }
        Ok(unrepeated)
    }
}

/// Whether a line may contain such a part of a message.
fn may_contain(line: LineClass, place: HitBlock) -> bool {
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
    remaining: usize,
    /// The content of the hits so far, if records may repeat them.
    reported: HashSet<Key>,
    /// Hits in records that usually repeat other records.
    deferred_hits: Vec<SearchHit>,
}

impl Search<'_> {
    fn search_record(
        &mut self,
        line: u64,
        messages: &[Message],
        repeats: &[Message],
    ) -> ControlFlow<()> {
        for message in messages {
            self.search_message(Some(line), message)?;
        }
        for repeat in repeats {
            let hits = self.query.find_hits(Some(line), repeat);
            self.deferred_hits.extend(hits);
        }
        if self.deferred_hits.len() > MAX_DEFERRED_HITS {
            let mut held = self.take_deferred_hits().into_iter();
            return held.try_for_each(|found| self.report(found));
        }
        ControlFlow::Continue(())
    }

    fn search_message(&mut self, line: Option<u64>, message: &Message) -> ControlFlow<()> {
        for found in self.query.find_hits(line, message) {
            self.reported.insert(Key::from_id(&found.to_key()));
            self.report(found)?;
        }
        ControlFlow::Continue(())
    }

    /// Takes the deferred hits, without those whose content was reported.
    fn take_deferred_hits(&mut self) -> Vec<SearchHit> {
        let mut held = std::mem::take(&mut self.deferred_hits);
        held.retain(|hit| !self.reported.contains(&Key::from_id(&hit.to_key())));
        held
    }

    fn report(&mut self, found: SearchHit) -> ControlFlow<()> {
        (self.visit)(found)?;
        self.remaining -= 1;
        if self.remaining == 0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Query {
    /// Returns the parts of a message that match.
    fn find_hits(&self, line: Option<u64>, message: &Message) -> Vec<SearchHit> {
        if !self.roles.is_empty() && !self.roles.contains(&message.role) {
            return Vec::new();
        }
        let parts = message.blocks.iter().filter_map(|block| {
            if !self.places.contains(&find_block_kind(block)?) {
                return None;
            }
            let found = match block {
                Block::Text(text) => self.find_first(&[text]),
                Block::Thinking(thought) => self.find_first(&[thought.text()]),
                Block::Call(call) => self.find_first(&collect_strings(call.input.get())),
                Block::Result(result) => self.find_first(&[result.text()]),
                Block::Media(_) => None,
            };
            SearchHit::new(line, message, block, found?)
        });
        parts.collect()
    }

    /// Returns the first match in any of the texts, and the number of matches in all of them.
    fn find_first(&self, texts: &[impl AsRef<str>]) -> Option<TextMatches> {
        let (mut first, mut count) = (None, 0);
        for text in texts {
            let text = text.as_ref();
            // This matcher returns no errors.
            let _ = self.matcher.find_iter(text.as_bytes(), |range| {
                count += 1;
                if first.is_none() {
                    let range = range.start()..range.end();
                    first = Some(match self.context {
                        0 => MatchExcerpt::new(text, range),
                        lines => MatchExcerpt::with_lines(text, range, lines),
                    });
                }
                true
            });
        }
        Some(TextMatches {
            first: first?,
            count,
        })
    }
}

/// Returns all strings in a value, in order, without keys. A value that is nested too deeply counts
/// as one string.
pub(super) fn collect_strings(json: &str) -> Vec<String> {
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
