//! The changes that a session made to files, as a patch.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::discover::subagent_files;
use super::open::SessionError;
use super::session::Session;
use crate::agent::{Detail, EditKind, FileEdit, added, edit_shown_in, edits_in};
use crate::message::{Call, CallOutcome, Message};
use crate::tool_facts::Purpose;
use crate::view::changed_files;

/// The changes of files in a session, in order.
#[derive(Debug, Default)]
pub struct SessionEdits {
    /// The changes whose text is known.
    pub edits: Vec<FileEdit>,
    /// The files of changes whose text is not in the session.
    pub unknown: Vec<String>,
}

/// The state of reading a session.
#[derive(Default)]
struct Reading {
    found: SessionEdits,
    /// The calls whose result is not read yet.
    calls: HashMap<String, Call>,
    /// The calls whose changes are known.
    known: HashSet<String>,
    /// The files that were changed.
    changed: HashSet<String>,
}

impl Session {
    /// Returns the changes that the calls of the session made, on all branches.
    ///
    /// # Errors
    /// Reading failed.
    pub fn edits(&self) -> io::Result<SessionEdits> {
        let mut reading = Reading::default();
        let mut entries = self.entries();
        let mut record = |record: &str| {
            let entry = entries.read(record, Detail::Full).unwrap_or_default();
            reading.record(record, &entry.into_messages());
        };
        for row in self.document.iter().flatten() {
            record(row);
        }
        self.each_line(&mut |line| line.records().for_each(|(_, text)| record(text)))?;
        Ok(reading.found)
    }

    /// Like [`Self::edits`], including the edits of its subagents.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn all_edits(&self) -> Result<SessionEdits, SessionError> {
        let mut found = self.edits()?;
        for path in subagent_files(&self.file.path, self.agent()) {
            let more = Self::open(&path)?.edits()?;
            found.edits.extend(more.edits);
            found.unknown.extend(more.unknown);
        }
        Ok(found)
    }
}

impl Reading {
    fn record(&mut self, record: &str, messages: &[Message]) {
        for call in messages.iter().flat_map(Message::calls) {
            self.calls.insert(call.id.clone(), call.clone());
        }
        let calls = &self.calls;
        let shown = edit_shown_in(record, |id| {
            let files = changed_files(&input(calls.get(id)?));
            files.into_iter().next().map(|file| file.path)
        });
        let edits = edits_in(record).into_iter().chain(shown);
        // Some agents write a row again.
        let is_new = |edit: &FileEdit| edit.call.as_ref().is_none_or(|id| !self.known.contains(id));
        let edits: Vec<FileEdit> = edits.filter(is_new).collect();
        for edit in &edits {
            self.known.extend(edit.call.clone());
            self.changed.insert(edit.path.clone());
        }
        self.found.edits.extend(edits);
        for result in messages.iter().flat_map(Message::results) {
            let outcome = CallOutcome::of_result(&result.text(), result.failed);
            if let Some(call) = self.calls.remove(&result.id)
                && outcome == CallOutcome::Ok
                && !self.known.contains(&call.id)
            {
                self.note_input(&call);
            }
        }
    }

    /// Takes a change from the input of a call, if it writes a file for the first time.
    fn note_input(&mut self, call: &Call) {
        let purpose = Purpose::of(&call.name);
        if !matches!(purpose, Purpose::Write | Purpose::Edit | Purpose::Patch) {
            return;
        }
        let input = input(call);
        let content = input.get("content").and_then(Value::as_str);
        for file in changed_files(&input) {
            let is_new = self.changed.insert(file.path.clone());
            match content.filter(|_| is_new && purpose == Purpose::Write) {
                Some(content) => {
                    let id = Some(call.id.clone());
                    self.found.edits.push(added(id, file.path, content));
                }
                None => self.found.unknown.push(file.path),
            }
        }
    }
}

fn input(call: &Call) -> Map<String, Value> {
    serde_json::from_str(call.input.get()).unwrap_or_default()
}

/// Returns the changes as a patch for the directory `root`, and the paths outside of it, which are omitted.
/// The changes of a file follow each other.
pub fn patch(edits: &[FileEdit], root: &Path) -> (String, Vec<String>) {
    let (mut files, mut outside): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    for edit in edits {
        let moved_to = edit.moved_to.as_deref().unwrap_or(&edit.path);
        let paths = [&*edit.path, moved_to].map(|path| below(path, root));
        let [Some(old), Some(new)] = paths else {
            outside.push(edit.path.clone());
            continue;
        };
        let place = *place_of.entry(&edit.path).or_insert(files.len());
        if place == files.len() {
            files.push(String::new());
        }
        place_of.insert(moved_to, place);
        section(&mut files[place], edit, &old, &new);
    }
    (files.concat(), outside)
}

/// Adds the section of a change.
fn section(patch: &mut String, edit: &FileEdit, old: &str, new: &str) {
    let names = [format!("a/{old}"), format!("b/{new}")].map(|name| quoted(&name));
    let [from, to] = &names;
    let _ = writeln!(patch, "diff --git {from} {to}");
    if old != new {
        let [old, new] = [old, new].map(quoted);
        let _ = writeln!(patch, "rename from {old}\nrename to {new}");
    }
    match edit.kind {
        EditKind::Add => patch.push_str("new file mode 100644\n"),
        EditKind::Remove => patch.push_str("deleted file mode 100644\n"),
        EditKind::Change => {}
    }
    if edit.hunks.is_empty() {
        return;
    }
    let from = if edit.kind == EditKind::Add {
        "/dev/null"
    } else {
        from
    };
    let to = if edit.kind == EditKind::Remove {
        "/dev/null"
    } else {
        to
    };
    // A tab ends a name with blanks.
    let [from, to] = [from, to].map(|name| {
        let end = if name.contains(' ') { "\t" } else { "" };
        format!("{name}{end}")
    });
    let _ = writeln!(patch, "--- {from}\n+++ {to}");
    patch.push_str(&edit.hunks);
    if !edit.hunks.ends_with('\n') {
        patch.push('\n');
    }
}

/// Returns a path relative to the directory, unless it is outside.
fn below(path: &str, root: &Path) -> Option<String> {
    let path = Path::new(path);
    let relative = match path.strip_prefix(root) {
        Ok(relative) => relative,
        Err(_) if path.is_relative() => path,
        Err(_) => return None,
    };
    let is_plain = |part| matches!(part, std::path::Component::Normal(_));
    let relative = relative.strip_prefix(".").unwrap_or(relative);
    let is_inside = relative.components().all(is_plain) && relative != Path::new("");
    is_inside.then(|| relative.display().to_string())
}

/// Returns a name as git quotes it.
fn quoted(name: &str) -> String {
    let is_special = |character: char| character.is_control() || "\"\\".contains(character);
    if !name.contains(is_special) {
        return name.to_owned();
    }
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_ascii_control() => {
                let _ = write!(quoted, "\\{:03o}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
