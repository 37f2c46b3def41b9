//! An open session file and its records.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::files::discover::subagent_files;
use crate::files::lines::{Line, Place, RawLine, RawLines, visit_lines};
use crate::files::listed::OtherFile;
use crate::files::open::{
    BYTE_ORDER_MARK, Head, Positioned, SessionError, SessionFile, open_extent, open_safely,
};
use crate::files::recover::visit_entries_on;
use crate::read::container::{Container, Document, SessionContent};
use turnpipe_core::jsonl::{FixedFile, Mapping};
use turnpipe_core::message::{Block, Message, Origin, Role};
use turnpipe_core::text::format_byte_size;
use turnpipe_formats::agent::{
    Agent, Change, Detail, Entry, EntryReader, Format, LineClass, NamedRoots, Part, ReadExtent,
    Reading,
};

/// An open session.
#[derive(Debug)]
pub struct Session {
    /// The file.
    pub file: SessionFile,
    format: &'static Format,
    /// The agents of the configuration.
    pub named_roots: NamedRoots,
    container: Container,
    /// Records derived from files next to it.
    pub(crate) side_rows: Vec<String>,
    /// The first lines.
    pub(crate) head: Head,
    /// False if the directory was read and contains no side file.
    pub(crate) may_have_side_file: bool,
    /// True if the whole file was searched and contains no title.
    pub(crate) known_untitled: bool,
    /// The other files of the session.
    pub others: Vec<OtherFile>,
    /// The files of subagents that are sessions of their own.
    pub started: Vec<PathBuf>,
}

impl Session {
    /// Opens a session file and detects its format.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        Self::open_with(path, &NamedRoots::default())
    }

    /// Like [`Self::open`], with the agents of a configuration.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn open_with(path: &Path, named: &NamedRoots) -> Result<Self, SessionError> {
        Self::from_file(open_safely(path)?, named)
    }

    /// Like [`Self::open`], for lists: only the beginning of a large compressed file is unpacked.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub(crate) fn open_for_list(path: &Path, named: &NamedRoots) -> Result<Self, SessionError> {
        Self::open_content(
            open_extent(path, ReadExtent::Ends)?,
            ReadExtent::Ends,
            named,
        )
    }

    /// Reads the session in an open file.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn from_file(file: SessionFile, named: &NamedRoots) -> Result<Self, SessionError> {
        Self::open_content(file, ReadExtent::Whole, named)
    }

    fn open_content(
        file: SessionFile,
        wanted: ReadExtent,
        named: &NamedRoots,
    ) -> Result<Self, SessionError> {
        let SessionContent {
            file,
            head,
            format,
            container,
        } = SessionContent::detect(file, wanted, named)?;
        Ok(Self {
            side_rows: (format.layout.side_rows)(&file.path),
            file,
            format,
            named_roots: named.clone(),
            container,
            head,
            may_have_side_file: true,
            known_untitled: false,
            others: Vec::new(),
            started: Vec::new(),
        })
    }

    /// Returns this session as if its file ended at the offset `end`.
    #[must_use]
    pub fn with_end(mut self, end: u64) -> Self {
        self.file.size = self.file.size.min(end);
        self
    }

    /// Returns its subagents whose files can be opened.
    pub(crate) fn subagents(&self) -> impl Iterator<Item = Self> {
        let own_files = subagent_files(&self.file.path, self.agent()).into_iter();
        let files = own_files.chain(self.started.iter().cloned());
        files.filter_map(|path| Self::open_with(&path, &self.named_roots).ok())
    }

    /// Returns the agent that wrote it.
    pub fn agent(&self) -> Agent {
        self.format.agent
    }

    /// Returns the name of the agent that wrote it, if that uses the format of another one.
    pub fn written_by(&self) -> Option<&str> {
        self.named_roots.find_fork_name(&self.file.path)
    }

    /// Returns the format of its records.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads its records in order.
    pub fn entries(&self) -> EntryReader {
        EntryReader::new(self.format)
    }

    /// Whether it is a single JSON document, which has no lines.
    pub fn is_document(&self) -> bool {
        self.document().is_some()
    }

    /// Returns the records of a document. All other files are read by lines.
    pub(crate) fn document(&self) -> Option<&Document> {
        match &self.container {
            Container::Document(document) => Some(document),
            Container::Lines | Container::Converted => None,
        }
    }

    /// Whether records can be appended to the file.
    pub fn is_appendable(&self) -> bool {
        matches!(self.container, Container::Lines) && !self.format.is_stream()
    }

    /// Returns the content of the file as of opening.
    pub fn bytes(&self, mapping: Mapping) -> FixedFile<&File> {
        FixedFile::new(&self.file.file, self.file.size, mapping)
            .with_beginning(self.head.beginning())
    }

    /// Reads the file from its beginning.
    pub(crate) fn reader(&self) -> Positioned<'_> {
        Positioned {
            file: &self.file,
            at: 0,
        }
    }

    /// Returns words: lines without any of them are skipped. Empty if every line is read, or the file has no lines.
    pub(crate) fn words(&self, detail: Detail) -> Vec<&'static str> {
        let Reading {
            cost_words,
            activity_words,
            ..
        } = self.format.reading;
        match detail {
            _ if self.is_document() => Vec::new(),
            Detail::Costs => cost_words.to_vec(),
            Detail::Activity if activity_words.is_empty() => Vec::new(),
            Detail::Activity => [cost_words, activity_words].concat(),
            Detail::Outline | Detail::Counts | Detail::Full => Vec::new(),
        }
    }

    /// Returns the number of lines with one of these words.
    pub(crate) fn count_lines(&self, words: &[&str]) -> io::Result<u64> {
        let mut count = 0;
        if !words.is_empty() {
            let mut lines = RawLines::new(self.reader(), words)?;
            while lines.next()?.is_some() {
                count += 1;
            }
        }
        Ok(count)
    }

    /// Returns the entries derived from outside the file.
    pub(crate) fn read_entries_beside(&self, detail: Detail) -> impl Iterator<Item = Entry> {
        let rows = self.side_rows.iter();
        rows.map(move |row| self.format.read(row, detail).unwrap_or_default())
    }

    /// Calls `visit` with each entry, in file order. For [`Detail::Costs`] and
    /// [`Detail::Activity`] some may be missing.
    pub(crate) fn visit_entries(
        &self,
        detail: Detail,
        visit: &mut dyn FnMut(Place, Entry),
    ) -> io::Result<()> {
        self.read_entries_beside(detail)
            .for_each(|entry| visit(Place::first_on_line(0, &[]), entry));
        if self.is_document() {
            let mut rows = 0..;
            while let Some(offset) = rows.next()
                && let Some(entry) = self.read_row(offset, detail)
            {
                visit(Place::first_on_line(offset, &[]), entry);
            }
            return Ok(());
        }
        let mut entries = self.entries();
        let mut lines = RawLines::new(self.reader(), &self.words(detail))?;
        while let Some(line) = lines.next()? {
            self.visit_entries_in(line, &mut entries, detail, visit);
        }
        if let Some(last) = entries.finish() {
            visit(Place::first_on_line(self.file.size, &[]), last);
        }
        Ok(())
    }

    /// Returns the entry of a row of a document. If the document is cut off, a note follows the last one.
    pub(crate) fn read_row(&self, at: u64, detail: Detail) -> Option<Entry> {
        let document = self.document()?;
        match document.rows.get(usize::try_from(at).ok()?) {
            Some(row) => Some(self.format.read(row, detail).unwrap_or_default()),
            None if document.is_cut_off && at == document.rows.len() as u64 => {
                Some(new_notice("end", "[the rest of the document is missing]"))
            }
            None => None,
        }
    }

    /// Calls `visit` with each entry on a line, unless the line has nothing of this detail.
    pub(crate) fn visit_entries_in(
        &self,
        line: RawLine<'_>,
        entries: &mut EntryReader,
        detail: Detail,
        visit: &mut dyn FnMut(Place, Entry),
    ) {
        if line.is_too_long() {
            let place = Place {
                offset: line.offset,
                length: u32::try_from(line.length).unwrap_or(u32::MAX),
                index: 0,
            };
            return visit(place, new_skipped_entry(place));
        }
        let is_partial = matches!(detail, Detail::Costs | Detail::Activity);
        let class = || (self.format.reading.classify)(line.text);
        if !is_partial || !matches!(class(), LineClass::NoMessage | LineClass::Results) {
            visit_entries_on_line(line.offset, line.text, entries, detail, visit);
        }
    }

    /// Calls `visit` with each line. A document has none.
    ///
    /// # Errors
    /// Reading failed.
    pub fn visit_lines(&self, visit: &mut dyn FnMut(Line<'_>)) -> io::Result<()> {
        if self.is_document() {
            return Ok(());
        }
        visit_lines(self.reader(), visit)
    }
}

/// Calls `visit` with each entry on the line at `offset`.
pub(crate) fn visit_entries_on_line(
    offset: u64,
    line: &[u8],
    entries: &mut EntryReader,
    detail: Detail,
    visit: &mut dyn FnMut(Place, Entry),
) {
    let text = match offset {
        0 => line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line),
        _ => line,
    };
    visit_entries_on(entries, text, detail, &mut |index, entry| {
        let place = Place::first_on_line(offset, line);
        visit(Place { index, ..place }, entry);
    });
}

/// Returns the entry for a record that is too long to parse. It belongs to the turn before it.
pub(crate) fn new_skipped_entry(place: Place) -> Entry {
    let size = format_byte_size(u64::from(place.length)).replace("MB", " MB");
    let text = format!("[a record of {size} was skipped]");
    new_notice(&format!("skipped record at {}", place.offset), &text)
}

/// Returns an entry about the file.
fn new_notice(id: &str, text: &str) -> Entry {
    let message = Message {
        uuid: Some(id.to_owned()),
        blocks: vec![Block::Text(text.to_owned())],
        ..Message::new(Role::System, Origin::Injected)
    };
    Entry {
        is_known: true,
        parent: Some(format!("parent of {id}")),
        change: Change::Put(id.to_owned()),
        uuid: Some(id.to_owned()),
        part: Part::Turn,
        messages: vec![message],
        ..Entry::default()
    }
}
