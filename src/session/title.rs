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

/// How many of the last summaries are looked at: as many words as are quickly searched at once.
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
    Ok(find_titles(file, format)?.0.map(|record| record.title))
}

/// A summary, and the id of the record that it names.
type Summary = (String, String);

/// The same with everything that the record says, and the last summaries, the last one first. All of
/// them are there if there is no title.
pub(super) fn find_titles<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &Format,
) -> io::Result<(Option<TitleRecord>, Vec<Summary>)> {
    let search = format.titles;
    let mut rule = TitleRule::new(search.precedence);
    let mut summaries = Vec::new();
    search_backward(file, search.words, &mut |hit| {
        let mut control = SearchControl::Continue;
        for entry in entries_on(format, hit.line).into_iter().rev() {
            summaries.extend(entry.summary.filter(|_| summaries.len() < MOST_SUMMARIES));
            let Some(record) = entry.title else {
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
    Ok((rule.finish(), summaries))
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
        let own = if self.holds_no_title {
            None
        } else {
            self.own_title(bytes)?
        };
        match self.agent() {
            Agent::Claude | Agent::Qwen | Agent::Pi if own.is_some() => Ok(own),
            _ => self.or_beside(own, mapping),
        }
    }

    /// The title that counts in the file itself.
    fn own_title(&self, bytes: &mut FixedFile<&File>) -> io::Result<Option<Title>> {
        match find_titles(bytes, self.format())? {
            (Some(record), _) => Ok(Some(record.title)),
            (None, summaries) if summaries.is_empty() => Ok(None),
            (None, summaries) => self.summary_title(bytes, summaries),
        }
    }

    /// The first of `summaries` that names a record in this file. Older versions of Claude Code wrote
    /// summaries mostly of other sessions.
    fn summary_title(
        &self,
        bytes: &mut FixedFile<&File>,
        mut summaries: Vec<Summary>,
    ) -> io::Result<Option<Title>> {
        let leaves: Vec<&str> = summaries.iter().map(|(leaf, _)| leaf.as_str()).collect();
        let mut best = None;
        search_backward(bytes, &leaves, &mut |hit| {
            for entry in entries_on(self.format(), hit.line) {
                let named = leaves
                    .iter()
                    .position(|leaf| entry.uuid.as_deref() == Some(leaf));
                best = [best, named].into_iter().flatten().min();
            }
            match best {
                Some(0) => SearchControl::Stop,
                _ => SearchControl::Continue,
            }
        })?;
        Ok(best.map(|best| Title {
            text: summaries.swap_remove(best).1,
            source: TitleSource::Summary,
        }))
    }
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
