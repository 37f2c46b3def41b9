//! Reads the two ends of a session file and skips what lies between.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter, memrchr};

use super::Facts;
use super::codex_index::ThreadNames;
use super::format::{Detail, Glance};
use super::lines::for_each_raw_line;
use super::open::SessionFile;
use super::opened::{Positioned, Session};
use super::recover::each_entry_on;
use crate::jsonl::{Beginning, FixedFile, Mapping, SearchControl, lines_backward, search_backward};

/// The size of the head, in bytes. It shows how the session began in nearly every file.
const FIRST_LINES: usize = 8 * 1024;

/// Files up to this size are read at once, in bytes.
const SMALL_FILE: usize = 24 * 1024;

/// How far to search for the first prompt, in bytes.
const LONGEST_HEAD: u64 = 16 * 1024 * 1024;

/// How much of the end is read, in bytes, and at least one line.
const LONG_TAIL: u64 = 64 * 1024;

/// How many of the last lines are always read, since timestamps sometimes run backwards.
const LAST_LINES: u32 = 3;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The complete lines at the start of a file, read once.
#[derive(Debug)]
pub(super) struct Head {
    beginning: Arc<Beginning>,
    length: usize,
}

impl Head {
    /// Reads the head. If it is the whole file, the last line needs no newline.
    pub(super) fn read(file: &SessionFile) -> io::Result<Self> {
        let size = usize::try_from(file.size).unwrap_or(usize::MAX);
        let read = if size <= SMALL_FILE {
            size
        } else {
            FIRST_LINES
        };
        let beginning = Beginning::read(&file.file, read)?;
        let bytes = beginning.bytes();
        let first = &bytes[..bytes.len().min(FIRST_LINES)];
        let length = if first.len() == size {
            size
        } else {
            memrchr(b'\n', first).map_or(0, |newline| newline + 1)
        };
        Ok(Self {
            beginning: Arc::new(beginning),
            length,
        })
    }

    /// All bytes that were read, possibly more than the lines.
    pub(super) fn beginning(&self) -> Arc<Beginning> {
        Arc::clone(&self.beginning)
    }

    /// Whether the file begins with these bytes.
    pub(super) fn starts_with(&self, bytes: &[u8]) -> bool {
        self.beginning.bytes().starts_with(bytes)
    }

    /// The lines, each with the offset of its end in bytes.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let lines = &self.beginning.bytes()[..self.length];
        let text = lines.strip_prefix(BYTE_ORDER_MARK).unwrap_or(lines);
        let before = (lines.len() - text.len()) as u64;
        let newlines = memchr_iter(b'\n', text).map(|newline| newline + 1);
        let unfinished = text.last().is_some_and(|last| *last != b'\n');
        let mut start = 0;
        newlines
            .chain(unfinished.then_some(text.len()))
            .map(move |end| {
                let line = &text[start..end];
                start = end;
                (before + end as u64, line)
            })
    }
}

impl Session {
    /// The facts at both ends of the file, and the title from anywhere in it, or from its agent's
    /// index. The last activity is the latest timestamp among the last records that have one.
    ///
    /// # Errors
    /// Reading failed.
    pub fn summary(&self, mapping: Mapping) -> io::Result<Facts> {
        let mut facts = self.summary_of_file(mapping)?;
        ThreadNames::default().apply(self, &mut facts);
        Ok(facts)
    }

    /// The same without the index.
    pub(super) fn summary_of_file(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        let mut bytes = self.bytes(mapping);
        let facts = self.facts_of_ends(&mut bytes)?;
        Ok(Facts {
            title: self.title_in(&mut bytes, mapping)?,
            ..facts
        })
    }

    /// The facts at the start of the file.
    ///
    /// # Errors
    /// Reading failed.
    pub fn first_facts(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        Ok(self.facts_of_head()?.0)
    }

    pub(super) fn facts_of_ends(&self, bytes: &mut FixedFile<&File>) -> io::Result<Facts> {
        let (facts, end) = self.facts_of_head()?;
        if end >= self.file.size {
            return Ok(facts);
        }
        // Messages are only needed for the first prompt.
        let detail = match facts.first_prompt {
            Some(_) => Detail::Outline,
            None => Detail::Full,
        };
        // Heads of other sessions may follow.
        let before = Facts {
            session_id: facts.session_id.clone(),
            is_subagent: facts.is_subagent,
            ..Facts::default()
        };
        let mut tail = self.facts_of_tail(bytes, end, detail, &before)?;
        if tail.model.is_none() {
            tail = self
                .facts_of_last_model(bytes, end, &before)?
                .followed_by(tail);
        }
        Ok(facts.followed_by(tail))
    }

    /// The facts in the last record at or after `from` that names a model.
    fn facts_of_last_model(
        &self,
        bytes: &mut FixedFile<&File>,
        from: u64,
        before: &Facts,
    ) -> io::Result<Facts> {
        let mut found = Facts::default();
        search_backward(bytes, &[MODEL], &mut |hit| {
            if hit.offset < from {
                return SearchControl::Stop;
            }
            if names_a_model(hit.line) {
                let mut facts = before.clone();
                self.add_line(hit.line, Detail::Outline, &mut facts);
                if facts.model.is_some() {
                    found = facts;
                    return SearchControl::Stop;
                }
            }
            SearchControl::Continue
        })?;
        Ok(found)
    }

    /// Reads the facts in the head. Returns the offset up to which everything was read.
    fn facts_of_head(&self) -> io::Result<(Facts, u64)> {
        let mut facts = Facts::default();
        for (end, line) in self.head.lines() {
            self.add_line(line, Detail::Full, &mut facts);
            if has_begun(&facts) {
                return Ok((facts, end.min(self.file.size)));
            }
        }
        let from = self.head.length as u64;
        let source = Positioned {
            file: &self.file,
            at: from,
        };
        // Only the first prompt may be far from the beginning.
        let mut end = self.file.size;
        let mut passed_over = u64::MAX;
        for_each_raw_line(source, &[], &mut |line| {
            let start = from + line.offset;
            if start > LONGEST_HEAD || has_begun(&facts) {
                end = start;
                return ControlFlow::Break(());
            }
            if is_named(&facts) && (self.format().glance)(line.text) != Glance::Anything {
                passed_over = passed_over.min(start);
            } else {
                self.add_line(line.text, Detail::Full, &mut facts);
            }
            ControlFlow::Continue(())
        })?;
        Ok((facts, end.min(passed_over)))
    }

    /// Reads the facts in the tail, from the last line back to the first one at or after `from`.
    fn facts_of_tail(
        &self,
        bytes: &mut FixedFile<&File>,
        from: u64,
        detail: Detail,
        before: &Facts,
    ) -> io::Result<Facts> {
        let length = bytes.length();
        let (mut known, mut lines) = (Facts::default(), 0);
        lines_backward(bytes, &mut |place, line| {
            if place.start < from {
                return false;
            }
            let is_wanted = lines < LAST_LINES || detail == Detail::Full;
            if let Some(line) = line.filter(|line| is_wanted || may_add_to(&known, line)) {
                let mut earlier = before.clone();
                self.add_line(line, detail, &mut earlier);
                known = earlier.followed_by(std::mem::take(&mut known));
            }
            lines += 1;
            let has_all = lines >= LAST_LINES && has_ended(&known);
            !has_all && length - place.start < LONG_TAIL
        })?;
        Ok(known)
    }

    fn add_line(&self, line: &[u8], detail: Detail, facts: &mut Facts) {
        let detail = match facts.first_prompt {
            Some(_) => Detail::Outline,
            None => detail,
        };
        each_entry_on(self.format(), line, detail, &mut |_, mut entry| {
            facts.add(std::mem::take(&mut entry.facts));
            let repeats = std::mem::take(&mut entry.repeats);
            for message in entry.into_messages().iter().chain(&repeats) {
                facts.add_message(message);
            }
        });
    }
}

/// Whether the start of the session is known.
fn has_begun(facts: &Facts) -> bool {
    facts.first_prompt.is_some() && is_named(facts)
}

/// The same but for the first prompt.
fn is_named(facts: &Facts) -> bool {
    facts.session_id.is_some()
        && facts.started.is_some()
        && (facts.first_cwd.is_some() || facts.cwd_hash.is_some())
}

/// Whether the end of the session is known.
fn has_ended(facts: &Facts) -> bool {
    facts.last_activity.is_some() && facts.model.is_some() && facts.cwd.is_some()
}

/// Whether a line may hold a missing fact.
fn may_add_to(known: &Facts, line: &[u8]) -> bool {
    known.last_activity.is_none()
        || known.model.is_none() && names_a_model(line)
        || known.cwd.is_none() && DIRECTORIES.iter().any(|key| key.find(line).is_some())
}

/// Keys of working directories.
static DIRECTORIES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"cwd\""), Finder::new(b"\"directories\"")]);

/// Prefixes of the keys of models.
const MODEL: &str = "\"model";

/// Whether the line has a key of a model. In some formats `model` is also a role.
fn names_a_model(line: &[u8]) -> bool {
    memmem::find_iter(line, MODEL).any(|at| {
        let rest = &line[at + MODEL.len()..];
        let key = memchr(b'"', rest).and_then(|end| rest.split_at_checked(end));
        // Inside a string, quotation marks are escaped.
        key.is_some_and(|(key, behind)| {
            !key.contains(&b'\\') && behind[1..].trim_ascii_start().starts_with(b":")
        })
    })
}

#[cfg(test)]
#[path = "ends_tests.rs"]
mod tests;
