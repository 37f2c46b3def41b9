//! How a file holds the records of a session, detected once.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use serde::de::IgnoredAny;

use crate::files::compressed::{
    self, split_elements, split_trajectory, strip_compression, unpack_file,
};
use crate::files::lines::try_visit_lines;
use crate::files::open::{Head, Positioned, SessionError, SessionFile, split_stored_path};
use crate::files::recover::{close_cut_json, visit_records_on};
use crate::files::scratch_file::ScratchFile;
use turnpipe_core::jsonl::fill_at;
use turnpipe_formats::agent::{
    self, Format, NamedRoots, ReadExtent, detect_format, find_refusal, find_refusal_at,
    is_record_of, trajectory_format,
};

/// The first bytes of a database.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

/// Maximum number of records to read before a file counts as unknown.
const MAX_UNKNOWN_RECORDS: u32 = 40;

/// Maximum size of a document, in bytes.
const MAX_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Whether a file must consist of lines, because it is too large for a document and not compressed.
///
/// # Errors
/// Reading failed.
pub fn has_only_lines(file: &SessionFile) -> io::Result<bool> {
    Ok(file.size > MAX_DOCUMENT && !compressed::is_compressed(file)?)
}

/// How a file holds records.
#[derive(Debug)]
pub(crate) enum Container {
    /// Each on a line.
    Lines,
    /// In another form, which was converted into lines: packed, an array, a trajectory, rows of a database.
    Converted,
    /// In one JSON object of an old version.
    Document(Document),
}

/// The content of a session file.
#[derive(Debug)]
pub(crate) struct SessionContent {
    /// The file, or what it was converted into.
    pub(crate) file: SessionFile,
    /// Its first lines.
    pub(crate) head: Head,
    pub(crate) format: &'static Format,
    pub(crate) container: Container,
}

impl SessionContent {
    /// Detects the container and the format of a file. Only as much as `wanted` is unpacked.
    pub(crate) fn detect(
        mut file: SessionFile,
        wanted: ReadExtent,
        named: &NamedRoots,
    ) -> Result<Self, SessionError> {
        let mut container = match split_stored_path(&file.path) {
            Some(_) => Container::Converted,
            None => Container::Lines,
        };
        let mut head = Head::read(&file)?;
        if head.starts_with(&compressed::MAGIC) {
            container = Container::Converted;
            file = unpack_file(file, wanted)?;
            head = Head::read(&file)?;
        }
        if head.has_opening(b'[') {
            container = Container::Converted;
            file = split_elements(file)?;
            head = Head::read(&file)?;
        }
        if let Some(refusal) = head.lines().next().and_then(|(_, line)| find_refusal(line)) {
            return Err(SessionError::Unknown(refusal));
        }
        let may_be_object = head.has_opening(b'{');
        if head.may_be_trajectory()
            && let Some(lines) = split_trajectory(&file)?
        {
            return Self::from_trajectory(file, lines);
        }
        // The lines of a document may look like records.
        let packed = file.path.file_name().unwrap_or_default().to_string_lossy();
        let name = Path::new(strip_compression(&packed).unwrap_or(&packed));
        let is_json = name.extension().is_some_and(|end| end == "json");
        if is_json
            && may_be_object
            && let Some(document) = Document::read(&file)?
        {
            return Ok(Self::from_document(file, head, document));
        }
        let is_database = head.starts_with(SQLITE_MAGIC);
        let by_path = named.find_format(&file.path);
        let confirmed = by_path.filter(|format| has_format(&head, format));
        let format = match confirmed.or_else(|| detect_in_head(&head)) {
            None if !is_database => detect_file_format(&file)?,
            format => format,
        };
        if let Some(format) = format {
            return Ok(Self {
                file,
                head,
                format,
                container,
            });
        }
        if may_be_object && let Some(lines) = split_trajectory(&file)? {
            return Self::from_trajectory(file, lines);
        }
        if !is_database
            && !is_json
            && let Some(document) = Document::read(&file)?
        {
            return Ok(Self::from_document(file, head, document));
        }
        if is_json && Document::is_cut_off(&Document::read_json(&file)?) {
            let problem = "the document is cut off before its first message";
            return Err(io::Error::other(problem).into());
        }
        Err(to_unknown_error(&file.path, is_database))
    }

    fn from_trajectory(file: SessionFile, lines: ScratchFile) -> Result<Self, SessionError> {
        let file = file.with_content(lines);
        Ok(Self {
            head: Head::read(&file)?,
            file,
            format: trajectory_format(),
            container: Container::Converted,
        })
    }

    fn from_document(file: SessionFile, head: Head, document: Document) -> Self {
        Self {
            file,
            head,
            format: document.format,
            container: Container::Document(document),
        }
    }
}

/// Returns the reason why a file is not a session.
fn to_unknown_error(path: &Path, is_database: bool) -> SessionError {
    let reason = find_refusal_at(path).unwrap_or_else(|| {
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
fn detect_in_head(head: &Head) -> Option<&'static Format> {
    let mut formats = head.lines().filter_map(|(_, line)| detect_on_line(line));
    let first = formats.next()?;
    // The streams of some agents open like their session files.
    let second = formats
        .next()
        .filter(|second| second.is_stream() && second.agent == first.agent);
    Some(second.unwrap_or(first))
}

/// Returns the format of the records on a line.
fn detect_on_line(line: &[u8]) -> Option<&'static Format> {
    let mut format = None;
    visit_records_on(line, &mut |record| {
        format = format.or_else(|| detect_format(record));
    });
    format
}

/// Whether the head contains a record of this format.
fn has_format(head: &Head, format: &Format) -> bool {
    head.lines().any(|(_, line)| {
        let mut found = false;
        visit_records_on(line, &mut |record| {
            found = found || is_record_of(format, record);
        });
        found
    })
}

/// Returns the format of a file of lines.
fn detect_file_format(file: &SessionFile) -> io::Result<Option<&'static Format>> {
    let source = Positioned { file, at: 0 };
    let mut unknown = 0;
    let found = try_visit_lines(source, &mut |line| {
        // An object on several lines is not a record.
        if line.raw.trim_ascii_end().contains(&b'\n') {
            return ControlFlow::Break(None);
        }
        for (_, record) in line.records() {
            if let Some(format) = detect_format(record) {
                return ControlFlow::Break(Some(format));
            }
            unknown += 1;
        }
        unknown += u32::from(line.records.is_empty() && !line.is_blank());
        if unknown > MAX_UNKNOWN_RECORDS {
            return ControlFlow::Break(None);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found.flatten())
}

/// The records of a document.
#[derive(Debug)]
pub(crate) struct Document {
    format: &'static Format,
    pub(crate) rows: Vec<String>,
    pub(crate) is_cut_off: bool,
}

impl Document {
    /// Reads a document, which may be cut off. `None` if the file is not one.
    fn read(file: &SessionFile) -> io::Result<Option<Self>> {
        let json = Self::read_json(file)?;
        let parse = |json: &str, is_cut_off| {
            let (format, rows) = agent::read_document(json)?;
            Some(Self {
                format,
                rows,
                is_cut_off,
            })
        };
        Ok(parse(&json, false).or_else(|| parse(&close_cut_json(&json)?, true)))
    }

    /// Returns the text of a file that may be a document. Empty if it is too large.
    fn read_json(file: &SessionFile) -> io::Result<String> {
        if file.size > MAX_DOCUMENT {
            return Ok(String::new());
        }
        let mut bytes = vec![0; usize::try_from(file.size).unwrap_or(0)];
        let filled = fill_at(&file.file, &mut bytes, 0)?;
        bytes.truncate(filled);
        let json = String::from_utf8_lossy(&bytes);
        Ok(json.trim_start_matches('\u{feff}').trim().to_owned())
    }

    /// Whether a JSON text is valid as far as it goes, but ends too early.
    fn is_cut_off(json: &str) -> bool {
        let parsed = serde_json::from_str::<IgnoredAny>(json);
        !json.is_empty() && parsed.is_err_and(|error| error.is_eof())
    }
}
