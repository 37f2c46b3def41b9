//! The changes that a session made to files, as a patch.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::discover::subagent_files;
use super::file_state::FileStates;
use super::open::SessionError;
use super::patch::patch;
use super::session::Session;
use crate::agent::{Detail, Facts, FileEdit, Format, added, project_hash};
use crate::message::{Block, Call, CallOutcome, Message, ResultPart};
use crate::shell::analyse;
use crate::tool_facts::{Parameter, Purpose, command_line, parameters};
use crate::view::{CONTENT, changed_files};

/// The changes of files in a session, in order.
#[derive(Debug, Default)]
pub struct SessionEdits {
    /// The changes whose text is known.
    pub edits: Vec<FileEdit>,
    /// The changes of files whose text before them is not in the session.
    pub detached: Vec<FileEdit>,
    /// The calls whose changes have a text that is not in the session, and the files.
    pub unknown: Vec<(String, String)>,
    /// The number of shell commands that may have changed files.
    pub commands: u64,
}

impl SessionEdits {
    /// Returns the directory that the paths of a session are relative to. Some sessions record only its hash.
    pub fn root(&self, facts: &Facts) -> PathBuf {
        let hash = facts.cwd_hash.as_deref().unwrap_or_default();
        let hashed = self.edits.iter().find_map(|edit| {
            let mut parents = Path::new(&edit.path).ancestors();
            parents.find(|parent| project_hash(parent) == hash)
        });
        let cwd = facts.first_cwd.as_deref().map(Path::new);
        cwd.or(hashed).unwrap_or(Path::new("")).to_owned()
    }
}

/// The changes of each call, to show only these calls.
#[derive(Debug, Default)]
pub struct CallEdits {
    /// Their diffs, or nothing if their text is not in the session.
    by_call: HashMap<String, Option<String>>,
}

impl CallEdits {
    /// Adds the changes of a session with these facts.
    pub fn add(&mut self, found: SessionEdits, facts: &Facts) {
        let root = found.root(facts);
        let unknown = found.unknown.into_iter().map(|(call, _)| (call, None));
        self.by_call.extend(unknown);
        for edit in found.edits.into_iter().chain(found.detached) {
            let edits = std::slice::from_ref(&edit);
            let (mut diff, outside) = patch(edits, &root);
            if !outside.is_empty() {
                diff = patch(edits, Path::new("/")).0;
            }
            if let Some(call) = edit.call {
                let known = self.by_call.entry(call).or_default();
                known.get_or_insert_default().push_str(&diff);
            }
        }
    }

    /// Removes the other calls and their results from a message, and replaces results by diffs. Returns whether
    /// anything is left.
    pub fn apply(&self, message: &mut Message) -> bool {
        let was_empty = message.blocks.is_empty();
        message.blocks.retain_mut(|block| match block {
            Block::Call(call) => self.by_call.contains_key(&call.id),
            Block::Result(result) => match self.by_call.get(&result.id) {
                None => false,
                Some(None) => true,
                Some(Some(diff)) => {
                    result.parts = vec![ResultPart::Text(diff.clone())];
                    true
                }
            },
            _ => true,
        });
        was_empty || !message.blocks.is_empty()
    }
}

/// The state of reading a session.
#[derive(Default)]
struct Reading {
    found: SessionEdits,
    /// The calls whose result is not read yet.
    calls: HashMap<String, Call>,
    /// The calls whose changes are known.
    known: HashSet<String>,
    files: FileStates,
    cwd: Option<String>,
}

impl SessionEdits {
    fn add(&mut self, more: Self) {
        self.edits.extend(more.edits);
        self.detached.extend(more.detached);
        self.unknown.extend(more.unknown);
        self.commands += more.commands;
    }
}

impl Session {
    /// Returns the changes that the calls of the session made, on all branches.
    ///
    /// # Errors
    /// Reading failed.
    pub fn edits(&self) -> io::Result<SessionEdits> {
        let mut reading = Reading::default();
        let format = self.agent().format();
        let mut entries = self.entries();
        let mut record = |record: &str| {
            let mut entry = entries.read(record, Detail::Full).unwrap_or_default();
            reading.cwd = reading.cwd.take().or(entry.facts.first_cwd.take());
            reading.record(format, record, &entry.into_messages());
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
        let mut found = SessionEdits::default();
        for file in self.other_files(true) {
            found.add(file.edits()?);
        }
        found.add(self.edits()?);
        for path in subagent_files(&self.file.path, self.agent()) {
            found.add(Self::open_with(&path, &self.named_roots)?.edits()?);
        }
        Ok(found)
    }
}

impl Reading {
    fn record(&mut self, format: &Format, record: &str, messages: &[Message]) {
        for call in messages.iter().flat_map(Message::calls) {
            self.calls.insert(call.id.clone(), call.clone());
        }
        let calls = &self.calls;
        let path_of = |id: &str| {
            let files = changed_files(&input(calls.get(id)?));
            files.into_iter().next().map(|file| file.path)
        };
        let edits = (format.edits)(record, &path_of).into_iter();
        // Some agents write a row again.
        let is_new = |edit: &FileEdit| edit.call.as_ref().is_none_or(|id| !self.known.contains(id));
        let edits: Vec<FileEdit> = edits.filter(is_new).collect();
        for edit in edits {
            self.known.extend(edit.call.clone());
            self.edit(edit);
        }
        if let Some((id, text)) = (format.text_read)(record)
            && let Some(path) = self
                .calls
                .get(&id)
                .and_then(|call| whole_file(&input(call)))
        {
            self.files.read(self.path(&path), &text);
        }
        for result in messages.iter().flat_map(Message::results) {
            let outcome = result.outcome();
            let call = self.calls.remove(&result.id);
            let Some(call) = call.filter(|call| !self.known.contains(&call.id)) else {
                continue;
            };
            match Purpose::of(&call.name) {
                Purpose::Shell if !outcome.is_denied() => {
                    self.found.commands += u64::from(may_write(&input(&call)));
                }
                _ if outcome == CallOutcome::Ok => self.note_input(&call),
                _ => {}
            }
        }
    }

    /// Returns a path that is the same for all ways to name a file.
    fn path(&self, path: &str) -> String {
        let cwd = Path::new(self.cwd.as_deref().unwrap_or_default());
        let parts = cwd.join(path);
        // Without the parts that name the same directory.
        parts
            .components()
            .collect::<PathBuf>()
            .display()
            .to_string()
    }

    fn edit(&mut self, mut edit: FileEdit) {
        edit.path = self.path(&edit.path);
        edit.moved_to = edit.moved_to.map(|path| self.path(&path));
        if self.files.apply(&mut edit) {
            self.found.edits.push(edit);
        } else {
            self.found.detached.push(edit);
        }
    }

    /// Takes a change from the input of a call, if it writes a whole file.
    fn note_input(&mut self, call: &Call) {
        let purpose = Purpose::of(&call.name);
        if !matches!(purpose, Purpose::Write | Purpose::Edit | Purpose::Patch) {
            return;
        }
        let input = input(call);
        let mut names = CONTENT.iter();
        let content = names.find_map(|name| input.get(*name)?.as_str());
        for file in changed_files(&input) {
            if let Some(content) = content.filter(|_| purpose == Purpose::Write) {
                self.edit(added(Some(call.id.clone()), file.path, content));
            } else {
                self.files.lose(self.path(&file.path));
                self.found.unknown.push((call.id.clone(), file.path));
            }
        }
    }
}

/// Whether a shell command with this input may change files.
fn may_write(input: &Map<String, Value>) -> bool {
    let mut names = parameters(Parameter::Command).iter();
    let line = names.find_map(|name| command_line(input.get(*name)?));
    line.is_some_and(|line| !analyse(&line).verdict.is_read_only())
}

/// Returns the path of a file that a call reads as a whole.
fn whole_file(input: &Map<String, Value>) -> Option<String> {
    let is_part = ["offset", "limit"]
        .iter()
        .any(|name| input.contains_key(*name));
    let path = input.get("path").filter(|_| !is_part)?;
    Some(path.as_str()?.to_owned())
}

fn input(call: &Call) -> Map<String, Value> {
    serde_json::from_str(call.input.get()).unwrap_or_default()
}
