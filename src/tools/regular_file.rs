//! Opening a file that a tool was told to look at, without ever blocking on what is not one.
//!
//! A FIFO without a writer, a terminal or a tape blocks its reader (or worse, reacts to being
//! opened). Only regular files pass, checked before and after opening.

use std::fs::{File, FileType, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// An open regular file with its metadata as of opening it.
#[derive(Debug)]
pub(super) struct RegularFile {
    pub(super) file: File,
    pub(super) metadata: Metadata,
}

/// Why there is no such file to read.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotReadable {
    #[error("File does not exist.")]
    Missing,
    #[error("This is a directory, not a file.")]
    Directory,
    #[error("This is {0}, not a regular file; reading it could block.")]
    Special(&'static str),
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

/// Opens a regular file (through links) for reading.
pub(super) fn open(path: &Path) -> Result<RegularFile, NotReadable> {
    check_type(std::fs::metadata(path)?.file_type())?;
    let file = File::options()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)?;
    let metadata = file.metadata()?;
    check_type(metadata.file_type())?;
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

#[cfg(test)]
mod tests {
    use super::super::test_context::Session;
    use super::*;

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
