//! Summaries that older versions of Claude Code wrote. Most of them are of other sessions: one
//! counts only if the record that it names is in this file.

use std::collections::HashSet;
use std::io;

use super::claude_content::string;
use super::node::Key;
use super::{Title, TitleSource};
use crate::wire::object::{non_empty, object, text};

object! {
    Row {
        kind = "type",
        summary = "summary",
        leaf = "leafUuid",
        uuid = "uuid",
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    /// The records that summaries name, and the summaries.
    seen: Vec<(String, String)>,
    records: HashSet<Key>,
}

impl Summaries {
    /// Takes the next record. A summary may stand before the record that it names, or after it.
    pub(super) fn note(&mut self, record: &str) {
        let Some(row) = Row::read(record) else {
            return;
        };
        if text(row.kind).as_deref() == Some("summary") {
            if let (Some(leaf), Some(summary)) = (string(row.leaf), string(row.summary)) {
                self.seen.push((leaf, summary));
            }
        } else if let Some(uuid) = non_empty(row.uuid) {
            self.records.insert(Key::of(&uuid));
        }
    }

    /// The last summary of this file's own records.
    pub(super) fn own(self) -> Option<Title> {
        let own = |(leaf, _): &&(String, String)| self.records.contains(&Key::of(leaf));
        self.seen.iter().rfind(own).map(title)
    }

    /// The last summary that names a record of which `is_own` says that it is in the file.
    pub(super) fn last_of(
        self,
        mut is_own: impl FnMut(&str) -> io::Result<bool>,
    ) -> io::Result<Option<Title>> {
        for summary in self.seen.iter().rev() {
            if self.records.contains(&Key::of(&summary.0)) || is_own(&summary.0)? {
                return Ok(Some(title(summary)));
            }
        }
        Ok(None)
    }

    /// Adds summaries that come later in the file.
    pub(super) fn extend(&mut self, later: Self) {
        self.seen.extend(later.seen);
        self.records.extend(later.records);
    }
}

fn title((_, text): &(String, String)) -> Title {
    Title {
        text: text.clone(),
        source: TitleSource::Summary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_summaries_of_own_records_count() {
        let summary = |leaf: &str, text: &str| {
            format!(r#"{{"type":"summary","summary":"{text}","leafUuid":"{leaf}"}}"#)
        };
        let record = |uuid: &str| format!(r#"{{"type":"user","uuid":"{uuid}"}}"#);
        let rows: [(&[String], Option<&str>); 4] = [
            (&[summary("x", "foreign"), record("a")], None),
            (&[summary("a", "own"), record("a")], Some("own")),
            (
                &[record("a"), summary("a", "own"), summary("x", "foreign")],
                Some("own"),
            ),
            (
                &[record("a"), summary("a", "one"), summary("a", "two")],
                Some("two"),
            ),
        ];
        for (records, expected) in rows {
            let mut summaries = Summaries::default();
            for record in records {
                summaries.note(record);
            }
            let own = summaries.own().map(|title| title.text);
            assert_eq!(own.as_deref(), expected, "{records:?}");
        }
    }
}
