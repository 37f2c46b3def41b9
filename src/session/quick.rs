//! What a session's two ends tell, without reading what lies between.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memrchr_iter};

use super::lines::for_each_line;
use super::recover::each_record_on;
use super::summaries::Summaries;
use super::transcript::{Positioned, Session};
use super::{Agent, Facts, Title, find_title};
use crate::jsonl::{FixedFile, Mapping, SearchControl, search_backward};

/// How far the first prompt is looked for, in bytes.
const LONGEST_HEAD: u64 = 1024 * 1024;

/// How much of the end is read at first, in bytes: it holds a time in 97 of 100 files.
const TAIL: u64 = 16 * 1024;

/// How much of the end is read if that told too little, in bytes.
const LONG_TAIL: u64 = 64 * 1024;

/// How much of the end is read if that was a part of one line only, in bytes.
const LONGEST_TAIL: u64 = 16 * 1024 * 1024;

/// How many of the last lines are read in any case: times run backwards now and then.
const LAST_LINES: u32 = 3;

/// Whether messages are looked at for the first prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Prompt {
    Wanted,
    Known,
}

/// What the ends tell.
#[derive(Default)]
struct Ends {
    facts: Facts,
    summaries: Summaries,
}

impl Session {
    /// What the ends of the file tell, and its title, wherever that stands. The last activity is
    /// the latest time of the last records that have one.
    ///
    /// # Errors
    /// Reading failed.
    pub fn quick_facts(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        let mut bytes = self.bytes(mapping);
        let mut ends = self.read_ends(&mut bytes)?;
        ends.facts.title = find_title(&mut bytes, self.format())?;
        if ends.facts.title.is_none() {
            ends.facts.title = self.title_elsewhere(ends.summaries, mapping)?;
        }
        Ok(ends.facts)
    }

    /// The title that [`Self::quick_facts`] tells, and no more than it takes to find it.
    ///
    /// # Errors
    /// Reading failed.
    pub fn quick_title(&self, mapping: Mapping) -> io::Result<Option<Title>> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0.title);
        }
        let mut bytes = self.bytes(mapping);
        if let Some(title) = find_title(&mut bytes, self.format())? {
            return Ok(Some(title));
        }
        let summaries = match self.agent() {
            Agent::Claude => self.read_ends(&mut bytes)?.summaries,
            Agent::Qwen | Agent::Codex | Agent::Gemini | Agent::Pi => Summaries::default(),
        };
        self.title_elsewhere(summaries, mapping)
    }

    /// The title of a session whose file has no record of one.
    fn title_elsewhere(&self, summaries: Summaries, mapping: Mapping) -> io::Result<Option<Title>> {
        let summary = summaries.last_of(|leaf| self.holds_record(leaf, mapping))?;
        match summary {
            Some(summary) => Ok(Some(summary)),
            None => self.title_beside(mapping),
        }
    }

    /// What the ends of the file tell, without its title, which may stand anywhere.
    ///
    /// # Errors
    /// Reading failed.
    pub fn facts_of_ends(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        Ok(self.read_ends(&mut self.bytes(mapping))?.facts)
    }

    fn read_ends(&self, bytes: &mut FixedFile<&File>) -> io::Result<Ends> {
        let mut ends = Ends::default();
        let head = self.read_head(&mut ends)?;
        if head < self.file.size {
            let prompt = match ends.facts.first_prompt {
                Some(_) => Prompt::Known,
                None => Prompt::Wanted,
            };
            ends = self.read_tail(bytes, head, prompt)?.following(ends);
        }
        Ok(ends)
    }

    /// Reads the head; returns where it stopped.
    fn read_head(&self, ends: &mut Ends) -> io::Result<u64> {
        for (end, line) in self.head.lines() {
            self.note_line(line, Prompt::Wanted, ends);
            if ends.has_begun() {
                return Ok(end.min(self.file.size));
            }
        }
        let from = self.head.length();
        let source = Positioned {
            file: &self.file,
            at: from,
        };
        let found = for_each_line(source, from, &mut |line| {
            if line.offset > LONGEST_HEAD || ends.has_begun() {
                return ControlFlow::Break(line.offset);
            }
            for (_, record) in line.records() {
                self.note_record(record, Prompt::Wanted, ends);
            }
            ControlFlow::Continue(())
        })?;
        Ok(found.unwrap_or(self.file.size))
    }

    /// Reads the tail, from the first whole line that starts at `from` or later.
    fn read_tail(
        &self,
        bytes: &mut FixedFile<&File>,
        from: u64,
        prompt: Prompt,
    ) -> io::Result<Ends> {
        let length = bytes.length();
        let mut last = Ends::default();
        // Lines behind this place were noted.
        let mut noted = length;
        let mut lines = 0;
        let mut size = TAIL;
        loop {
            let start = length.saturating_sub(size).max(from);
            // As far as the end, so that a search for the title finds it there already.
            let window = bytes.window(start..length)?;
            let unseen = usize::try_from(noted - start).unwrap_or(usize::MAX);
            let window = &window[..unseen.min(window.len())];
            let mut end = window.len();
            let inner = window.strip_suffix(b"\n").unwrap_or(window);
            let starts = memrchr_iter(b'\n', inner).map(|newline| newline + 1);
            for at in starts.chain((start == from).then_some(0)) {
                let line = &window[at..end];
                if lines < LAST_LINES || prompt == Prompt::Wanted || last.may_learn_from(line) {
                    let mut told = Ends::default();
                    self.note_line(line, prompt, &mut told);
                    last = last.following(told);
                }
                end = at;
                lines += 1;
                if lines >= LAST_LINES && last.has_ended() {
                    return Ok(last);
                }
            }
            noted = start + end as u64;
            let is_enough = size >= LONG_TAIL && lines > 0;
            if start == from || is_enough || size >= LONGEST_TAIL {
                return Ok(last);
            }
            size *= 4;
        }
    }

    fn note_line(&self, line: &[u8], prompt: Prompt, ends: &mut Ends) {
        each_record_on(line, &mut |record| self.note_record(record, prompt, ends));
    }

    fn note_record(&self, record: &str, prompt: Prompt, ends: &mut Ends) {
        let format = self.format();
        format.facts(record, &mut ends.facts);
        if prompt == Prompt::Wanted && ends.facts.first_prompt.is_none() {
            let messages = format.messages(record).into_iter();
            for message in messages.chain(format.echoes(record)) {
                ends.facts.note_message(&message);
            }
        }
        if self.agent() == Agent::Claude {
            ends.summaries.note(record);
        }
    }

    /// Whether a record with this id is in the file.
    fn holds_record(&self, id: &str, mapping: Mapping) -> io::Result<bool> {
        let mut is_there = false;
        search_backward(&mut self.bytes(mapping), id.as_bytes(), &mut |hit| {
            each_record_on(hit.line, &mut |record| {
                let envelope = self.format().envelope(record);
                is_there |= envelope.uuid.as_deref() == Some(id);
            });
            if is_there {
                SearchControl::Stop
            } else {
                SearchControl::Continue
            }
        })?;
        Ok(is_there)
    }
}

impl Ends {
    /// Whether it is known how the session began.
    fn has_begun(&self) -> bool {
        let facts = &self.facts;
        facts.first_prompt.is_some()
            && facts.session_id.is_some()
            && facts.started.is_some()
            && (facts.first_cwd.is_some() || facts.cwd_hash.is_some())
    }

    /// Whether it is known how it ended.
    fn has_ended(&self) -> bool {
        let facts = &self.facts;
        facts.last_activity.is_some() && facts.model.is_some() && facts.cwd.is_some()
    }

    /// Whether a line may hold what is not known yet of how it ended. Keys stand in lines as they
    /// are; those in somebody's text have backslashes.
    fn may_learn_from(&self, line: &[u8]) -> bool {
        let facts = &self.facts;
        facts.last_activity.is_none()
            || facts.model.is_none() && names_a_model(line)
            || facts.cwd.is_none() && names_a_directory(line)
    }

    /// These records come after `earlier` ones: what all of them tell.
    fn following(self, earlier: Self) -> Self {
        let (later, earlier_facts) = (self.facts, earlier.facts);
        let mut summaries = earlier.summaries;
        summaries.extend(self.summaries);
        let started = match (earlier_facts.started, later.started) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Self {
            facts: Facts {
                started,
                last_activity: earlier_facts.last_activity.max(later.last_activity),
                cwd: later.cwd.or(earlier_facts.cwd),
                branch: later.branch.or(earlier_facts.branch),
                model: later.model.or(earlier_facts.model),
                session_id: earlier_facts.session_id.or(later.session_id),
                first_cwd: earlier_facts.first_cwd.or(later.first_cwd),
                first_prompt: earlier_facts.first_prompt.or(later.first_prompt),
                forked_from: earlier_facts.forked_from.or(later.forked_from),
                ..earlier_facts
            },
            summaries,
        }
    }
}

/// Keys of directories.
static DIRECTORIES: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| [Finder::new(b"\"cwd\""), Finder::new(b"\"directories\"")]);

/// What keys of models begin with.
static MODEL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"model"));

/// Whether a line, or a part of one, names a directory.
fn names_a_directory(line: &[u8]) -> bool {
    DIRECTORIES.iter().any(|key| key.find(line).is_some())
}

/// Whether there is a key of a model; in some formats `model` is a role, too.
fn names_a_model(line: &[u8]) -> bool {
    MODEL.find_iter(line).any(|at| {
        let rest = &line[at + MODEL.needle().len()..];
        let Some((key, behind)) = memchr(b'"', rest).and_then(|end| rest.split_at_checked(end))
        else {
            return false;
        };
        // Within a text, quotation marks have backslashes.
        !key.contains(&b'\\') && behind[1..].trim_ascii_start().starts_with(b":")
    })
}

#[cfg(test)]
#[path = "quick_tests.rs"]
mod tests;
