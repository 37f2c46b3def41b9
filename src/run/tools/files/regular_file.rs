//! Opens existing files, checks whether the session has read them, and determines the target of a call that
//! writes a file.
//!
//! A FIFO without a writer, a terminal or a tape can block its reader or react to being opened. Therefore only regular
//! files are opened; the type is checked before and after.
//!
//! The files of processes in procfs are not opened either: turnpipe's own would show its keys, whichever rules apply.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::replace_file::replace;
use crate::io::{is_per_process_path, is_procfs, open_regular};
use crate::run::tools::paths::absolute_path;
use crate::run::tools::reply::detect_media_type;
use crate::run::tools::{CallContext, ToolContext, ToolFailure, access};
use crate::state::{FileStamp, ReadEntry, ReadRange};

/// An open regular file with its metadata after opening.
#[derive(Debug)]
pub(super) struct RegularFile {
    pub(super) file: File,
    pub(super) metadata: Metadata,
}

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotReadable {
    #[error("File does not exist.")]
    Missing,
    #[error("This is a directory, not a file.")]
    Directory,
    #[error("This is {0}, not a regular file; reading it could block.")]
    Special(&'static str),
    #[error("The path leads to files of a process, which this tool does not read. Try Bash.")]
    OfProcess,
    #[error("The file cannot be read: {0}")]
    Failed(#[source] io::Error),
}

impl From<io::Error> for NotReadable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Failed(error),
        }
    }
}

impl NotReadable {
    /// Returns the message with a hint for the model.
    pub(super) fn message(&self, context: &ToolContext) -> String {
        match self {
            Self::Missing => format!(
                "{self} Note: the current working directory is {}.",
                context.directory.display()
            ),
            Self::Directory => format!("{self} List it with LS."),
            Self::Special(_) | Self::OfProcess | Self::Failed(_) => self.to_string(),
        }
    }
}

/// Files in `/proc` that are about the machine.
const MACHINE_FILES: [&str; 6] = ["cpuinfo", "loadavg", "meminfo", "stat", "uptime", "version"];

fn is_of_machine(file: &Metadata) -> bool {
    let paths = MACHINE_FILES.map(|name| Path::new("/proc").join(name));
    let mut machine_files = paths.iter().flat_map(std::fs::metadata);
    machine_files.any(|other| (other.dev(), other.ino()) == (file.dev(), file.ino()))
}

/// Refuses a path that leads to the files of a process. Call it for each path that a call names.
pub(super) fn check_not_process_file(path: &Path) -> Result<(), ToolFailure> {
    let is_allowed = || std::fs::metadata(path).is_ok_and(|file| is_of_machine(&file));
    if is_per_process_path(path) && !is_allowed() {
        return Err(ToolFailure(NotReadable::OfProcess.to_string()));
    }
    Ok(())
}

/// Opens a regular file for reading, through links.
pub(super) fn open(path: &Path) -> Result<RegularFile, NotReadable> {
    check_type(std::fs::metadata(path)?.file_type())?;
    let file = open_regular(path, File::options().read(true), OFlags::empty())?;
    let metadata = file.metadata()?;
    // Checks the opened file, since its name may have led elsewhere before.
    if is_procfs(rustix::fs::fstatfs(&file)) && !is_of_machine(&metadata) {
        return Err(NotReadable::OfProcess);
    }
    Ok(RegularFile { file, metadata })
}

fn check_type(kind: FileType) -> Result<(), NotReadable> {
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(NotReadable::Directory)
    } else if kind.is_fifo() {
        Err(NotReadable::Special("a named pipe"))
    } else if kind.is_socket() {
        Err(NotReadable::Special("a socket"))
    } else {
        Err(NotReadable::Special("a device"))
    }
}

/// Reads the file. Returns `None` if it has more than `limit` bytes.
pub(super) fn read_bytes(source: RegularFile, limit: u64) -> Result<Option<Vec<u8>>, ToolFailure> {
    let mut bytes = Vec::new();
    if source.metadata.len() <= limit {
        source
            .file
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| ToolFailure(format!("The file cannot be read: {error}")))?;
    }
    let size = source.metadata.len().max(bytes.len() as u64);
    Ok((size <= limit).then_some(bytes))
}

/// Number of bytes that determine the kind of a file.
pub(super) const HEAD_BYTES: usize = 8192;

/// The kind of a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// UTF-8 or a similar encoding.
    Text,
    Utf16,
    /// An image with this media type.
    Image(&'static str),
    Pdf,
    Binary,
}

impl FileKind {
    /// Returns the kind of a file that starts with `head`. At most [`HEAD_BYTES`] are used.
    pub(super) fn detect(head: &[u8]) -> Self {
        let head = &head[..head.len().min(HEAD_BYTES)];
        let is_utf16 = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
        if let Some(media_type) = detect_media_type(head) {
            Self::Image(media_type)
        } else if head.starts_with(b"%PDF-") {
            Self::Pdf
        } else if is_utf16 && !head.starts_with(b"\xff\xfe\0\0") {
            Self::Utf16
        } else if head.contains(&0) {
            Self::Binary
        } else {
            Self::Text
        }
    }

    /// Returns the reason why a file of this kind that was not read cannot be written, with a hint.
    pub(super) fn unread_message(self) -> String {
        let kind = match self {
            Self::Text | Self::Utf16 => {
                return "File has not been read yet. Read it first before writing to it."
                    .to_owned();
            }
            Self::Image(_) => "an image",
            Self::Pdf => "a PDF document",
            Self::Binary => "a binary file",
        };
        format!(
            "The file is {kind}, which cannot be read as text, and so not be replaced. Change it \
             with Bash, or remove it first."
        )
    }
}

/// The file has changed since the session read it.
pub(super) const READ_AGAIN: &str = "File has been modified since read, either by the user or by \
    a linter. Read it again before attempting to write it.";

/// Logs that the call has read this part of `path` (links resolved).
pub(super) fn record_read(
    call: &CallContext<'_>,
    path: PathBuf,
    stamp: FileStamp,
    range: ReadRange,
) {
    let entry = ReadEntry {
        stamp,
        range,
        tool_use_id: call.id.to_string(),
    };
    call.session.read_log.record(path, entry);
}

/// The file that a call names.
pub(super) struct Target {
    /// The absolute path, with links.
    pub(super) path: PathBuf,
    /// The path with links resolved.
    resolved: PathBuf,
    /// Its current state, or `None` if it is missing.
    stamp: Option<FileStamp>,
    /// The last read of the session, if there was one.
    seen: Option<ReadEntry>,
}

/// Whether the session knows the current content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freshness {
    /// No call has read or written it.
    Unread,
    /// It has not changed since a call last read or wrote it, or it is missing.
    Current,
    /// It has changed since a call last read or wrote it.
    Changed,
}

impl Target {
    /// Opens the file if it exists.
    pub(super) fn open(
        name: &str,
        call: &CallContext<'_>,
    ) -> Result<(Self, Option<RegularFile>), ToolFailure> {
        let path = absolute_path(name, call.session);
        check_not_process_file(&path)?;
        let resolved = access::resolve_links(&path)
            .map_err(|error| ToolFailure(format!("The file cannot be written: {error}")))?;
        let found = match open(&resolved) {
            Ok(found) => Some(found),
            Err(NotReadable::Missing) => None,
            Err(problem) => return Err(ToolFailure(problem.to_string())),
        };
        let target = Self {
            path,
            stamp: found
                .as_ref()
                .map(|found| FileStamp::from_metadata(&found.metadata)),
            seen: call.session.read_log.get(&resolved),
            resolved,
        };
        Ok((target, found))
    }

    pub(super) fn freshness(&self) -> Freshness {
        match (self.stamp, &self.seen) {
            (None, _) => Freshness::Current,
            (Some(_), None) => Freshness::Unread,
            (Some(now), Some(seen)) if seen.stamp == now => Freshness::Current,
            (Some(_), Some(_)) => Freshness::Changed,
        }
    }

    /// Returns the part of the file that the session has seen: the whole file if it is missing.
    pub(super) fn read_range(&self) -> ReadRange {
        self.seen
            .as_ref()
            .map_or(ReadRange::Whole, |seen| seen.range)
    }

    /// Replaces the content if the file has not changed. `seen` is the part that the session has seen
    /// afterwards.
    pub(super) fn replace(
        self,
        content: &[u8],
        seen: Option<ReadRange>,
        call: &CallContext<'_>,
    ) -> Result<(), ToolFailure> {
        let stamp = replace(&self.resolved, content, self.stamp)
            .map_err(|error| ToolFailure(error.to_string()))?;
        if let Some(seen) = seen {
            record_read(call, self.resolved, stamp, seen);
        }
        Ok(())
    }

    /// Removes the file if it has not changed.
    pub(super) fn remove(self) -> Result<(), ToolFailure> {
        let to_failure = |error| ToolFailure(format!("The file cannot be removed: {error}"));
        if Some(FileStamp::read(&self.resolved).map_err(to_failure)?) != self.stamp {
            return Err(ToolFailure(READ_AGAIN.to_owned()));
        }
        std::fs::remove_file(self.resolved).map_err(to_failure)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::run::tools::test_context::Session;

    #[test]
    fn only_regular_files_are_opened() {
        let session = Session::new();
        session.write("file", "x");
        rustix::fs::mkfifoat(rustix::fs::CWD, session.path("pipe"), 0o600.into()).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(session.path("socket")).unwrap();
        assert!(open(&session.path("file")).is_ok());
        let error = |path: &Path| open(path).unwrap_err().to_string();
        assert_eq!(error(&session.path("gone")), "File does not exist.");
        assert_eq!(error(&session.path("")), "This is a directory, not a file.");
        assert!(error(&session.path("pipe")).contains("a named pipe"));
        assert!(error(&session.path("socket")).contains("a socket"));
        assert!(error(Path::new("/dev/zero")).contains("a device"));
        assert!(error(&session.path("file/below")).contains("cannot be read"));
    }
}
