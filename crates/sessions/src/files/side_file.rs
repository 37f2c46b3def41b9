//! The side file of a session file: labels of a session that another program writes, and records that
//! its agent does not support.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};

use crate::files::lines::visit_lines;
use crate::files::open::{SessionError, SessionFile, open_safely};
use turnpipe_core::message::Message;
use turnpipe_formats::agent::{Detail, Entry, own_format};

/// The suffix of side files. No agent takes a file of this name for a session: some delete sessions
/// that they cannot read.
pub const SIDE_FILE_SUFFIX: &str = ".turnpipe";

/// Returns the path of the side file of a session file.
pub fn side_file_path(session: &Path) -> PathBuf {
    let mut name = session.as_os_str().to_owned();
    name.push(SIDE_FILE_SUFFIX);
    name.into()
}

/// Labels and recaps that are yet to be inserted into the conversation.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// Each label, with the number of its calls without a result so far.
    waiting: Vec<(usize, Option<Message>)>,
    /// The labels of each call, in order: several calls may have the same id.
    by_call: HashMap<String, VecDeque<usize>>,
    /// Messages that belong to no call.
    rest: Vec<Message>,
}

impl Labels {
    /// Reads the side file of the session file at `path`. A missing file is empty.
    ///
    /// # Errors
    /// Reading failed.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let mut labels = Self::default();
        visit_side_entries(path, &mut |entry| labels.add(entry))?;
        Ok(labels)
    }

    /// Adds the messages of a record.
    pub(crate) fn add(&mut self, entry: Entry) {
        for message in entry.messages {
            if message.labelled_calls.is_empty() {
                self.rest.push(message);
                continue;
            }
            for call in &message.labelled_calls {
                let labels = self.by_call.entry(call.clone()).or_default();
                labels.push_back(self.waiting.len());
            }
            let calls = message.labelled_calls.len();
            self.waiting.push((calls, Some(message)));
        }
    }

    /// Returns the labels to show after this message, because it has the result of the last of their
    /// calls.
    pub(crate) fn take_due(&mut self, message: &Message) -> Vec<Message> {
        let mut due = Vec::new();
        if self.by_call.is_empty() {
            return due;
        }
        for result in message.results() {
            let labels = self.by_call.get_mut(&result.id);
            if let Some(label) = labels.and_then(VecDeque::pop_front) {
                let (calls, text) = &mut self.waiting[label];
                *calls -= 1;
                if *calls == 0 {
                    due.extend(text.take());
                }
            }
        }
        due
    }

    /// Returns the messages that belong to no call.
    pub(crate) fn into_rest(self) -> Vec<Message> {
        self.rest
    }
}

/// Calls `visit` with the records of the side file of the session file at `path`.
///
/// # Errors
/// Reading failed.
pub(crate) fn visit_side_entries(path: &Path, visit: &mut dyn FnMut(Entry)) -> io::Result<()> {
    let format = own_format();
    visit_side_records(path, &mut |record| {
        visit(format.read(record, Detail::Full).unwrap_or_default());
    })
}

/// Like `visit_side_entries`, with the text of each record.
///
/// # Errors
/// Reading failed.
pub fn visit_side_records(path: &Path, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
    let Some(file) = open_side_file(path)? else {
        return Ok(());
    };
    visit_lines(&file.file, &mut |line| {
        for (_, record) in line.records() {
            visit(record);
        }
    })
}

/// Opens the side file, if there is a readable one.
pub(crate) fn open_side_file(path: &Path) -> io::Result<Option<SessionFile>> {
    match open_safely(&side_file_path(path)) {
        Ok(file) => Ok(Some(file)),
        Err(SessionError::Io(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scope, Session};
    use turnpipe_core::jsonl::Mapping;
    use turnpipe_formats::agent::Title;

    const SESSION: [&str; 4] = [
        r#"{"type":"user","parentUuid":null,"sessionId":"s","uuid":"a","message":{"role":"user","content":"go"}}"#,
        r#"{"type":"assistant","parentUuid":"a","uuid":"b","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Read","input":{}},{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}"#,
        r#"{"type":"user","parentUuid":"b","uuid":"c","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"tool_result","tool_use_id":"t2","content":"y"}]}}"#,
        r#"{"type":"assistant","parentUuid":"c","uuid":"d","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"done"}]}}"#,
    ];

    fn texts(session: &[&str], lines_beside: &[&str]) -> (Vec<String>, Option<Title>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, session.join("\n")).unwrap();
        std::fs::write(side_file_path(&path), lines_beside.join("\n")).unwrap();
        let session = Session::open(&path).unwrap();
        let messages = session.messages(Scope::Live).unwrap();
        let texts = messages.map(|message| message.unwrap().text()).collect();
        let title = session.summary(Mapping::Refused).unwrap().title;
        (texts, title)
    }

    #[test]
    fn labels_follow_the_last_result_and_titles_apply_without_another() {
        let label = r#"{"type":"tool_use_summary","summary":"Read two","preceding_tool_use_ids":["t1","t2"],"turnpipe":{"v":1}}"#;
        let early = r#"{"type":"tool_use_summary","summary":"Unanswered","preceding_tool_use_ids":["t1","t9"],"turnpipe":{"v":1}}"#;
        let title = r#"{"type":"ai-title","aiTitle":"Beside","turnpipe":{"v":1}}"#;
        let (said, found) = texts(&SESSION, &[label, "{torn", early, title]);
        assert_eq!(said, ["go", "", "", "Read two", "done"]);
        assert_eq!(found.unwrap().text, "Beside");
    }

    /// Some servers count the calls of each reply from 0.
    #[test]
    fn labels_of_repeated_call_ids_keep_their_order() {
        let session = [
            r#"{"type":"user","parentUuid":null,"sessionId":"s","uuid":"a","message":{"role":"user","content":"go"}}"#,
            r#"{"type":"assistant","parentUuid":"a","uuid":"b","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"call_0","name":"Read","input":{}}]}}"#,
            r#"{"type":"user","parentUuid":"b","uuid":"c","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"x"}]}}"#,
            r#"{"type":"assistant","parentUuid":"c","uuid":"d","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"and"},{"type":"tool_use","id":"call_0","name":"Read","input":{}}]}}"#,
            r#"{"type":"user","parentUuid":"d","uuid":"e","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_0","content":"y"}]}}"#,
        ];
        let label = |text: &str| {
            format!(
                r#"{{"type":"tool_use_summary","summary":"{text}","preceding_tool_use_ids":["call_0"],"turnpipe":{{"v":1}}}}"#
            )
        };
        let (said, _) = texts(&session, &[&label("First"), &label("Second")]);
        assert_eq!(said, ["go", "", "", "First", "and", "", "Second"]);
    }

    #[test]
    fn only_a_missing_side_file_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        assert!(open_side_file(&file).unwrap().is_none());
        std::fs::write(&file, "").unwrap();
        let error = open_side_file(&file.join("below")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotADirectory);
        std::fs::write(side_file_path(&file), "").unwrap();
        assert!(open_side_file(&file).unwrap().is_some());
    }
}
