//! Opens session files safely, also sessions in databases, named `FILE.db#ID`. A session in a database is read as
//! a file of its rows.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::{memchr_iter, memrchr};
use rustix::fs::OFlags;

use crate::files::scratch_file::ScratchFile;
use turnpipe_core::io::open_regular;
use turnpipe_core::jsonl::{Beginning, fill_at};
use turnpipe_formats::agent::{
    DATABASE_EXTENSION, DatabaseWatch, ReadExtent, StoredSession, may_be_trajectory, open_database,
};

/// Size of the head, in bytes. It contains the facts about the start of nearly every session.
const HEAD_SIZE: usize = 8 * 1024;

/// Size of the head of a file whose first line does not fit into it, such as the system prompt of Codex.
const LONG_HEAD_SIZE: usize = 64 * 1024;

/// Files up to this size are read at once, in bytes.
const SMALL_FILE: usize = 24 * 1024;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The identity of a file, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    device: u64,
    inode: u64,
}

/// An open session file and its size at the time of opening.
#[derive(Debug)]
pub struct SessionFile {
    /// The path.
    pub path: PathBuf,
    /// Open for reading.
    pub file: File,
    /// The size in bytes.
    pub size: u64,
    /// The identity of the file.
    pub identity: Identity,
}

/// A session cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The last part of the path is a symbolic link.
    #[error("is a symbolic link")]
    Link,
    /// The path is a directory.
    #[error("is a directory")]
    Directory,
    /// The path is a pipe, a device, or similar.
    #[error("is not a regular file")]
    NotAFile,
    /// The system reported an error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format is unknown. Names the agent, if known.
    #[error("{0}")]
    Unknown(String),
}

/// Opens a regular file for reading. Does not follow links, and does not wait for the writer of a
/// pipe.
///
/// # Errors
/// The path is not a regular file, or the system reported an error.
pub fn open_safely(path: &Path) -> Result<SessionFile, SessionError> {
    open_extent(path, ReadExtent::Whole)
}

/// Opens as much of a session as can be followed: in a database, messages that are complete.
///
/// # Errors
/// See [`open_safely`].
pub fn open_to_follow(path: &Path) -> Result<SessionFile, SessionError> {
    open_extent(path, ReadExtent::Settled)
}

/// Opens this part of a session. Files are always opened whole.
pub(crate) fn open_extent(path: &Path, extent: ReadExtent) -> Result<SessionFile, SessionError> {
    if let Some(rows) = open_rows(path, extent) {
        return Ok(SessionFile::new(path, rows?.file)?);
    }
    let opened = open_regular(path, File::options().read(true), OFlags::NOFOLLOW);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP | libc::EMLINK) => SessionError::Link,
        Some(_) => SessionError::Io(error),
        None if path.is_dir() => SessionError::Directory,
        None => SessionError::NotAFile,
    })?;
    Ok(SessionFile::new(path, file)?)
}

impl SessionFile {
    /// Wraps a regular file with this path.
    ///
    /// # Errors
    /// As the system reports.
    pub(crate) fn new(path: &Path, file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            path: path.to_owned(),
            size: metadata.len(),
            identity: Identity::from_metadata(&metadata),
            file,
        })
    }

    /// Returns this file with its unpacked or converted content.
    pub(crate) fn with_content(self, content: ScratchFile) -> Self {
        Self {
            file: content.file,
            size: content.size,
            ..self
        }
    }
}

impl Identity {
    /// Returns the identity of the file with this metadata.
    pub fn from_metadata(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

/// The complete lines at the start of a file, read once.
#[derive(Debug)]
pub(crate) struct Head {
    beginning: Arc<Beginning>,
    length: usize,
}

impl Head {
    /// Reads the head. If it is the whole file, the last line needs no newline.
    pub(crate) fn read(file: &SessionFile) -> io::Result<Self> {
        let size = usize::try_from(file.size).unwrap_or(usize::MAX);
        let read_size = if size <= SMALL_FILE { size } else { HEAD_SIZE };
        let mut beginning = Beginning::read(&file.file, read_size)?;
        let mut first = beginning.bytes();
        first = &first[..first.len().min(HEAD_SIZE)];
        if !first.contains(&b'\n') {
            beginning = Beginning::read(&file.file, size.min(LONG_HEAD_SIZE))?;
            first = beginning.bytes();
        }
        let length = if first.len() == size {
            size
        } else {
            memrchr(b'\n', first).map_or(0, |newline| newline + 1)
        };
        Ok(Self {
            beginning: Arc::new(beginning),
            length,
        })
    }

    /// Returns all bytes that were read, possibly more than the lines.
    pub(crate) fn beginning(&self) -> Arc<Beginning> {
        Arc::clone(&self.beginning)
    }

    /// Returns the length of the complete lines, in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length as u64
    }

    /// Whether the file starts with these bytes.
    pub(crate) fn starts_with(&self, bytes: &[u8]) -> bool {
        self.beginning.bytes().starts_with(bytes)
    }

    /// Whether the file starts with the delimiter `opening`, apart from blanks.
    pub(crate) fn has_opening(&self, opening: u8) -> bool {
        let bytes = self.beginning.bytes();
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        text.trim_ascii_start().first() == Some(&opening)
    }

    /// Whether the bytes that were read have the words of a trajectory.
    pub(crate) fn may_be_trajectory(&self) -> bool {
        self.has_opening(b'{') && may_be_trajectory(self.beginning.bytes())
    }

    /// Returns the lines, each with the offset of its end in bytes.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let lines = &self.beginning.bytes()[..self.length];
        let text = lines.strip_prefix(BYTE_ORDER_MARK).unwrap_or(lines);
        let before = (lines.len() - text.len()) as u64;
        let newlines = memchr_iter(b'\n', text).map(|newline| newline + 1);
        let unfinished = text.last().is_some_and(|last| *last != b'\n');
        let mut start = 0;
        newlines
            .chain(unfinished.then_some(text.len()))
            .map(move |end| {
                let line = &text[start..end];
                start = end;
                (before + end as u64, line)
            })
    }
}

/// Reads a file at its own position, independent of other readers.
pub(crate) struct Positioned<'a> {
    pub(crate) file: &'a SessionFile,
    pub(crate) at: u64,
}

impl io::Read for Positioned<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.file.size.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(rest);
        let filled = fill_at(&self.file.file, &mut buffer[..wanted], self.at)?;
        self.at += filled as u64;
        Ok(filled)
    }
}

/// Maximum size of a session, in bytes.
const MAX_SIZE: u64 = 1024 * 1024 * 1024;

/// Whether a file may be a database of sessions, by its name.
pub(crate) fn is_database(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| end == DATABASE_EXTENSION)
}

/// Returns the database and the id in the name of a session.
pub(crate) fn split_stored_path(path: &Path) -> Option<(PathBuf, &str)> {
    let (name, id) = path.file_name()?.to_str()?.split_once('#')?;
    let database = path.with_file_name(name);
    // The name of a side file has a suffix.
    let is_id = !id.is_empty() && !id.contains('.');
    (is_id && is_database(&database) && database.is_file()).then_some((database, id))
}

/// Returns the sessions in a database, with their names. Empty if none can be read.
pub(crate) fn list_stored_sessions(path: &Path) -> Vec<(PathBuf, StoredSession)> {
    let sessions = open_database(path).and_then(|database| database.sessions());
    let named = sessions.unwrap_or_default().into_iter().map(|session| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("#{}", session.id));
        (name.into(), session)
    });
    named.collect()
}

/// Watches the database of the session at this path. `None` if it is not in a database.
pub(crate) fn watch(path: &Path) -> Option<io::Result<DatabaseWatch>> {
    let (database, _) = split_stored_path(path)?;
    Some(DatabaseWatch::open(&database))
}

/// Returns the sessions of the subagents of a session.
pub(crate) fn list_stored_subagents(path: &Path) -> Vec<PathBuf> {
    let Some((database, id)) = split_stored_path(path) else {
        return Vec::new();
    };
    let sessions = list_stored_sessions(&database).into_iter();
    let own = sessions.filter(|(_, session)| session.parent.as_deref() == Some(id));
    own.map(|(path, _)| path).collect()
}

/// Returns the rows of a session in a database, each on a line. `None` if the path does not name a session in a
/// database.
fn open_rows(path: &Path, extent: ReadExtent) -> Option<io::Result<ScratchFile>> {
    let (database, id) = split_stored_path(path)?;
    Some(write_rows(&database, id, extent))
}

fn write_rows(database: &Path, id: &str, extent: ReadExtent) -> io::Result<ScratchFile> {
    let mut rows = BufWriter::new(ScratchFile::new()?);
    open_database(database)?.visit_rows(id, extent, &mut |row| {
        if rows.get_ref().size > MAX_SIZE {
            return Err(io::Error::other("contains more than 1 GiB"));
        }
        rows.write_all(row.as_bytes())?;
        rows.write_all(b"\n")
    })?;
    Ok(rows.into_inner()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "abc").unwrap();
        symlink(at("file"), at("link")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        assert_eq!(open_safely(&at("file")).unwrap().size, 3);
        assert!(matches!(open_safely(&at("link")), Err(SessionError::Link)));
        assert!(matches!(
            open_safely(&at("pipe")),
            Err(SessionError::NotAFile)
        ));
        assert!(matches!(
            open_safely(folder.path()),
            Err(SessionError::Directory)
        ));
        assert!(matches!(open_safely(&at("none")), Err(SessionError::Io(_))));
    }
}
