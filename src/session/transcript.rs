//! An open session: its records, what is known of it, and its dialog.
//!
//! A file is read twice at most: once to find out which records count, once to read them. Only
//! places are remembered in between.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::archive::{self, unpacked};
use super::beside::{Beside, title_beside};
use super::detect::agent_of;
use super::facts::Counter;
use super::format::{Format, Shape};
use super::gemini::Gemini;
use super::head::Head;
use super::lines::{Line, Place, for_each_line};
use super::open::{OpenError, SessionFile, open_safely};
use super::plan::{Echoed, Pick, Plan};
use super::recover::{each_record_on, records_on_line};
use super::replay::Replay;
use super::summaries::Summaries;
use super::tree::Tree;
use super::{Agent, Counts, Facts, Title, find_title};
use crate::dialog::{Joiner, Message, Origin, Role};
use crate::jsonl::{FixedFile, Mapping, read_at};
use crate::wire::object::object;

/// How many records may say nothing about whose they are, until one gives up.
const MOST_UNTOLD: u32 = 40;

/// Old documents are rewritten as a whole by their agent, so that they are never large; in bytes.
const LARGEST_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Whether a file is so large that it can be nothing but lines, as they stand there.
///
/// # Errors
/// Reading failed.
pub fn holds_only_lines(file: &SessionFile) -> io::Result<bool> {
    Ok(file.size > LARGEST_DOCUMENT && !archive::is_archive(file)?)
}

/// Which part of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The conversation as it stands: the branch that was not left.
    Live,
    /// Everything that was ever said.
    AllBranches,
}

/// Whether there may be a file of ours beside the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SideFile {
    /// One has to look.
    Perhaps,
    /// Its folder was read, and there was none.
    Absent,
}

/// Why a session cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It was not opened.
    #[error("{0}")]
    Open(#[from] OpenError),
    /// Reading failed.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// It is of no known format.
    #[error("is no session file of a known agent")]
    Unknown,
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    /// The file.
    pub file: SessionFile,
    format: &'static dyn Format,
    /// The rows of an old document; all other files are read by lines.
    document: Option<Vec<String>>,
    /// The first lines.
    pub(super) head: Head,
    side_file: SideFile,
}

impl Session {
    /// Opens a session file and finds out whose it is.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        Self::of_file(open_safely(path)?)
    }

    /// The session in an open file.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn of_file(file: SessionFile) -> Result<Self, SessionError> {
        let (mut file, mut head) = (file, None);
        let first = Head::read(&file)?;
        if first.starts_with(&archive::MAGIC) {
            file = unpacked(file)?;
            head = Some(Head::read(&file)?);
        }
        let head = head.unwrap_or(first);
        let agent = match head.lines().find_map(|(_, line)| agents_on(line)) {
            Some(agent) => Some(agent),
            None => detected(&file)?,
        };
        if let Some(agent) = agent {
            return Ok(Self {
                file,
                format: agent.format(),
                document: None,
                head,
                side_file: SideFile::Perhaps,
            });
        }
        match document(&file)? {
            Some(rows) => Ok(Self {
                file,
                format: &Gemini,
                document: Some(rows),
                head,
                side_file: SideFile::Perhaps,
            }),
            None => Err(SessionError::Unknown),
        }
    }

    /// The same session, as if its file ended at this place, in bytes.
    #[must_use]
    pub fn up_to(mut self, end: u64) -> Self {
        self.file.size = self.file.size.min(end);
        self
    }

    /// The same session, if it is known whether there is a file of ours beside it.
    pub(super) fn with_side_file(mut self, side_file: SideFile) -> Self {
        self.side_file = side_file;
        self
    }

    /// The title in the file of ours beside the session.
    ///
    /// # Errors
    /// Reading failed.
    pub(super) fn title_beside(&self, mapping: Mapping) -> io::Result<Option<Title>> {
        match self.side_file {
            SideFile::Perhaps => title_beside(&self.file.path, mapping),
            SideFile::Absent => Ok(None),
        }
    }

    /// Whose it is.
    pub fn agent(&self) -> Agent {
        self.format.agent()
    }

    /// How its records are read.
    pub fn format(&self) -> &'static dyn Format {
        self.format
    }

    /// Whether it is one document, which has no lines.
    pub fn is_document(&self) -> bool {
        self.document.is_some()
    }

    /// The bytes as they were when it was opened.
    pub fn bytes(&self, mapping: Mapping) -> FixedFile<&File> {
        FixedFile::new(&self.file.file, self.file.size, mapping)
            .with_beginning(self.head.beginning())
    }

    /// The title that counts.
    ///
    /// # Errors
    /// Reading failed.
    pub fn title(&self, mapping: Mapping) -> io::Result<Option<Title>> {
        match &self.document {
            Some(rows) => {
                let title = rows.iter().rev().find_map(|row| self.format.title(row));
                Ok(title
                    .map(|record| record.title)
                    .filter(|title| !title.text.is_empty()))
            }
            None => find_title(&mut self.bytes(mapping), self.format),
        }
    }

    /// Its id, if its file tells.
    ///
    /// # Errors
    /// Reading failed.
    pub fn id(&self, mapping: Mapping) -> io::Result<Option<String>> {
        let mut facts = Facts::default();
        if !self.is_document() {
            for (_, line) in self.head.lines() {
                each_record_on(line, &mut |record| self.format.facts(record, &mut facts));
                if facts.session_id.is_some() {
                    return Ok(facts.session_id);
                }
            }
        }
        Ok(self.facts_of_ends(mapping)?.session_id)
    }

    /// Shows every record to `visit`, in file order. `damage` sees the lines.
    pub(super) fn each_record(&self, visit: &mut dyn FnMut(Place, &str)) -> io::Result<()> {
        if let Some(rows) = &self.document {
            for (offset, row) in (0..).zip(rows) {
                visit(row_place(offset), row);
            }
            return Ok(());
        }
        self.each_line(&mut |line| {
            for (place, record) in line.records() {
                visit(place, record);
            }
        })
    }

    /// Shows every line to `visit`; a document has none.
    ///
    /// # Errors
    /// Reading failed.
    pub fn each_line(&self, visit: &mut dyn FnMut(Line<'_>)) -> io::Result<()> {
        if self.document.is_some() {
            return Ok(());
        }
        let source = Positioned {
            file: &self.file,
            at: 0,
        };
        for_each_line(source, 0, &mut |line| -> ControlFlow<()> {
            visit(line);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Everything that is known of the session, from all its records, and what is in it.
    ///
    /// # Errors
    /// Reading failed.
    pub fn facts(&self, mapping: Mapping) -> io::Result<(Facts, Counts)> {
        let mut facts = Facts::default();
        let mut counter = Counter::default();
        let mut total = 0;
        let mut summaries = Summaries::default();
        self.each_record(&mut |_, record| {
            total += 1;
            self.format.facts(record, &mut facts);
            if self.agent() == Agent::Claude {
                summaries.note(record);
            }
        })?;
        self.each_message(Scope::AllBranches, &mut |message| {
            facts.note_message(&message);
            counter.note(&message);
            ControlFlow::Continue(())
        })?;
        facts.title = self.title(mapping)?.or_else(|| summaries.own());
        if facts.title.is_none() {
            facts.title = self.title_beside(mapping)?;
        }
        Ok((facts, counter.finish(total)))
    }

    /// Shows the whole messages of the dialog to `shown`, in order, until it breaks; labels from the
    /// file beside the session come after the results that they are about. Returns how many turns
    /// are left out.
    ///
    /// # Errors
    /// Reading failed.
    pub fn each_message(
        &self,
        scope: Scope,
        shown: &mut dyn FnMut(Message) -> ControlFlow<()>,
    ) -> io::Result<u64> {
        let plan = self.plan(scope)?;
        let mut beside = Beside::read(&self.file.path)?;
        let mut visit = |whole: Message| {
            let labels = beside.due_after(&whole);
            shown(whole)?;
            labels.into_iter().try_for_each(&mut *shown)
        };
        let mut joiner = Joiner::default();
        let mut is_over = false;
        let mut take = |message: Message| {
            if is_over {
                return;
            }
            if let Some(whole) = joiner.push(message) {
                is_over = visit(whole).is_break();
            }
        };
        match &plan.picks {
            None => self.each_record(&mut |_, record| {
                self.messages_of(record, 0, plan.echoed)
                    .into_iter()
                    .for_each(&mut take);
            })?,
            Some(picks) => {
                let mut reader = PickedRecords::default();
                for pick in picks {
                    let record = reader.read(self, *pick)?;
                    self.messages_of(&record, pick.item, plan.echoed)
                        .into_iter()
                        .for_each(&mut take);
                }
            }
        }
        if !is_over && let Some(last) = joiner.finish() {
            is_over = visit(last).is_break();
        }
        if !is_over {
            let _ = beside.rest().into_iter().try_for_each(shown);
        }
        Ok(plan.left_out)
    }

    fn messages_of(&self, record: &str, item: u32, echoed: Echoed) -> Vec<Message> {
        let mut said = self.format.item_messages(record, item);
        let repeats = self.format.echoes(record).into_iter();
        said.extend(repeats.filter(|repeat| match repeat.role {
            Role::User => !echoed.user,
            Role::Assistant => !echoed.assistant,
            Role::System => !echoed.system,
        }));
        said
    }

    /// Finds out which records count.
    fn plan(&self, scope: Scope) -> io::Result<Plan> {
        match (self.format.shape(), scope) {
            (Shape::Sequence, _) => self.plan_of_sequence(),
            (Shape::Tree, Scope::AllBranches) => Ok(Plan::default()),
            (Shape::Tree, Scope::Live) => {
                let tree = self.tree()?;
                if !tree.is_whole() {
                    return Ok(Plan::default());
                }
                let branch = tree.branch();
                Ok(Plan {
                    picks: Some(branch.picks),
                    left_out: branch.left_out,
                    ..Plan::default()
                })
            }
            (Shape::Replay, _) => {
                let mut replay = Replay::default();
                self.each_record(&mut |place, record| replay.apply(Gemini::step(record), place))?;
                let (picks, left_out) = replay.finish();
                Ok(Plan {
                    picks: Some(picks),
                    left_out,
                    ..Plan::default()
                })
            }
        }
    }

    fn plan_of_sequence(&self) -> io::Result<Plan> {
        let mut echoed = Echoed::default();
        self.each_record(&mut |_, record| {
            for message in self.format.messages(record) {
                match message.origin {
                    Origin::Prompt => echoed.user = true,
                    Origin::Reply if !message.text().is_empty() => echoed.assistant = true,
                    Origin::Compaction => echoed.system = true,
                    _ => {}
                }
            }
        })?;
        Ok(Plan {
            echoed,
            ..Plan::default()
        })
    }

    /// All records that are nodes.
    pub(super) fn tree(&self) -> io::Result<Tree> {
        let mut tree = Tree::default();
        self.each_record(&mut |place, record| {
            if let Some(node) = self.format.node(record) {
                tree.add(node, place);
                return;
            }
            let messages = self.format.messages(record);
            let is_turn = |message: &Message| message.role != Role::System;
            tree.loose_turns += u64::from(messages.iter().any(is_turn));
        })?;
        Ok(tree)
    }
}

/// Reads records by their places; the line that was read last is kept.
#[derive(Default)]
struct PickedRecords {
    line: Vec<u8>,
    offset: Option<u64>,
}

impl PickedRecords {
    fn read(&mut self, session: &Session, pick: Pick) -> io::Result<String> {
        let place = pick.place;
        if let Some(rows) = &session.document {
            let row = usize::try_from(place.offset)
                .ok()
                .and_then(|at| rows.get(at));
            return Ok(row.cloned().unwrap_or_default());
        }
        if self.offset != Some(place.offset) {
            self.line.resize(place.length as usize, 0);
            let filled = read_at(&session.file.file, &mut self.line, place.offset)?;
            self.line.truncate(filled);
            self.offset = Some(place.offset);
        }
        let line = self
            .line
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(&self.line);
        let (records, _) = records_on_line(line);
        let record = records.get(place.index as usize);
        Ok(record.map_or_else(String::new, |record| record.text(line).to_owned()))
    }
}

/// Reads a file from a place of its own, whatever other readers do.
pub(super) struct Positioned<'a> {
    pub(super) file: &'a SessionFile,
    pub(super) at: u64,
}

impl io::Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.file.size.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(rest);
        let filled = read_at(&self.file.file, &mut buffer[..wanted], self.at)?;
        self.at += filled as u64;
        Ok(filled)
    }
}

fn row_place(offset: u64) -> Place {
    Place {
        offset,
        length: 0,
        index: 0,
    }
}

/// Whose records are on a line.
fn agents_on(line: &[u8]) -> Option<Agent> {
    let mut agent = None;
    each_record_on(line, &mut |record| {
        agent = agent.or_else(|| agent_of(record));
    });
    agent
}

/// Whose file of lines it is.
fn detected(file: &SessionFile) -> io::Result<Option<Agent>> {
    let source = Positioned { file, at: 0 };
    let mut untold = 0;
    let found = for_each_line(source, 0, &mut |line| {
        for (_, record) in line.records() {
            if let Some(agent) = agent_of(record) {
                return ControlFlow::Break(Some(agent));
            }
            untold += 1;
        }
        untold += u32::from(line.records.is_empty() && !line.is_blank());
        if untold > MOST_UNTOLD {
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found.flatten())
}

object! {
    Document {
        session = "sessionId",
        messages = "messages",
    }
}

/// The rows of an old document: its head, and its messages.
fn document(file: &SessionFile) -> io::Result<Option<Vec<String>>> {
    if file.size == 0 || file.size > LARGEST_DOCUMENT {
        return Ok(None);
    }
    let mut bytes = vec![0; usize::try_from(file.size).unwrap_or(0)];
    let filled = read_at(&file.file, &mut bytes, 0)?;
    bytes.truncate(filled);
    let json = String::from_utf8_lossy(&bytes);
    let json = json.trim_start_matches('\u{feff}').trim();
    let Some(members) = Document::read(json) else {
        return Ok(None);
    };
    let is_list = members
        .messages
        .is_some_and(|raw| raw.get().starts_with('['));
    if members.session.is_none() || !is_list {
        return Ok(None);
    }
    // The head is the document itself: formats do not look at its messages.
    let mut rows = vec![json.to_owned()];
    let messages = crate::wire::object::elements(members.messages);
    rows.extend(messages.into_iter().map(|raw| raw.get().to_owned()));
    Ok(Some(rows))
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
