//! Searches a file backwards for the title of its session.

use std::borrow::Borrow;
use std::fs::File;
use std::io;
use std::time::Duration;

use super::recover::each_entry_on;
use crate::agent::{
    Detail, Entry, Format, ManualTitle, Precedence, StoredTitle, Title, TitleSource,
};
use crate::jsonl::{FixedFile, SearchControl, search_backward};

/// Maximum distance between an automatic title and an earlier manual one that lost a race, in bytes.
const RACE_DISTANCE: u64 = 1024 * 1024;

/// Maximum age of a manual title that lost a race: the writer of the automatic title did not see it.
const RACE_TIME: Duration = Duration::from_mins(1);

/// Maximum number of summaries to consider. A search for more words is slow.
const MAX_SUMMARIES: usize = 64;

/// Chooses among title records, from the end of a file backwards.
#[derive(Debug)]
struct TitleRule {
    precedence: Precedence,
    best: Option<StoredTitle>,
}

impl TitleRule {
    /// Starts without a title.
    fn new(precedence: Precedence) -> Self {
        Self {
            precedence,
            best: None,
        }
    }

    /// Considers the next record from the end, on the line at `offset`. Returns how far to continue.
    fn offer(&mut self, record: StoredTitle, offset: u64) -> SearchControl {
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
    fn finish(self) -> Option<StoredTitle> {
        self.best.filter(|record| !record.title.text.is_empty())
    }
}

fn lost_a_race(manual: &StoredTitle, automatic: &StoredTitle) -> bool {
    let (Some(before), Some(after)) = (manual.time, automatic.time) else {
        return false;
    };
    let limit = after.checked_sub(RACE_TIME);
    limit.is_ok_and(|limit| before > limit)
}

/// Finds the title that counts, in constant memory. Reads only as much of the end of the file as
/// needed, and the whole file if it has no title.
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
pub(super) type Summary = (String, String);

/// The title record that counts, and the last summaries, the last one first. All of them are
/// included if the file has no title.
pub(super) fn find_titles<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &Format,
) -> io::Result<(Option<StoredTitle>, Vec<Summary>)> {
    let search = format.titles;
    let mut rule = TitleRule::new(search.precedence);
    let mut summaries = Vec::new();
    search_backward(file, search.words, &mut |hit| {
        let mut control = SearchControl::Continue;
        for entry in entries_on(format, hit.line).into_iter().rev() {
            summaries.extend(entry.summary.filter(|_| summaries.len() < MAX_SUMMARIES));
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

/// The records on a line without their messages.
pub(super) fn entries_on(format: &Format, line: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    each_entry_on(format, line, Detail::Outline, &mut |_, entry| {
        entries.push(entry);
    });
    entries
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;
