//! The title of a session: which of its title records counts, found from the end of its file.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::time::Duration;

use jiff::Timestamp;

use super::Agent;
use super::format::{Detail, Format, Precedence};
use super::opened::{Session, SideFile};
use super::recover::each_record_on;
use super::side_file::title_beside;
use super::tree::Key;
use crate::jsonl::{FixedFile, Mapping, SearchControl, search_backward, split_line};

/// How far behind an automatic title one looks for a manual one that lost a race, in bytes.
const RACE_DISTANCE: u64 = 1024 * 1024;

/// A manual title that was written less than this before an automatic one lost a race: the writer
/// of the latter did not see it.
const RACE_TIME: Duration = Duration::from_mins(1);

/// Where a title comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TitleSource {
    /// A person chose it, or the record does not say.
    Manual,
    /// A model made it.
    Auto,
    /// It is a summary of the conversation.
    Summary,
}

impl TitleSource {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
            Self::Summary => "summary",
        }
    }
}

/// A title and where it comes from; both are from one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The title, as it stands in the file.
    pub text: String,
    /// Where it comes from.
    pub source: TitleSource,
}

/// Whether an automatic title was written over a manual one on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It says nothing about that.
    Ordinary,
    /// A person asked for it.
    OnRequest,
}

/// What a record that gives a title says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleRecord {
    /// The title. An empty one takes the title away.
    pub title: Title,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Whether it may stand above a manual title.
    pub standing: Standing,
}

/// Chooses among title records that come from the end of a file.
#[derive(Debug)]
struct TitleRule {
    precedence: Precedence,
    best: Option<TitleRecord>,
}

impl TitleRule {
    /// No title was seen.
    fn new(precedence: Precedence) -> Self {
        Self {
            precedence,
            best: None,
        }
    }

    /// Takes the next record from the end, which stands on the line at `offset`; says how far one
    /// must look on.
    fn offer(&mut self, record: TitleRecord, offset: u64) -> SearchControl {
        let is_manual = record.title.source == TitleSource::Manual;
        let Some(best) = &mut self.best else {
            let control = match (self.precedence, record.standing) {
                _ if is_manual => SearchControl::Stop,
                (Precedence::Manual, _) => SearchControl::Continue,
                (Precedence::Later, Standing::OnRequest) => SearchControl::Stop,
                (Precedence::Later, Standing::Ordinary) => {
                    SearchControl::DownTo(offset.saturating_sub(RACE_DISTANCE))
                }
            };
            self.best = Some(record);
            return control;
        };
        if is_manual {
            if self.precedence == Precedence::Manual || lost_a_race(&record, best) {
                self.best = Some(record);
            }
            return SearchControl::Stop;
        }
        if best.title == record.title {
            // Agents append the title again now and then: it was given when it first appeared.
            best.time = record.time.or(best.time);
        }
        SearchControl::Continue
    }

    /// The title that counts.
    fn finish(self) -> Option<Title> {
        self.best
            .map(|record| record.title)
            .filter(|title| !title.text.is_empty())
    }
}

fn lost_a_race(manual: &TitleRecord, automatic: &TitleRecord) -> bool {
    let (Some(before), Some(after)) = (manual.time, automatic.time) else {
        return false;
    };
    let limit = after.checked_sub(RACE_TIME);
    limit.is_ok_and(|limit| before > limit)
}

/// The title that counts, with its source. Takes constant memory; reads as little of the end of
/// the file as it takes, and all of it if there is no title.
///
/// # Errors
/// Reading failed.
pub fn find_title<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &dyn Format,
) -> io::Result<Option<Title>> {
    let search = format.title_search();
    let mut rule = TitleRule::new(search.precedence);
    search_backward(file, search.needle.as_bytes(), &mut |hit| {
        let mut control = SearchControl::Continue;
        let (records, _) = split_line(hit.line);
        for record in records.iter().rev() {
            let entry = format.read(record.text(hit.line), Detail::Outline);
            let Some(record) = entry.and_then(|entry| entry.title) else {
                continue;
            };
            match rule.offer(record, hit.offset) {
                SearchControl::Continue => {}
                SearchControl::Stop => return SearchControl::Stop,
                nearer @ SearchControl::DownTo(_) => control = nearer,
            }
        }
        control
    })?;
    Ok(rule.finish())
}

impl Session {
    /// The title that counts, wherever it is.
    ///
    /// # Errors
    /// Reading failed.
    pub fn title(&self, mapping: Mapping) -> io::Result<Option<Title>> {
        let Some(rows) = &self.document else {
            return self.title_in(&mut self.bytes(mapping), mapping);
        };
        let title = rows.iter().rev().find_map(|row| {
            let entry = self.format().read(row, Detail::Outline)?;
            Some(entry.title?.title)
        });
        match title.filter(|title| !title.text.is_empty()) {
            Some(title) => Ok(Some(title)),
            None => self.title_beside(mapping),
        }
    }

    fn title_beside(&self, mapping: Mapping) -> io::Result<Option<Title>> {
        match self.side_file {
            SideFile::Possible => title_beside(&self.file.path, mapping),
            SideFile::Absent => Ok(None),
        }
    }

    /// The same, if the file's bytes are at hand.
    pub(super) fn title_in(
        &self,
        bytes: &mut FixedFile<&File>,
        mapping: Mapping,
    ) -> io::Result<Option<Title>> {
        if let Some(title) = find_title(bytes, self.format())? {
            return Ok(Some(title));
        }
        match self.summary_title(bytes)? {
            Some(title) => Ok(Some(title)),
            None => self.title_beside(mapping),
        }
    }

    /// The last summary of the conversation. Older versions of Claude Code wrote summaries, most of
    /// them of other sessions: one counts only if the record that it names is in this file.
    fn summary_title(&self, bytes: &mut FixedFile<&File>) -> io::Result<Option<Title>> {
        if self.agent() != Agent::Claude {
            return Ok(None);
        }
        let mut summaries = Vec::new();
        search_backward(bytes, b"\"summary\"", &mut |hit| {
            let mut on_line = Vec::new();
            each_record_on(hit.line, &mut |record| {
                let entry = self.format().read(record, Detail::Outline);
                on_line.extend(entry.and_then(|entry| entry.summary));
            });
            summaries.extend(on_line.into_iter().rev());
            SearchControl::Continue
        })?;
        if summaries.is_empty() {
            return Ok(None);
        }
        let mut own = HashSet::new();
        self.each_entry(Detail::Outline, &mut |_, entry| {
            own.extend(entry.uuid.as_deref().map(Key::of));
        })?;
        let mut summaries = summaries.into_iter();
        let summary = summaries.find(|(leaf, _)| own.contains(&Key::of(leaf)));
        Ok(summary.map(|(_, text)| Title {
            text,
            source: TitleSource::Summary,
        }))
    }
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
