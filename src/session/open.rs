//! Opens session files safely.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// The identity of a file, whatever its name.
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

/// Why a session cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The last part of the path is a symbolic link.
    #[error("is a symbolic link")]
    Link,
    /// It is a directory.
    #[error("is a directory")]
    Directory,
    /// It is a pipe, a device, …
    #[error("is not a regular file")]
    NotAFile,
    /// The system reported an error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The format is unknown.
    #[error("not a session file of a known agent")]
    Unknown,
}

/// Opens a regular file for reading. Does not follow links, and does not wait for the writer of a
/// pipe.
///
/// # Errors
/// It is not a regular file, or the system reported an error.
pub fn open_safely(path: &Path) -> Result<SessionFile, SessionError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => return Err(SessionError::Link),
        Err(rustix::io::Errno::NXIO) => return Err(SessionError::NotAFile),
        Err(error) => return Err(SessionError::Io(error.into())),
    };
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(SessionError::Directory);
    }
    if !metadata.is_file() {
        return Err(SessionError::NotAFile);
    }
    Ok(SessionFile {
        path: path.to_owned(),
        size: metadata.len(),
        identity: Identity::of(&metadata),
        file,
    })
}

impl Identity {
    /// The identity of the file with this metadata.
    pub fn of(metadata: &std::fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
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
            Mode::RUSR | Mode::WUSR,
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
