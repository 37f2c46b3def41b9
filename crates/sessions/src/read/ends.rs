//! Reads the facts at the two ends of a session file.

use std::fs::File;
use std::io;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::{self, Finder};

use crate::files::lines::RawLines;
use crate::files::open::Positioned;
use crate::files::recover::visit_entries_on;
use crate::read::session::Session;
use crate::read::title::NameIndexes;
use turnpipe_core::jsonl::{
    FixedFile, Mapping, SearchControl, search_backward, visit_lines_backward,
};
use turnpipe_formats::agent::{Detail, Facts, LineClass, Shape, is_subagent_file};

/// Maximum distance of the first prompt from the start, in bytes.
const MAX_HEAD: u64 = 16 * 1024 * 1024;

/// Maximum size of the tail, in bytes. At least one line is read.
const MAX_TAIL: u64 = 64 * 1024;

/// Number of last lines that are always read, because timestamps sometimes run backwards.
const LAST_LINES: u32 = 3;

impl Session {
    /// Returns the facts at both ends of the file, and the title from anywhere in it or from its agent's
    /// index. The last activity is the latest timestamp among the last records that have one.
    ///
    /// # Errors
    /// Reading failed.
    pub fn summary(&self, mapping: Mapping) -> io::Result<Facts> {
        let mut facts = self.read_file_summary(mapping)?;
        NameIndexes::default().apply(self.format(), &self.file.path, &mut facts);
        Ok(facts)
    }

    /// Like [`Self::summary`], without the index.
    pub(crate) fn read_file_summary(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        let mut bytes = self.bytes(mapping);
        let facts = self.read_end_facts(&mut bytes)?;
        Ok(Facts {
            title: self.find_title_in(&mut bytes, mapping)?,
            written_by: self.written_by().map(str::to_owned),
            ..self.with_directory(facts)
        })
    }

    /// Adds the directory if the file only records its hash.
    pub fn with_directory(&self, facts: Facts) -> Facts {
        if facts.first_cwd.is_some() || facts.cwd_hash.is_none() {
            return facts;
        }
        let directory = self.agent().find_directory(&self.file.path);
        facts.with_directory(directory)
    }

    /// Returns the facts at the start of the file.
    ///
    /// # Errors
    /// Reading failed.
    pub fn read_first_facts(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        Ok(self.read_head_facts(Detail::Full)?.0)
    }

    /// Returns the facts that name the session: its id, its start and its directory.
    pub(crate) fn read_identity_facts(&self) -> io::Result<Facts> {
        Ok(self.read_head_facts(Detail::Outline)?.0)
    }

    pub(crate) fn read_end_facts(&self, bytes: &mut FixedFile<&File>) -> io::Result<Facts> {
        let (facts, end) = self.read_head_facts(Detail::Full)?;
        if end >= self.file.size {
            return Ok(facts);
        }
        // Messages are only needed for the first prompt.
        let detail = match facts.first_prompt {
            Some(_) => Detail::Outline,
            None => Detail::Full,
        };
        // The first records of other sessions may follow.
        let before = Facts {
            session_id: facts.session_id.clone(),
            is_subagent: facts.is_subagent,
            ..Facts::default()
        };
        let mut tail = self.read_tail_facts(bytes, end, detail, &before)?;
        if tail.model.is_none() {
            tail = self
                .find_last_model_facts(bytes, end, &before)?
                .merge_later(tail);
        }
        Ok(facts.merge_later(tail))
    }

    /// Returns the facts in the last record at or after `from` that names a model.
    fn find_last_model_facts(
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
            if has_model_key(hit.line) {
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

    /// Returns the facts from outside the file.
    pub(crate) fn read_facts_beside(&self) -> Facts {
        let entries = self.read_entries_beside(Detail::Outline);
        entries.fold(Facts::default(), |facts, entry| {
            facts.merge_later(entry.facts)
        })
    }

    /// Reads the facts in the head, with the first prompt if `detail` includes messages. Returns the end of the part
    /// that was read completely.
    fn read_head_facts(&self, detail: Detail) -> io::Result<(Facts, u64)> {
        let mut facts = self.read_facts_beside();
        for (end, line) in self.head.lines() {
            self.add_line(line, detail, &mut facts);
            if self.has_start(&facts, detail) {
                return Ok((facts, end.min(self.file.size)));
            }
        }
        let from = self.head.length();
        let source = Positioned {
            file: &self.file,
            at: from,
        };
        // Only the first prompt may be far from the beginning.
        let mut end = self.file.size;
        let (mut skipped, mut too_long) = (u64::MAX, 0);
        let mut lines = RawLines::new(source, &[])?;
        while let Some(line) = lines.next()? {
            let start = from + line.offset;
            if line.is_too_long() {
                too_long += line.length;
                continue;
            }
            if start - too_long > MAX_HEAD || self.has_start(&facts, detail) {
                end = start;
                break;
            }
            if is_named(&facts)
                && (self.format().reading.classify)(line.text) != LineClass::Anything
            {
                skipped = skipped.min(start);
            } else {
                self.add_line(line.text, detail, &mut facts);
            }
        }
        Ok((facts, end.min(skipped)))
    }

    /// Reads the facts in the tail, from the last line back to the first one at or after `from`.
    fn read_tail_facts(
        &self,
        bytes: &mut FixedFile<&File>,
        from: u64,
        detail: Detail,
        before: &Facts,
    ) -> io::Result<Facts> {
        let length = bytes.length();
        let (mut known, mut lines) = (Facts::default(), 0);
        visit_lines_backward(bytes, &mut |place, line| {
            if place.start < from {
                return false;
            }
            let is_wanted = lines < LAST_LINES || detail == Detail::Full;
            if let Some(line) = line.filter(|line| is_wanted || may_add_to(&known, line)) {
                let mut earlier = before.clone();
                self.add_line(line, detail, &mut earlier);
                known = earlier.merge_later(std::mem::take(&mut known));
            }
            lines += 1;
            let has_all = lines >= LAST_LINES && has_ended(&known);
            !has_all && length - place.start < MAX_TAIL
        })?;
        Ok(known)
    }

    /// Whether the start of the session is known.
    fn has_start(&self, facts: &Facts, detail: Detail) -> bool {
        let has_prompt = facts.first_prompt.is_some() || detail == Detail::Outline;
        has_prompt && is_named(facts) && !self.may_become_main(facts)
    }

    /// Whether a main conversation may follow. The first messages of some files are from a subagent.
    fn may_become_main(&self, facts: &Facts) -> bool {
        facts.is_subagent
            && self.format().reading.shape == Shape::Tree
            && !is_subagent_file(&self.file.path)
    }

    fn add_line(&self, line: &[u8], detail: Detail, facts: &mut Facts) {
        let detail = match facts.first_prompt {
            Some(_) if !self.may_become_main(facts) => Detail::Outline,
            Some(_) | None => detail,
        };
        visit_entries_on(&mut self.entries(), line, detail, &mut |_, mut entry| {
            facts.add(std::mem::take(&mut entry.facts));
            let repeats = std::mem::take(&mut entry.repeats);
            for message in entry.into_messages().iter().chain(&repeats) {
                facts.add_message(message);
            }
        });
    }
}

/// Whether the start of the session is known, except for the first prompt.
fn is_named(facts: &Facts) -> bool {
    facts.session_id.is_some()
        && facts.started.is_some()
        && (facts.first_cwd.is_some() || facts.cwd_hash.is_some())
}

/// Whether the end of the session is known.
fn has_ended(facts: &Facts) -> bool {
    facts.last_activity.is_some() && facts.model.is_some() && facts.cwd.is_some()
}

/// Whether a line may contain a missing fact.
fn may_add_to(known: &Facts, line: &[u8]) -> bool {
    known.last_activity.is_none()
        || known.model.is_none() && has_model_key(line)
        || known.cwd.is_none() && DIRECTORIES.iter().any(|key| key.find(line).is_some())
}

/// Keys of working directories.
static DIRECTORIES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"cwd\""), Finder::new(b"\"directories\"")]);

/// Prefixes of the keys of models.
const MODEL: &str = "\"model";

/// Whether the line has a key of a model. In some formats `model` is also a role.
fn has_model_key(line: &[u8]) -> bool {
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
