//! The changes that a session made to files, as a patch.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::Session;
use crate::SessionError;
use crate::find_command;
use crate::read::file_state::FileStates;
use crate::read::patch::format_patch;
use crate::subagent_files;
use crate::{CONTENT, find_file_changes, find_patch, find_text_edits, format_full_input};
use turnpipe_core::message::{Block, Call, CallOutcome, Message, ResultPart};
use turnpipe_core::tool_facts::Purpose;
use turnpipe_formats::agent::{
    Detail, EditKind, Facts, FileEdit, Format, diff_texts, hash_project, new_file, parse_patch,
};
use turnpipe_guard::shell::{CommandPart, PartWord, analyse, parse};

/// The changes of files in a session, in order.
#[derive(Debug, Default)]
pub struct SessionEdits {
    /// The changes whose text is known.
    pub edits: Vec<FileEdit>,
    /// The changes of files whose earlier text is not in the session.
    pub detached: Vec<FileEdit>,
    /// The changes whose text is not in the session.
    pub unknown: Vec<UnknownEdit>,
    /// The number of shell commands that may have changed files.
    pub commands: u64,
    /// The first directory of the session, as far as its records or the paths in its calls show it.
    directory: Option<String>,
}

/// A change whose text is not in the session.
#[derive(Debug)]
pub struct UnknownEdit {
    /// The call.
    pub call: String,
    /// The path of the file.
    pub path: String,
    /// The input of the call as a diff, if it contains the changed text.
    shown: Option<String>,
}

impl SessionEdits {
    /// Returns the directory that the paths of a session are relative to. Some sessions record only its hash.
    pub fn find_root(&self, facts: &Facts) -> PathBuf {
        let hash = facts.cwd_hash.as_deref().unwrap_or_default();
        let hashed = self.edits.iter().find_map(|edit| {
            let mut parents = Path::new(&edit.path).ancestors();
            parents.find(|parent| hash_project(parent) == hash)
        });
        let cwd = facts.first_cwd.as_ref().map(Path::new);
        let found = self.directory.as_ref().map(Path::new);
        let root = cwd.or(hashed).or(found);
        root.unwrap_or(Path::new("")).to_owned()
    }
}

/// The changes of each call, to show only these calls.
#[derive(Debug, Default)]
pub struct CallEdits {
    /// The diff of each call. `None` if the session does not contain the changed text.
    by_call: HashMap<String, Option<String>>,
}

impl CallEdits {
    /// Adds the changes of a session with these facts.
    pub fn add(&mut self, found: SessionEdits, facts: &Facts) {
        let root = found.find_root(facts);
        let unknown = found.unknown.into_iter();
        self.by_call
            .extend(unknown.map(|edit| (edit.call, edit.shown)));
        for edit in found.edits.into_iter().chain(found.detached) {
            let edits = std::slice::from_ref(&edit);
            let (mut diff, outside) = format_patch(edits, &root);
            if !outside.is_empty() {
                diff = format_patch(edits, Path::new("/")).0;
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
struct EditReader {
    found: SessionEdits,
    /// The calls whose result is not read yet.
    calls: HashMap<String, Call>,
    /// The calls whose changes are known.
    known: HashSet<String>,
    files: FileStates,
    cwd: Option<String>,
}

impl SessionEdits {
    fn append(&mut self, more: Self) {
        self.edits.extend(more.edits);
        self.detached.extend(more.detached);
        self.unknown.extend(more.unknown);
        self.commands += more.commands;
        self.directory = self.directory.take().or(more.directory);
    }
}

impl Session {
    /// Returns the changes that the calls of the session made, on all branches.
    ///
    /// # Errors
    /// Reading failed.
    pub fn read_edits(&self) -> io::Result<SessionEdits> {
        let mut reading = EditReader::default();
        let format = self.agent().format();
        let mut entries = self.entries();
        let mut record = |record: &str| {
            let mut entry = entries.read(record, Detail::Full).unwrap_or_default();
            reading.cwd = reading.cwd.take().or(entry.facts.first_cwd.take());
            reading.add_record(format, record, &entry.into_messages());
        };
        for row in self.document().iter().flat_map(|document| &document.rows) {
            record(row);
        }
        self.visit_lines(&mut |line| line.records().for_each(|(_, text)| record(text)))?;
        reading.found.directory = reading.cwd;
        Ok(reading.found)
    }

    /// Like [`Self::read_edits`], including the edits of its subagents.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read_all_edits(&self) -> Result<SessionEdits, SessionError> {
        let mut found = SessionEdits::default();
        for file in self.other_files(true) {
            found.append(file.read_edits()?);
        }
        found.append(self.read_edits()?);
        for path in subagent_files(&self.file.path, self.agent()) {
            found.append(Self::open_with(&path, &self.named_roots)?.read_edits()?);
        }
        Ok(found)
    }
}

impl EditReader {
    fn add_record(&mut self, format: &Format, record: &str, messages: &[Message]) {
        for call in messages.iter().flat_map(Message::calls) {
            self.calls.insert(call.id.clone(), call.clone());
        }
        let calls = &self.calls;
        let find_path = |id: &str| {
            let files = find_file_changes(&parse_input(calls.get(id)?));
            files.into_iter().next().map(|file| file.path)
        };
        let mut edits = (format.reading.read_edits)(record, &find_path);
        // Some agents write a row again.
        edits.retain(|edit| edit.call.as_ref().is_none_or(|id| !self.known.contains(id)));
        for edit in edits {
            self.known.extend(edit.call.clone());
            let edit = self.make_relative(edit);
            self.add_edit(edit);
        }
        if let Some((id, text)) = (format.reading.read_whole_file)(record)
            && let Some(path) = self
                .calls
                .get(&id)
                .and_then(|call| find_whole_file(&parse_input(call)))
        {
            self.files.add_text(self.normalise_path(&path), &text);
        }
        for result in messages.iter().flat_map(Message::results) {
            let outcome = result.outcome();
            let call = self.calls.remove(&result.id);
            let Some(call) = call.filter(|call| !self.known.contains(&call.id)) else {
                continue;
            };
            let input = parse_input(&call);
            let patch = find_patch(&input).filter(|_| outcome == CallOutcome::Ok);
            if let Some(patch) = patch {
                self.add_patch(&call, patch, &input);
            }
            match Purpose::from_tool(&call.name) {
                Purpose::Shell if !outcome.is_denied() => {
                    let is_counted = match patch {
                        Some(_) => has_other_programs(&input),
                        None => may_write(&input),
                    };
                    self.found.commands += u64::from(is_counted);
                }
                _ if outcome == CallOutcome::Ok && patch.is_none() => {
                    self.add_input(&call, &input);
                }
                _ => {}
            }
        }
    }

    /// Names the file of a change as its call does, if the session does not record its directory. A result has the
    /// absolute path, which ends with the name in the call.
    fn make_relative(&mut self, mut edit: FileEdit) -> FileEdit {
        let call = edit.call.as_ref().filter(|_| self.cwd.is_none());
        let call = call.and_then(|id| self.calls.get(id));
        let mut files = call.map_or_else(Vec::new, |call| find_file_changes(&parse_input(call)));
        if files.len() > 1 {
            files.retain(|file| edit.path.ends_with(&file.path));
        }
        let Some(name) = files.into_iter().next().map(|file| file.path) else {
            return edit;
        };
        if Path::new(&name).is_relative() {
            let path = edit.path.strip_suffix(&name);
            let cwd = path.and_then(|path| path.strip_suffix('/'));
            self.cwd = cwd.filter(|cwd| !cwd.is_empty()).map(str::to_owned);
            edit.path = name;
        }
        edit
    }

    /// Returns a path that is the same for all ways to name a file.
    fn normalise_path(&self, path: &str) -> String {
        let cwd = Path::new(self.cwd.as_deref().unwrap_or_default());
        let parts = cwd.join(path);
        // Without the parts that name the same directory.
        parts
            .components()
            .collect::<PathBuf>()
            .display()
            .to_string()
    }

    fn add_edit(&mut self, mut edit: FileEdit) {
        edit.path = self.normalise_path(&edit.path);
        edit.moved_to = edit.moved_to.map(|path| self.normalise_path(&path));
        if self.files.apply(&mut edit) {
            self.found.edits.push(edit);
        } else {
            self.found.detached.push(edit);
        }
    }

    /// Takes the changes of a patch from the input of a call.
    fn add_patch(&mut self, call: &Call, patch: &str, input: &Map<String, Value>) {
        let directory = find_patch_directory(input);
        for mut edit in parse_patch(&call.id, patch) {
            let paths = std::iter::once(&mut edit.path).chain(&mut edit.moved_to);
            paths.for_each(|path| *path = directory.join(&*path).display().to_string());
            if edit.kind == EditKind::Remove {
                let Some(content) = self.files.content(&self.normalise_path(&edit.path)) else {
                    self.add_unknown(call, edit.path);
                    continue;
                };
                edit.hunks = diff_texts(&content, "");
            }
            self.add_edit(edit);
        }
    }

    /// Takes a change from the input of a call, if it writes a whole file or replaces parts of a known text.
    fn add_input(&mut self, call: &Call, input: &Map<String, Value>) {
        let purpose = Purpose::from_tool(&call.name);
        if !matches!(purpose, Purpose::Write | Purpose::Edit | Purpose::Patch) {
            return;
        }
        let mut names = CONTENT.iter();
        let content = names.find_map(|name| input.get(*name)?.as_str());
        for file in find_file_changes(input) {
            let old = self.files.content(&self.normalise_path(&file.path));
            let new = old.as_ref().and_then(|old| replace_texts(old, input));
            let id = Some(call.id.clone());
            if let Some(content) = content.filter(|_| purpose == Purpose::Write) {
                self.add_edit(new_file(id, file.path, content));
            } else if let (Some(old), Some(new)) = (old, new) {
                self.add_edit(FileEdit {
                    kind: EditKind::Change,
                    hunks: diff_texts(&old, &new),
                    ..new_file(id, file.path, "")
                });
            } else {
                self.add_unknown(call, file.path);
            }
        }
    }

    /// Takes a change whose text is not in the session.
    fn add_unknown(&mut self, call: &Call, path: String) {
        self.files.set_unknown(self.normalise_path(&path));
        let (language, text) = format_full_input(call);
        self.found.unknown.push(UnknownEdit {
            call: call.id.clone(),
            path,
            shown: (language == "diff").then_some(text),
        });
    }
}

/// Returns a text after the edits in an input; `None` if it does not contain what they replace.
fn replace_texts(text: &str, input: &Map<String, Value>) -> Option<String> {
    let flags = ["replace_all", "replaceAll"].map(|name| input.get(name));
    let is_for_all = flags.contains(&Some(&Value::Bool(true)));
    let mut text = text.to_owned();
    for (old, new) in find_text_edits(input) {
        if old.is_empty() || !text.contains(old) {
            return None;
        }
        text = text.replacen(old, new, if is_for_all { usize::MAX } else { 1 });
    }
    Some(text)
}

/// Returns the directory where a shell command with this input applies a patch.
fn find_patch_directory(input: &Map<String, Value>) -> PathBuf {
    let directory = input.get("workdir").and_then(Value::as_str);
    let mut directory = PathBuf::from(directory.unwrap_or_default());
    let line = find_command(input).unwrap_or_default();
    for command in parse(&line).commands {
        match command.words.as_slice() {
            [program, path] if program.label() == "cd" => directory.push(path.label()),
            _ => break,
        }
    }
    directory
}

/// Whether a shell command that applies a patch also runs other programs.
fn has_other_programs(input: &Map<String, Value>) -> bool {
    let line = find_command(input).unwrap_or_default();
    let script = parse(&line);
    let is_other = |command: &CommandPart| {
        let program = command.words.first().map_or("", PartWord::label);
        !matches!(program, "cd" | "apply_patch" | "applypatch")
    };
    script.unread.is_some() || script.commands.iter().any(is_other)
}

/// Whether a shell command with this input may change files.
fn may_write(input: &Map<String, Value>) -> bool {
    find_command(input).is_some_and(|line| !analyse(&line).verdict.is_read_only())
}

/// Returns the path of a file that a call reads as a whole.
fn find_whole_file(input: &Map<String, Value>) -> Option<String> {
    let is_part = ["offset", "limit"]
        .iter()
        .any(|name| input.contains_key(*name));
    let path = input.get("path").filter(|_| !is_part)?;
    Some(path.as_str()?.to_owned())
}

fn parse_input(call: &Call) -> Map<String, Value> {
    serde_json::from_str(call.input.get()).unwrap_or_default()
}
