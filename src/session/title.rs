//! The title of a session, searched from the end of its file.

use std::borrow::{Borrow, Cow};
use std::fs::File;
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::Agent;
use super::content::time_in;
use super::format::{Detail, Entry, Format, Precedence};
use super::opened::Session;
use super::recover::each_entry_on;
use super::side_file::side_file_title;
use crate::jsonl::{FixedFile, Mapping, SearchControl, search_backward};

/// How far before an automatic title to search for a manual one that lost a race, in bytes.
const RACE_DISTANCE: u64 = 1024 * 1024;

/// A manual title less than this much older than an automatic one lost a race: the writer of the
/// automatic title did not see it.
const RACE_TIME: Duration = Duration::from_mins(1);

/// How many of the last summaries are looked at. Each takes a search of the file.
const MOST_SUMMARIES: usize = 64;

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

/// A title and its source, both from one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The title, as stored in the file.
    pub text: String,
    /// Where it comes from.
    pub source: TitleSource,
}

/// Whether an automatic title replaces a manual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManualTitle {
    /// A manual title stays.
    Keep,
    /// The automatic title replaces it, because a person requested that.
    Supersede,
}

impl From<bool> for ManualTitle {
    fn from(is_superseded: bool) -> Self {
        if is_superseded {
            Self::Supersede
        } else {
            Self::Keep
        }
    }
}

/// The content of a title record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleRecord {
    /// The title. An empty one removes the title.
    pub title: Title,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// Whether it replaces a manual title.
    pub manual_title: ManualTitle,
}

impl TitleRecord {
    /// A title with the time of its record.
    pub(super) fn new(
        text: Cow<'_, str>,
        source: TitleSource,
        time: Option<&RawValue>,
        manual_title: ManualTitle,
    ) -> Self {
        Self {
            title: Title {
                text: text.into_owned(),
                source,
            },
            time: time_in(time),
            manual_title,
        }
    }
}

/// Chooses among title records, from the end of a file backwards.
#[derive(Debug)]
struct TitleRule {
    precedence: Precedence,
    best: Option<TitleRecord>,
}

impl TitleRule {
    /// Starts without a title.
    fn new(precedence: Precedence) -> Self {
        Self {
            precedence,
            best: None,
        }
    }

    /// Considers the next record from the end, on the line at `offset`. Returns how far to search
    /// on.
    fn offer(&mut self, record: TitleRecord, offset: u64) -> SearchControl {
        let is_decisive = record.title.source == TitleSource::Manual
            || record.manual_title == ManualTitle::Supersede;
        let Some(best) = &mut self.best else {
            let control = match self.precedence {
                _ if is_decisive => SearchControl::Stop,
                Precedence::Manual => SearchControl::Continue,
                Precedence::Later => SearchControl::DownTo(offset.saturating_sub(RACE_DISTANCE)),
            };
            self.best = Some(record);
            return control;
        };
        if is_decisive {
            if self.precedence == Precedence::Manual || lost_a_race(&record, best) {
                self.best = Some(record);
            }
            return SearchControl::Stop;
        }
        if best.title == record.title {
            // Agents repeat the title now and then. It dates from its first record.
            best.time = record.time.or(best.time);
        }
        SearchControl::Continue
    }

    /// The title that counts.
    fn finish(self) -> Option<TitleRecord> {
        self.best.filter(|record| !record.title.text.is_empty())
    }
}

fn lost_a_race(manual: &TitleRecord, automatic: &TitleRecord) -> bool {
    let (Some(before), Some(after)) = (manual.time, automatic.time) else {
        return false;
    };
    let limit = after.checked_sub(RACE_TIME);
    limit.is_ok_and(|limit| before > limit)
}

/// Finds the title that counts, with its source. Uses constant memory. Reads only as much of the
/// end of the file as needed, and the whole file if there is no title.
///
/// # Errors
/// Reading failed.
pub fn find_title<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &Format,
) -> io::Result<Option<Title>> {
    Ok(find_title_record(file, format)?.map(|record| record.title))
}

/// The same with everything that the record says.
pub(super) fn find_title_record<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &Format,
) -> io::Result<Option<TitleRecord>> {
    let search = format.titles;
    let mut rule = TitleRule::new(search.precedence);
    search_backward(file, search.needle.as_bytes(), &mut |hit| {
        let mut control = SearchControl::Continue;
        let titles = entries_on(format, hit.line).into_iter();
        for record in titles.rev().filter_map(|entry| entry.title) {
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

/// What the records on a line say, but for their messages.
fn entries_on(format: &Format, line: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    each_entry_on(format, line, Detail::Outline, &mut |_, entry| {
        entries.push(entry);
    });
    entries
}

impl Session {
    /// The title that counts, from the session file or the side file.
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
        self.or_beside(title.filter(|title| !title.text.is_empty()), mapping)
    }

    /// The title that counts, of the one in the file and one in the side file. What stands beside
    /// was asked for, and the agent had no place for it.
    fn or_beside(&self, own: Option<Title>, mapping: Mapping) -> io::Result<Option<Title>> {
        if !self.may_have_side_file {
            return Ok(own);
        }
        let beside = side_file_title(&self.file.path, mapping)?;
        let stays = own
            .as_ref()
            .is_some_and(|own| own.source == TitleSource::Manual);
        Ok(match beside {
            Some(beside) if !stays || beside.manual_title == ManualTitle::Supersede => {
                Some(beside.title)
            }
            Some(_) | None => own,
        })
    }

    /// The same, with the file's bytes already at hand.
    pub(super) fn title_in(
        &self,
        bytes: &mut FixedFile<&File>,
        mapping: Mapping,
    ) -> io::Result<Option<Title>> {
        let own = match find_title(bytes, self.format())? {
            Some(title) => Some(title),
            None => self.summary_title(bytes)?,
        };
        match self.agent() {
            Agent::Claude | Agent::Qwen | Agent::Pi if own.is_some() => Ok(own),
            _ => self.or_beside(own, mapping),
        }
    }

    /// The last summary of the conversation. Older versions of Claude Code wrote summaries, mostly
    /// of other sessions. A summary counts only if the record it names is in this file.
    fn summary_title(&self, bytes: &mut FixedFile<&File>) -> io::Result<Option<Title>> {
        if self.agent() != Agent::Claude {
            return Ok(None);
        }
        let mut summaries = Vec::new();
        search_backward(bytes, b"\"summary\"", &mut |hit| {
            let entries = entries_on(self.format(), hit.line).into_iter();
            summaries.extend(entries.rev().filter_map(|entry| entry.summary));
            SearchControl::Continue
        })?;
        for (leaf, text) in summaries.into_iter().take(MOST_SUMMARIES) {
            if self.holds(bytes, &leaf)? {
                let source = TitleSource::Summary;
                return Ok(Some(Title { text, source }));
            }
        }
        Ok(None)
    }

    /// Whether a record with this id is in the file.
    fn holds(&self, bytes: &mut FixedFile<&File>, id: &str) -> io::Result<bool> {
        let mut is_found = false;
        search_backward(bytes, id.as_bytes(), &mut |hit| {
            let entries = entries_on(self.format(), hit.line);
            is_found = entries
                .iter()
                .any(|entry| entry.uuid.as_deref() == Some(id));
            if is_found {
                SearchControl::Stop
            } else {
                SearchControl::Continue
            }
        })?;
        Ok(is_found)
    }
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
