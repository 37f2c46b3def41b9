//! An open session file and its records.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use crate::files::compressed::{
    self, elements_as_lines, trajectory_as_lines, unpacked, unpacked_name,
};
use crate::files::discover::subagent_files;
use crate::files::lines::{Line, Place, RawLine, RawLines, each_line, for_each_line};
use crate::files::listed::OtherFile;
use crate::files::open::{
    BYTE_ORDER_MARK, Head, Positioned, SessionError, SessionFile, open_extent, open_safely,
    session_at,
};
use crate::files::recover::{each_entry_on, each_record_on, mended};
use turnpipe_core::jsonl::{FixedFile, Mapping, read_at};
use turnpipe_core::message::{Block, Message, Origin, Role};
use turnpipe_core::text::byte_size;
use turnpipe_formats::agent::{
    self, Agent, Change, Detail, Entry, EntryReader, Format, LineClass, NamedRoots, Part,
    ReadExtent, Reading, format_of, is_of, refusal, refusal_at, trajectory_format,
};

/// The first bytes of a database.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// Maximum number of records to read before a file counts as unknown.
const MAX_UNKNOWN: u32 = 40;

/// Maximum size of a document, in bytes.
const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Whether a file must consist of lines, because it is too large for a document and not compressed.
///
/// # Errors
/// Reading failed.
pub fn holds_only_lines(file: &SessionFile) -> io::Result<bool> {
    Ok(file.size > MAX_DOCUMENT && !compressed::is_compressed(file)?)
}

/// An open session.
#[derive(Debug)]
pub struct Session {
    /// The file.
    pub file: SessionFile,
    format: &'static Format,
    /// The agents of the configuration.
    pub named_roots: NamedRoots,
    /// The rows of an old document. All other files are read by lines.
    pub document: Option<Vec<String>>,
    /// Whether the document is cut off.
    pub(crate) is_cut_off: bool,
    /// Whether the file is compressed, or a database.
    is_unpacked: bool,
    /// Records derived from files next to it.
    pub(crate) beside: Vec<String>,
    /// The first lines.
    pub(crate) head: Head,
    /// False if the directory was read and contains no side file.
    pub(crate) may_have_side_file: bool,
    /// True if the whole file was searched and contains no title.
    pub(crate) holds_no_title: bool,
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
        Self::of_file(open_safely(path)?, named)
    }

    /// Like [`Self::open`], for lists: only the beginning of a large compressed file is unpacked.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub(crate) fn open_for_list(path: &Path, named: &NamedRoots) -> Result<Self, SessionError> {
        Self::unpacking(
            open_extent(path, ReadExtent::Ends)?,
            ReadExtent::Ends,
            named,
        )
    }

    /// Reads the session in an open file.
    ///
    /// # Errors
    /// See [`SessionError`].
    pub fn of_file(file: SessionFile, named: &NamedRoots) -> Result<Self, SessionError> {
        Self::unpacking(file, ReadExtent::Whole, named)
    }

    fn unpacking(
        mut file: SessionFile,
        wanted: ReadExtent,
        named: &NamedRoots,
    ) -> Result<Self, SessionError> {
        let mut head = Head::read(&file)?;
        let mut is_unpacked = session_at(&file.path).is_some();
        if head.starts_with(&compressed::MAGIC) {
            is_unpacked = true;
            file = unpacked(file, wanted)?;
            head = Head::read(&file)?;
        }
        let mut trajectory = None;
        if head.may_be_trajectory() {
            trajectory = trajectory_as_lines(&file)?;
        }
        if head.opens(b'[') {
            is_unpacked = true;
            file = elements_as_lines(file)?;
            head = Head::read(&file)?;
        }
        let refusal = head.lines().next().and_then(|(_, line)| refusal(line));
        if let Some(refusal) = refusal {
            return Err(SessionError::Unknown(refusal));
        }
        let is_database = head.starts_with(SQLITE);
        // The lines of a document may look like records.
        let packed = file.path.file_name().unwrap_or_default().to_string_lossy();
        let name = Path::new(unpacked_name(&packed).unwrap_or(&packed));
        let is_json = name.extension().is_some_and(|end| end == "json");
        let mut document = None;
        if is_json && trajectory.is_none() && head.opens(b'{') {
            document = Document::read(&file)?;
        }
        let by_path = named.format_at(&file.path);
        let by_path = by_path.filter(|format| is_in(&head, format));
        let mut format = match by_path.or_else(|| format_in(&head)) {
            _ if trajectory.is_some() || document.is_some() => None,
            Some(format) => Some(format),
            None if is_database => None,
            None => detected(&file)?,
        };
        let is_known = format.is_some() || document.is_some();
        if !is_known && trajectory.is_none() && head.opens(b'{') {
            trajectory = trajectory_as_lines(&file)?;
        }
        if let Some(lines) = trajectory {
            is_unpacked = true;
            file = file.with_content(lines);
            head = Head::read(&file)?;
            format = Some(trajectory_format());
        }
        if format.is_none() && document.is_none() && !is_database && !is_json {
            document = Document::read(&file)?;
        }
        let known = format.or(document.as_ref().map(|document| document.format));
        let Some(format) = known else {
            if is_json && Document::is_cut_off(&Document::json(&file)?) {
                let problem = "the document is cut off before its first message";
                return Err(io::Error::other(problem).into());
            }
            return Err(unknown(&file.path, is_database));
        };
        Ok(Self {
            beside: (format.layout.beside)(&file.path),
            file,
            format,
            named_roots: named.clone(),
            is_cut_off: document.as_ref().is_some_and(|read| read.is_cut_off),
            document: document.map(|read| read.rows),
            is_unpacked,
            head,
            may_have_side_file: true,
            holds_no_title: false,
            others: Vec::new(),
            started: Vec::new(),
        })
    }

    /// Returns this session as if its file ended at the offset `end`.
    #[must_use]
    pub fn up_to(mut self, end: u64) -> Self {
        self.file.size = self.file.size.min(end);
        self
    }

    /// Returns its subagents whose files can be opened.
    pub(crate) fn subagents(&self) -> impl Iterator<Item = Self> {
        let files = subagent_files(&self.file.path, self.agent()).into_iter();
        let files = files.chain(self.started.iter().cloned());
        files.filter_map(|path| Self::open_with(&path, &self.named_roots).ok())
    }

    /// Returns the agent that wrote it.
    pub fn agent(&self) -> Agent {
        self.format.agent
    }

    /// Returns the name of the agent that wrote it, if that uses the format of another one.
    pub fn written_by(&self) -> Option<&str> {
        self.named_roots.fork_at(&self.file.path)
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
        self.document.is_some()
    }

    /// Whether records can be appended to the file.
    pub fn is_appendable(&self) -> bool {
        !self.is_document() && !self.is_unpacked && !self.format.is_stream()
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

    /// Lines without any of these words are skipped. Empty if every line is read, or the file has no lines.
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
    pub(crate) fn entries_beside(&self, detail: Detail) -> impl Iterator<Item = Entry> {
        let rows = self.beside.iter();
        rows.map(move |row| self.format.read(row, detail).unwrap_or_default())
    }

    /// Calls `visit` with each entry, in file order. For [`Detail::Costs`] and
    /// [`Detail::Activity`] some may be missing.
    pub(crate) fn each_entry(
        &self,
        detail: Detail,
        visit: &mut dyn FnMut(Place, Entry),
    ) -> io::Result<()> {
        self.entries_beside(detail)
            .for_each(|entry| visit(Place::of_line(0, &[]), entry));
        if self.is_document() {
            let mut rows = 0..;
            while let Some(offset) = rows.next()
                && let Some(entry) = self.entry_of_row(offset, detail)
            {
                visit(Place::of_line(offset, &[]), entry);
            }
            return Ok(());
        }
        let mut entries = self.entries();
        let mut lines = RawLines::new(self.reader(), &self.words(detail))?;
        while let Some(line) = lines.next()? {
            self.each_entry_in(line, &mut entries, detail, visit);
        }
        if let Some(last) = entries.finish() {
            visit(Place::of_line(self.file.size, &[]), last);
        }
        Ok(())
    }

    /// Returns the entry of a row of a document. If the document is cut off, a note follows the last one.
    pub(crate) fn entry_of_row(&self, at: u64, detail: Detail) -> Option<Entry> {
        let rows = self.document.as_ref()?;
        match rows.get(usize::try_from(at).ok()?) {
            Some(row) => Some(self.format.read(row, detail).unwrap_or_default()),
            None if self.is_cut_off && at == rows.len() as u64 => {
                Some(notice("end", "[the rest of the document is missing]"))
            }
            None => None,
        }
    }

    /// Calls `visit` with each entry on a line, unless the line has nothing of this detail.
    pub(crate) fn each_entry_in(
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
            return visit(place, skipped_record(place));
        }
        let is_partial = matches!(detail, Detail::Costs | Detail::Activity);
        let class = || (self.format.reading.line_class)(line.text);
        if !is_partial || !matches!(class(), LineClass::NoMessage | LineClass::Results) {
            each_entry_on_line(line.offset, line.text, entries, detail, visit);
        }
    }

    /// Calls `visit` with each line. A document has none.
    ///
    /// # Errors
    /// Reading failed.
    pub fn each_line(&self, visit: &mut dyn FnMut(Line<'_>)) -> io::Result<()> {
        if self.document.is_some() {
            return Ok(());
        }
        each_line(self.reader(), visit)
    }
}

/// Calls `visit` with each entry on the line at `offset`.
pub(crate) fn each_entry_on_line(
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
    each_entry_on(entries, text, detail, &mut |index, entry| {
        let place = Place::of_line(offset, line);
        visit(Place { index, ..place }, entry);
    });
}

/// Returns the entry for a record that is too long to parse. It belongs to the turn before it.
pub(crate) fn skipped_record(place: Place) -> Entry {
    let size = byte_size(u64::from(place.length)).replace("MB", " MB");
    let text = format!("[a record of {size} was skipped]");
    notice(&format!("skipped record at {}", place.offset), &text)
}

/// Returns an entry about the file.
fn notice(id: &str, text: &str) -> Entry {
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

/// Returns the reason why a file is not a session.
fn unknown(path: &Path, is_database: bool) -> SessionError {
    let reason = refusal_at(path).unwrap_or_else(|| {
        let reason = if is_database {
            "is a database; `session list --root` lists sessions in it"
        } else {
            "not a session file of a known agent"
        };
        reason.to_owned()
    });
    SessionError::Unknown(reason)
}

/// Returns the format of the first lines.
fn format_in(head: &Head) -> Option<&'static Format> {
    let mut formats = head.lines().filter_map(|(_, line)| format_on(line));
    let first = formats.next()?;
    // The streams of some agents open like their session files.
    let second = formats
        .next()
        .filter(|second| second.is_stream() && second.agent == first.agent);
    Some(second.unwrap_or(first))
}

/// Returns the format of the records on a line.
fn format_on(line: &[u8]) -> Option<&'static Format> {
    let mut format = None;
    each_record_on(line, &mut |record| {
        format = format.or_else(|| format_of(record));
    });
    format
}

/// Whether the head contains a record of this format.
fn is_in(head: &Head, format: &Format) -> bool {
    head.lines().any(|(_, line)| {
        let mut found = false;
        each_record_on(line, &mut |record| found = found || is_of(format, record));
        found
    })
}

/// Returns the format of a file of lines.
fn detected(file: &SessionFile) -> io::Result<Option<&'static Format>> {
    let source = Positioned { file, at: 0 };
    let mut unknown = 0;
    let found = for_each_line(source, &mut |line| {
        // An object on several lines is not a record.
        if line.raw.trim_ascii_end().contains(&b'\n') {
            return ControlFlow::Break(None);
        }
        for (_, record) in line.records() {
            if let Some(format) = format_of(record) {
                return ControlFlow::Break(Some(format));
            }
            unknown += 1;
        }
        unknown += u32::from(line.records.is_empty() && !line.is_blank());
        if unknown > MAX_UNKNOWN {
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found.flatten())
}

/// An old document.
struct Document {
    format: &'static Format,
    rows: Vec<String>,
    is_cut_off: bool,
}

impl Document {
    /// Reads a document, which may be cut off. `None` if the file is not one.
    fn read(file: &SessionFile) -> io::Result<Option<Self>> {
        let json = Self::json(file)?;
        let parse = |json: &str, is_cut_off| {
            let (format, rows) = agent::document(json)?;
            Some(Self {
                format,
                rows,
                is_cut_off,
            })
        };
        Ok(parse(&json, false).or_else(|| parse(&mended(&json)?, true)))
    }

    /// Returns the text of a file that may be a document. Empty if it is too large.
    fn json(file: &SessionFile) -> io::Result<String> {
        if file.size > MAX_DOCUMENT {
            return Ok(String::new());
        }
        let mut bytes = vec![0; usize::try_from(file.size).unwrap_or(0)];
        let filled = read_at(&file.file, &mut bytes, 0)?;
        bytes.truncate(filled);
        let json = String::from_utf8_lossy(&bytes);
        Ok(json.trim_start_matches('\u{feff}').trim().to_owned())
    }

    /// Whether the beginning of a JSON text is one, but not the whole.
    fn is_cut_off(json: &str) -> bool {
        let parsed = serde_json::from_str::<IgnoredAny>(json);
        !json.is_empty() && parsed.is_err_and(|error| error.is_eof())
    }
}
