//! The time at which a session got its title.

use std::io;

use jiff::Timestamp;

use crate::files::lines::visit_lines;
use crate::files::open::open_safely;
use crate::files::side_file::visit_side_entries;
use crate::read::session::Session;
use turnpipe_formats::agent::{Detail, StoredTitle, Title, TitleStore};

/// The time of the current title, while its records are read in order.
struct TitleTime<'a> {
    title: &'a Title,
    found: Option<Timestamp>,
}

impl TitleTime<'_> {
    /// Processes the next title record, which follows a record of the time `before`. `is_new` says that the record does
    /// not repeat the title before it, although the text is the same.
    fn note(&mut self, record: &StoredTitle, before: Option<Timestamp>, is_new: bool) {
        let time = record.time.or(before);
        self.found = match self.found {
            _ if record.title.text != self.title.text => None,
            Some(first) if !is_new => Some(first),
            _ => time,
        };
    }
}

impl Session {
    /// Returns when this session got `title`: the time of the title's record, or else of the record before it. Agents
    /// repeat titles, so the first of several equal ones counts, unless a model was paid for a later one. `None` if
    /// neither is recorded, such as for titles next to a session.
    ///
    /// # Errors
    /// Reading failed.
    pub fn title_time(&self, title: &Title) -> io::Result<Option<Timestamp>> {
        let mut time = TitleTime { title, found: None };
        let mut before = None;
        self.visit_entries(Detail::Counts, &mut |_, entry| {
            before = entry.timestamp().max(before);
            if let Some(record) = &entry.title {
                time.note(record, before, entry.side_cost.is_some());
            }
        })?;
        visit_side_entries(&self.file.path, &mut |entry| {
            if let Some(record) = &entry.title {
                time.note(record, entry.timestamp(), true);
            }
        })?;
        if let TitleStore::Index(index) = self.format().titles.store
            && let Some(path) = (index.path)(&self.file.path)
            && let Ok(file) = open_safely(&path)
        {
            let id = self.read_identity_facts()?.session_id;
            visit_lines(&file.file, &mut |line| {
                let rows = line.records().filter_map(|(_, row)| (index.read)(row));
                for (_, record) in rows.filter(|(thread, _)| Some(thread) == id.as_ref()) {
                    time.note(&record, None, true);
                }
            })?;
        }
        Ok(time.found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpipe_formats::agent::TitleSource;

    const BEFORE: &str = r#"{"type":"user","uuid":"a","timestamp":"2026-01-01T10:00:00Z","message":{"role":"user","content":"go"}}"#;
    const AFTER: &str = r#"{"type":"user","uuid":"b","parentUuid":"a","timestamp":"2026-01-01T11:00:00Z","message":{"role":"user","content":"on"}}"#;
    const TITLE: &str = r#"{"type":"ai-title","aiTitle":"T","sessionId":"s"}"#;
    const OTHER: &str = r#"{"type":"ai-title","aiTitle":"U","sessionId":"s"}"#;
    const PAID: &str = r#"{"type":"ai-title","aiTitle":"T","sessionId":"s","turnpipe":{"v":1,"model":"m","usage":{"input_tokens":1}}}"#;
    const BESIDE: &str = r#"{"type":"ai-title","aiTitle":"T","timestamp":"2026-01-01T12:00:00Z","turnpipe":{"v":1}}"#;

    #[test]
    fn a_title_has_the_time_of_its_first_record() {
        let rows: [(&[&str], &[&str], Option<&str>); 7] = [
            (&[BEFORE, TITLE, AFTER], &[], Some("10:00:00")),
            (&[BEFORE, TITLE, AFTER, TITLE], &[], Some("10:00:00")),
            (&[BEFORE, TITLE, OTHER, AFTER, TITLE], &[], Some("11:00:00")),
            (&[BEFORE, TITLE, AFTER, PAID], &[], Some("11:00:00")),
            (&[BEFORE, AFTER], &[BESIDE], Some("12:00:00")),
            (&[TITLE, BEFORE, AFTER], &[], None),
            (&[BEFORE, OTHER, AFTER], &[], None),
        ];
        let title = Title {
            text: "T".to_owned(),
            source: TitleSource::Auto,
        };
        for (lines, beside, expected) in rows {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("s.jsonl");
            std::fs::write(&path, lines.join("\n")).unwrap();
            std::fs::write(folder.path().join("s.jsonl.turnpipe"), beside.join("\n")).unwrap();
            let time = Session::open(&path).unwrap().title_time(&title).unwrap();
            let expected = expected.map(|time| format!("2026-01-01T{time}Z"));
            assert_eq!(time.map(|time| time.to_string()), expected, "{lines:?}");
        }
    }
}
