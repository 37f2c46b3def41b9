//! The title of a session.

use std::fs::File;
use std::io;

use super::session::Session;
use super::side_file::side_file_title;
use super::title::{Summary, entries_on, find_titles};
use crate::agent::{Detail, ManualTitle, Title, TitleSource, TitleStore};
use crate::jsonl::{FixedFile, Mapping, SearchControl, search_backward};

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
        self.or_in_side_file(title.filter(|title| !title.text.is_empty()), mapping)
    }

    /// The title that counts: the one in the file, or one in the side file. A title is in the side file
    /// only if the agent has no record for titles.
    fn or_in_side_file(&self, own: Option<Title>, mapping: Mapping) -> io::Result<Option<Title>> {
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

    /// The same with the bytes of the file.
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
        match self.format().title_store {
            TitleStore::SessionFile if own.is_some() => Ok(own),
            _ => self.or_in_side_file(own, mapping),
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
