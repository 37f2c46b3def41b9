//! Titles of sessions: searched backwards in a file, or kept by the agent in an index next to the
//! session files.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crate::files::lines::visit_lines;
use crate::files::open::open_safely;
use crate::files::recover::visit_entries_on;
use crate::files::side_file::open_side_file;
use crate::read::session::Session;
use turnpipe_core::jsonl::{FixedFile, Mapping, SearchControl, search_backward};
use turnpipe_formats::agent::{
    Detail, Entry, EntryReader, Facts, Format, ManualTitle, NameIndex, Precedence, StoredTitle,
    Summary, Title, TitleSource, TitleStore, own_format,
};

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

    /// Considers the next record from the end, on the line at `offset`. Returns how far the search continues.
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
            if self.precedence == Precedence::Manual || is_race(&record, best) {
                self.best = Some(record);
            }
            return SearchControl::Stop;
        }
        if best.title == record.title {
            // Agents repeat titles now and then. The first record determines the date of a title.
            best.time = record.time.or(best.time);
        }
        SearchControl::Continue
    }

    /// Returns the title that applies.
    fn finish(self) -> Option<StoredTitle> {
        self.best.filter(|record| !record.title.text.is_empty())
    }
}

fn is_race(manual: &StoredTitle, automatic: &StoredTitle) -> bool {
    let (Some(before), Some(after)) = (manual.time, automatic.time) else {
        return false;
    };
    let limit = after.checked_sub(RACE_TIME);
    limit.is_ok_and(|limit| before > limit)
}

/// Finds the title that applies, in constant memory. Reads only as much of the end of the file as
/// needed, and the whole file if it has no title.
///
/// # Errors
/// Reading failed.
pub(crate) fn find_title<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &'static Format,
) -> io::Result<Option<Title>> {
    Ok(find_titles(file, format)?.title.map(|record| record.title))
}

/// The titles at the end of a file.
pub(crate) struct FoundTitles {
    /// The title record that applies.
    pub(crate) title: Option<StoredTitle>,
    /// The last summaries, last one first. All of them are included if the file has no title.
    pub(crate) summaries: Vec<Summary>,
}

/// Returns the titles in a file, read from its end.
pub(crate) fn find_titles<Source: Borrow<File>>(
    file: &mut FixedFile<Source>,
    format: &'static Format,
) -> io::Result<FoundTitles> {
    let mut rule = TitleRule::new(format.titles.precedence);
    let mut summaries = Vec::new();
    search_backward(file, format.titles.words, &mut |hit| {
        let mut control = SearchControl::Continue;
        for entry in read_entries_on(format, hit.line).into_iter().rev() {
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
    Ok(FoundTitles {
        title: rule.finish(),
        summaries,
    })
}

/// Returns the records on a line without their messages.
pub(crate) fn read_entries_on(format: &'static Format, line: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    visit_entries_on(
        &mut EntryReader::new(format),
        line,
        Detail::Outline,
        &mut |_, entry| {
            entries.push(entry);
        },
    );
    entries
}

/// Returns the title in the side file, for agents that have no record for titles.
///
/// # Errors
/// Reading failed.
fn read_side_file_title(path: &Path, mapping: Mapping) -> io::Result<Option<StoredTitle>> {
    let Some(file) = open_side_file(path)? else {
        return Ok(None);
    };
    let mut bytes = FixedFile::new(&file.file, file.size, mapping);
    Ok(find_titles(&mut bytes, own_format())?.title)
}

/// The names in the indexes of agents. Each index is read once. A missing or unreadable one is empty.
#[derive(Debug, Default)]
pub(crate) struct NameIndexes {
    by_path: Mutex<HashMap<PathBuf, HashMap<String, Title>>>,
}

impl NameIndexes {
    /// Replaces the title of the session at `path` by its name in the index, if there is one.
    pub(crate) fn apply(&self, format: &Format, path: &Path, facts: &mut Facts) {
        if let TitleStore::Index(index) = format.titles.store
            && let Some(name) = self.find_name(index, path, facts)
        {
            facts.title = Some(name);
        }
    }

    fn find_name(&self, index: &NameIndex, session: &Path, facts: &Facts) -> Option<Title> {
        let mut by_path = self.by_path.lock().ok()?;
        let names = by_path
            .entry((index.path)(session)?)
            .or_insert_with_key(|path| read_names(index, path));
        names.get(facts.session_id.as_ref()?).cloned()
    }
}

/// Returns the readable names in an index, by session id.
pub(crate) fn read_names(index: &NameIndex, path: &Path) -> HashMap<String, Title> {
    let mut names = HashMap::new();
    if let Ok(file) = open_safely(path) {
        // An index that cannot be read counts as empty.
        let _ = visit_lines(&file.file, &mut |line| {
            let records = line
                .records()
                .filter_map(|(_, record)| (index.read)(record));
            names.extend(records.map(|(thread, record)| (thread, record.title)));
        });
    }
    (index.add_shown_names)(path, &mut names);
    names.retain(|_, name| !name.text.is_empty());
    names
}

impl Session {
    /// Returns the title that applies, from the session file or the side file.
    ///
    /// # Errors
    /// Reading failed.
    pub fn title(&self, mapping: Mapping) -> io::Result<Option<Title>> {
        let Some(document) = self.document() else {
            return self.find_title_in(&mut self.bytes(mapping), mapping);
        };
        let title = document.rows.iter().rev().find_map(|row| {
            let entry = self.format().read(row, Detail::Outline)?;
            Some(entry.title?.title)
        });
        self.prefer_side_file_title(title.filter(|title| !title.text.is_empty()), mapping)
    }

    /// Returns the title that applies: the one in the file, or one in the side file. A title is in the
    /// side file only if the agent has no record for titles.
    fn prefer_side_file_title(
        &self,
        own: Option<Title>,
        mapping: Mapping,
    ) -> io::Result<Option<Title>> {
        if !self.may_have_side_file {
            return Ok(own);
        }
        let beside = read_side_file_title(&self.file.path, mapping)?;
        let is_manual = own
            .as_ref()
            .is_some_and(|own| own.source == TitleSource::Manual);
        Ok(match beside {
            Some(beside) if !is_manual || beside.manual_title == ManualTitle::Supersede => {
                Some(beside.title)
            }
            Some(_) | None => own,
        })
    }

    /// Like [`Self::title`], with the bytes of the file.
    pub(crate) fn find_title_in(
        &self,
        bytes: &mut FixedFile<&File>,
        mapping: Mapping,
    ) -> io::Result<Option<Title>> {
        let beside = self.side_rows.iter().find_map(|row| {
            let entry = self.format().read(row, Detail::Outline)?;
            Some(entry.title?.title)
        });
        let own = match beside {
            Some(title) => Some(title),
            None if self.known_untitled => None,
            None => self.find_own_title(bytes)?,
        };
        match self.format().titles.store {
            TitleStore::SessionFile if own.is_some() => Ok(own),
            _ => self.prefer_side_file_title(own, mapping),
        }
    }

    /// Returns the title that applies in the file itself.
    fn find_own_title(&self, bytes: &mut FixedFile<&File>) -> io::Result<Option<Title>> {
        let found = find_titles(bytes, self.format())?;
        match found.title {
            Some(record) => Ok(Some(record.title)),
            None if found.summaries.is_empty() => Ok(None),
            None => self.find_summary_title(bytes, found.summaries),
        }
    }

    /// Returns the first of `summaries` that names a record in this file. Older versions of Claude Code mostly
    /// wrote summaries of other sessions.
    fn find_summary_title(
        &self,
        bytes: &mut FixedFile<&File>,
        mut summaries: Vec<Summary>,
    ) -> io::Result<Option<Title>> {
        let records = summaries.iter().map(|summary| summary.last_record.as_str());
        let leaves: Vec<&str> = records.collect();
        let mut best = None;
        search_backward(bytes, &leaves, &mut |hit| {
            for entry in read_entries_on(self.format(), hit.line) {
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
            text: summaries.swap_remove(best).text,
            source: TitleSource::Summary,
        }))
    }
}

#[cfg(test)]
#[path = "title_tests.rs"]
mod tests;

#[cfg(test)]
mod name_tests {
    use super::*;
    use turnpipe_formats::agent::Agent;

    #[test]
    fn the_last_name_of_a_session_counts() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("index.jsonl");
        let TitleStore::Index(index) = Agent::Codex.format().titles.store else {
            panic!("an index");
        };
        assert!(read_names(index, &path).is_empty());
        let lines = [
            r#"{"id":"a","thread_name":"first","updated_at":"x"}"#,
            r#"{"id":"b","thread_name":"other"}"#,
            "torn {",
            r#"{"id":"a","thread_name":"second"}"#,
            r#"{"id":"b","thread_name":""}"#,
        ];
        std::fs::write(&path, lines.join("\n")).unwrap();
        let names = read_names(index, &path);
        assert_eq!(names.len(), 1);
        assert_eq!(names["a"].text, "second");
    }
}
