//! An open session file and its records.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::Agent;
use super::archive::{self, Unpack, unpacked};
use super::detect::agent_of;
use super::ends::{BYTE_ORDER_MARK, Head};
use super::format::{Detail, Entry, Format, Glance};
use super::lines::{Line, Place, for_each_line, for_each_raw_line};
use super::open::{SessionError, SessionFile, open_safely};
use super::recover::{each_entry_on, each_record_on};
use crate::json::{elements, object};
use crate::jsonl::{FixedFile, Mapping, read_at};

/// How many records to read before a file counts as unknown.
const MOST_UNKNOWN: u32 = 40;

/// Larger documents are not read, in bytes. Their agent rewrites them as a whole.
const LARGEST_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Whether a file must consist of lines, because it is too large for a document and not compressed.
///
/// # Errors
/// Reading failed.
pub fn holds_only_lines(file: &SessionFile) -> io::Result<bool> {
    Ok(file.size > LARGEST_DOCUMENT && !archive::is_archive(file)?)
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    /// The file.
    pub file: SessionFile,
    format: &'static Format,
    /// The rows of an old document. All other files are read by lines.
    pub(super) document: Option<Vec<String>>,
    /// Whether the file is compressed.
    is_archive: bool,
    /// The first lines.
    pub(super) head: Head,
    /// False if its folder was read, and there is none.
    pub(super) may_have_side_file: bool,
    /// True if the whole file was searched, and no record in it gives it a title.
    pub(super) holds_no_title: bool,
}

impl Session {
    /// Opens a session file and detects its format.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        Self::of_file(open_safely(path)?)
    }

    /// The same for a list: of a large archive only the beginning is unpacked.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub(super) fn open_for_list(path: &Path) -> Result<Self, SessionError> {
        Self::unpacking(open_safely(path)?, Unpack::Beginning)
    }

    /// Reads the session in an open file.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn of_file(file: SessionFile) -> Result<Self, SessionError> {
        Self::unpacking(file, Unpack::Whole)
    }

    fn unpacking(mut file: SessionFile, wanted: Unpack) -> Result<Self, SessionError> {
        let mut head = Head::read(&file)?;
        let is_archive = head.starts_with(&archive::MAGIC);
        if is_archive {
            file = unpacked(file, wanted)?;
            head = Head::read(&file)?;
        }
        let agent = match head.lines().find_map(|(_, line)| agent_on(line)) {
            Some(agent) => Some(agent),
            None => detected(&file)?,
        };
        let document = match agent {
            Some(_) => None,
            None => Some(document(&file)?.ok_or(SessionError::Unknown)?),
        };
        Ok(Self {
            file,
            format: agent.unwrap_or(Agent::Gemini).format(),
            document,
            is_archive,
            head,
            may_have_side_file: true,
            holds_no_title: false,
        })
    }

    /// The same session, as if its file ended at the offset `end`.
    #[must_use]
    pub fn up_to(mut self, end: u64) -> Self {
        self.file.size = self.file.size.min(end);
        self
    }

    /// The agent that wrote it.
    pub fn agent(&self) -> Agent {
        self.format.agent
    }

    /// The format of its records.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Whether it is a single JSON document, which has no lines.
    pub fn is_document(&self) -> bool {
        self.document.is_some()
    }

    /// Whether records can be appended to the file.
    pub fn is_appendable(&self) -> bool {
        !self.is_document() && !self.is_archive
    }

    /// The content of the file as of opening.
    pub fn bytes(&self, mapping: Mapping) -> FixedFile<&File> {
        FixedFile::new(&self.file.file, self.file.size, mapping)
            .with_beginning(self.head.beginning())
    }

    /// Reads the file from its beginning.
    pub(super) fn reader(&self) -> Positioned<'_> {
        Positioned {
            file: &self.file,
            at: 0,
        }
    }

    /// The words of which a line has to hold one to be read. Empty if every line is read.
    pub(super) fn words(&self, detail: Detail) -> &'static [&'static str] {
        match detail {
            Detail::Costs => self.format.cost_words,
            Detail::Activity => self.format.activity_words,
            Detail::Outline | Detail::Counts | Detail::Full => &[],
        }
    }

    /// Calls `visit` with each entry, in file order. For [`Detail::Costs`] and
    /// [`Detail::Activity`] some may be missing.
    pub(super) fn each_entry(
        &self,
        detail: Detail,
        visit: &mut dyn FnMut(Place, Entry),
    ) -> io::Result<()> {
        if let Some(rows) = &self.document {
            for (offset, row) in (0..).zip(rows) {
                let entry = self.format.read(row, detail);
                visit(Place::of_line(offset, &[]), entry.unwrap_or_default());
            }
            return Ok(());
        }
        let is_partial = matches!(detail, Detail::Costs | Detail::Activity);
        for_each_raw_line(self.reader(), self.words(detail), &mut |line| {
            let glance = || (self.format.glance)(line.text);
            if !is_partial || !matches!(glance(), Glance::NoMessage | Glance::Results) {
                self.each_entry_on(line.offset, line.text, detail, visit);
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Calls `visit` with each entry on the line at `offset`.
    pub(super) fn each_entry_on(
        &self,
        offset: u64,
        line: &[u8],
        detail: Detail,
        visit: &mut dyn FnMut(Place, Entry),
    ) {
        let text = match offset {
            0 => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
            _ => line,
        };
        each_entry_on(self.format, text, detail, &mut |index, entry| {
            let place = Place::of_line(offset, line);
            visit(Place { index, ..place }, entry);
        });
    }

    /// Calls `visit` with each line. A document has none.
    ///
    /// # Errors
    /// Reading failed.
    pub fn each_line(&self, visit: &mut dyn FnMut(Line<'_>)) -> io::Result<()> {
        if self.document.is_some() {
            return Ok(());
        }
        for_each_line(self.reader(), 0, &mut |line| -> ControlFlow<()> {
            visit(line);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}

/// Reads a file at its own position, independent of other readers.
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

/// The agent that wrote the records on a line.
fn agent_on(line: &[u8]) -> Option<Agent> {
    let mut agent = None;
    each_record_on(line, &mut |record| {
        agent = agent.or_else(|| agent_of(record));
    });
    agent
}

/// The agent that wrote a file of lines.
fn detected(file: &SessionFile) -> io::Result<Option<Agent>> {
    let source = Positioned { file, at: 0 };
    let mut unknown = 0;
    let found = for_each_line(source, 0, &mut |line| {
        // An object on several lines is no record.
        if line.raw.trim_ascii_end().contains(&b'\n') {
            return ControlFlow::Break(None);
        }
        for (_, record) in line.records() {
            if let Some(agent) = agent_of(record) {
                return ControlFlow::Break(Some(agent));
            }
            unknown += 1;
        }
        unknown += u32::from(line.records.is_empty() && !line.is_blank());
        if unknown > MOST_UNKNOWN {
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found.flatten())
}

object! { Document { session = "sessionId", messages } }

/// The rows of an old document: its head and its messages.
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
    // The head is the document itself. Formats ignore its messages.
    let mut rows = vec![json.to_owned()];
    let messages = elements(members.messages);
    rows.extend(messages.into_iter().map(|raw| raw.get().to_owned()));
    Ok(Some(rows))
}
