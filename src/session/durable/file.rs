//! A session file, open and locked for appending.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::append::{AppendError, Appended, append_record};
use super::file_system::{FileSystems, network_of};
use super::tail::{Tail, uninterrupted};
#[cfg(unix)]
use crate::process::write_detached;

/// How long to wait for other turnpipe processes. Each holds the lock for less than a millisecond,
/// but on a busy machine many may come first.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to retry the lock.
const RETRY: Duration = Duration::from_millis(2);
/// The size of a page, in bytes. A process that is killed inside `write` leaves complete pages
/// behind.
#[cfg(unix)]
const PAGE: u64 = 4096;

/// Whether the file must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must exist.
    Required,
    /// It is created with mode 0600 if it is missing.
    CreatedIfMissing,
}

/// How durable a record is after a crash of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sync {
    /// All data is on disk before the run ends.
    #[default]
    Data,
    /// The system writes the data to disk when it likes.
    #[value(name = "none")]
    Never,
}

/// Why a file cannot be written to. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It must not be written to.
    #[error("{}: {reason}", path.display())]
    Refused {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// It is on a network file system, where nothing keeps writers apart.
    #[error("{}: is on a network file system ({name})", path.display())]
    Network {
        /// The path.
        path: PathBuf,
        /// The name of the file system.
        name: &'static str,
    },
    /// Another process holds the lock.
    #[error("{}: locked by another process", path.display())]
    Locked {
        /// The path.
        path: PathBuf,
    },
    /// The system reported an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// A regular file with one name, under an advisory lock that turnpipe's own processes respect.
/// Agents do not, so nothing here relies on the lock to protect their records.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    path: PathBuf,
}

impl LockedFile {
    /// Opens and locks a local file. Does not follow links, and does not wait for a FIFO.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open(path: &Path, presence: Presence) -> Result<Self, OpenError> {
        Self::open_on(path, presence, FileSystems::Local)
    }

    /// The same, on these file systems.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub fn open_on(
        path: &Path,
        presence: Presence,
        systems: FileSystems,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Io {
            path: path.to_owned(),
            source,
        };
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        if presence == Presence::CreatedIfMissing {
            options.create(true);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        }
        let file = options
            .open(path)
            .map_err(|error| refusal_or(error, path))?;
        let metadata = file.metadata().map_err(failed)?;
        if let Some(reason) = reason_to_refuse(&metadata) {
            return Err(OpenError::Refused {
                path: path.to_owned(),
                reason,
            });
        }
        if systems == FileSystems::Local
            && let Some(name) = network_of(&file).map_err(failed)?
        {
            return Err(OpenError::Network {
                path: path.to_owned(),
                name,
            });
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => {
                    return Ok(Self {
                        file,
                        path: path.to_owned(),
                    });
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(RETRY);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(OpenError::Locked {
                        path: path.to_owned(),
                    });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub(in crate::session) fn file(&self) -> &File {
        &self.file
    }

    /// The size in bytes.
    ///
    /// # Errors
    /// As the system reports.
    pub fn size(&self) -> io::Result<u64> {
        uninterrupted(|| Tail::size(&self.file))
    }

    /// Reads at an offset; 0 bytes at the end.
    ///
    /// # Errors
    /// As the system reports.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        uninterrupted(|| Tail::read_at(&self.file, buffer, offset))
    }

    /// Appends one record; see [`append_record`].
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn append(&self, record: &str) -> Result<Appended, AppendError> {
        append_record(&self.file, record)
    }

    /// Makes all appended records durable, if requested. Call it once, after the last record.
    ///
    /// # Errors
    /// The state on disk is then unknown. It is not retried.
    pub fn finish(&self, sync: Sync) -> io::Result<()> {
        match sync {
            Sync::Data => uninterrupted(|| Tail::sync(&self.file)),
            Sync::Never => Ok(()),
        }
    }
}

/// Replaces the errors of some kinds of files with a plain reason.
fn refusal_or(source: io::Error, path: &Path) -> OpenError {
    let refused = |reason| OpenError::Refused {
        path: path.to_owned(),
        reason,
    };
    #[cfg(unix)]
    match source.raw_os_error() {
        Some(libc::ELOOP) => return refused("it is a link"),
        Some(libc::ENXIO) => return refused("it is not a regular file"),
        _ => {}
    }
    match source.kind() {
        io::ErrorKind::IsADirectory => refused("it is a directory"),
        _ => OpenError::Io {
            path: path.to_owned(),
            source,
        },
    }
}

#[cfg(unix)]
fn reason_to_refuse(metadata: &std::fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    if !metadata.is_file() {
        return Some("it is not a regular file");
    }
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (metadata.nlink() != 1).then_some("it has more than one name")
}

#[cfg(not(unix))]
fn reason_to_refuse(metadata: &std::fs::Metadata) -> Option<&'static str> {
    (!metadata.is_file()).then_some("it is not a regular file")
}

#[cfg(unix)]
impl Tail for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        // Within one page, a kill leaves either all or nothing. A longer write is left to another
        // process, which is not killed with this one.
        let start = self.metadata()?.len() % PAGE;
        if start + bytes.len() as u64 > PAGE {
            write_detached(std::os::fd::AsFd::as_fd(self), bytes)
        } else {
            io::Write::write(&mut &*self, bytes)
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn refused(path: &Path) -> bool {
        matches!(
            LockedFile::open(path, Presence::Required),
            Err(OpenError::Refused { .. })
        )
    }

    /// Refuses files that must not be written to.
    #[test]
    fn links_pipes_devices_directories_and_second_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::write(&target, "{}\n").unwrap();
        let link = folder.path().join("link");
        symlink(&target, &link).unwrap();
        assert!(refused(&link));
        assert!(refused(folder.path()));
        assert!(refused(Path::new("/dev/null")));
        let fifo = folder.path().join("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        assert!(refused(&fifo));
        let second = folder.path().join("second");
        fs::hard_link(&target, &second).unwrap();
        assert!(refused(&target));
        assert_eq!(fs::read_to_string(&target).unwrap(), "{}\n");
    }

    #[test]
    fn a_missing_file_is_created_only_on_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        assert!(LockedFile::open(&path, Presence::Required).is_err());
        let file = LockedFile::open(&path, Presence::CreatedIfMissing).unwrap();
        file.append("{\"n\":1}").unwrap();
        file.finish(Sync::Data).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"n\":1}\n");
    }

    /// Our own writers lose nothing, keep their order, and leave no blank lines.
    #[test]
    fn writers_side_by_side_keep_every_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        fs::write(&path, "").unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..200 {
                        let file = LockedFile::open(path, Presence::Required).unwrap();
                        let text = "x".repeat(number * 7 % 900);
                        file.append(&format!(
                            "{{\"writer\":{writer},\"n\":{number},\"t\":\"{text}\"}}"
                        ))
                        .unwrap();
                    }
                });
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut next = [0; 8];
        for line in text.lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let writer = usize::try_from(record["writer"].as_u64().unwrap()).unwrap();
            assert_eq!(record["n"], next[writer]);
            next[writer] += 1;
        }
        assert_eq!(next, [200; 8]);
    }
}
