//! A session file, open and locked for appending.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::OFlags;

use super::append::{AppendError, Tail, append_record};
use super::detached_write::write_detached;
use crate::state::lock_within;
use turnpipe_core::io::{open_regular, retry_interrupted};

/// Maximum time to wait for other turnpipe processes. Each holds the lock for less than a millisecond,
/// but many may be queued.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// Size of a page, in bytes. A process that is killed inside `write` leaves complete pages.
const PAGE_SIZE: u64 = 4096;

/// Requirement on the existence of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The file must exist.
    Required,
    /// It is created with mode 0600 if it is missing.
    CreatedIfMissing,
}

/// The durability of records after a crash of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Sync {
    /// All data is on disk before the run ends.
    #[default]
    Data,
    /// The system decides when data reaches the disk.
    #[cfg_attr(feature = "clap", value(name = "none"))]
    Never,
}

/// A record that is not in a file, or whose state on disk is unknown.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}", path.display())]
pub struct RecordError {
    /// The file.
    pub path: PathBuf,
    /// The cause.
    pub cause: RecordFailure,
}

/// The reason why a record is not in a file.
#[derive(Debug, thiserror::Error)]
pub enum RecordFailure {
    /// The file must not be written to. Nothing was changed.
    #[error("{0}")]
    Refused(&'static str),
    /// The file is on a network file system of this name, which does not separate writers. Nothing
    /// was changed.
    #[error("is on a network file system ({0})")]
    Network(&'static str),
    /// Another process holds the lock. Nothing was changed.
    #[error("locked by another process")]
    Locked,
    /// Opening failed. Nothing was changed.
    #[error("{0}")]
    Open(io::Error),
    /// Writing failed.
    #[error("{0}")]
    Append(#[from] AppendError),
    /// Reading or syncing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// A regular file with one name, under an advisory lock that turnpipe's own processes respect.
/// Agents do not, so nothing here relies on the lock to protect their records.
#[derive(Debug)]
pub struct LockedFile {
    file: File,
    path: PathBuf,
}

impl LockedFile {
    /// Opens and locks a file on one of these file systems. Does not follow links, and does not wait
    /// for a FIFO.
    ///
    /// # Errors
    /// The file must not be written to, cannot be opened, or another process holds the lock.
    pub fn open(
        path: &Path,
        presence: Presence,
        systems: FileSystems,
    ) -> Result<Self, RecordError> {
        let file = open(path, presence, systems).map_err(|cause| RecordError {
            path: path.to_owned(),
            cause,
        })?;
        Ok(Self {
            file,
            path: path.to_owned(),
        })
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the open file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns an error about this file.
    pub(crate) fn error(&self, cause: impl Into<RecordFailure>) -> RecordError {
        RecordError {
            path: self.path.clone(),
            cause: cause.into(),
        }
    }

    /// Returns the size in bytes.
    ///
    /// # Errors
    /// As the system reports.
    pub fn size(&self) -> Result<u64, RecordError> {
        Tail::size(&self.file).map_err(|error| self.error(error))
    }

    /// Appends one record. Returns its offset. See [`append_record`].
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn append(&self, record: &str) -> Result<u64, RecordError> {
        append_record(&self.file, record).map_err(|error| self.error(error))
    }

    /// Appends one record and restores the modification time, unless another program wrote meanwhile.
    ///
    /// # Errors
    /// See [`AppendError`].
    pub fn append_quietly(&self, record: &str) -> Result<u64, RecordError> {
        let before = self.file.metadata().map_err(|error| self.error(error))?;
        let offset = self.append(record)?;
        let length = record.len() as u64 + 1;
        // A newline ended an unfinished line before the record.
        let is_alone = offset - before.len() <= 1 && self.size()? == offset + length;
        if let Ok(modified) = before.modified()
            && is_alone
        {
            // The time only decides the order of lists.
            let _ = self.file.set_modified(modified);
        }
        Ok(offset)
    }

    /// Makes all appended records durable, if requested. Call it once, after the last record.
    ///
    /// # Errors
    /// The state on disk is then unknown. It is not retried.
    pub fn finish(&self, sync: Sync) -> Result<(), RecordError> {
        match sync {
            Sync::Data => {
                retry_interrupted(|| self.file.sync_data()).map_err(|error| self.error(error))
            }
            Sync::Never => Ok(()),
        }
    }
}

fn open(path: &Path, presence: Presence, systems: FileSystems) -> Result<File, RecordFailure> {
    let mut options = OpenOptions::new();
    let is_created = presence == Presence::CreatedIfMissing;
    options
        .read(true)
        .append(true)
        .create(is_created)
        .mode(0o600);
    let opened = open_regular(path, &mut options, OFlags::NOFOLLOW);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => RecordFailure::Refused("it is a link"),
        Some(libc::EISDIR) => RecordFailure::Refused("it is a directory"),
        Some(_) => RecordFailure::Open(error),
        None => RecordFailure::Refused("it is not a regular file"),
    })?;
    let metadata = file.metadata()?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(RecordFailure::Refused("it belongs to another user"));
    }
    if metadata.nlink() != 1 {
        return Err(RecordFailure::Refused("it has more than one name"));
    }
    if systems == FileSystems::Local
        && let Some(name) = find_network_file_system(&file)?
    {
        return Err(RecordFailure::Network(name));
    }
    if !lock_within(&file, LOCK_TIMEOUT).map_err(RecordFailure::Open)? {
        return Err(RecordFailure::Locked);
    }
    Ok(file)
}

impl Tail for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, offset)
    }

    fn append(&self, bytes: &[u8]) -> io::Result<usize> {
        // Within one page, a kill leaves either all or nothing. A longer write is left to another
        // process, which is not killed with this one.
        let start = self.metadata()?.len() % PAGE_SIZE;
        if start + bytes.len() as u64 > PAGE_SIZE {
            write_detached(self.as_fd(), bytes)
        } else {
            io::Write::write(&mut &*self, bytes)
        }
    }
}

/// Types of network file systems (`statfs(2)`). There `O_APPEND` is not atomic between machines,
/// and locks may have no effect.
#[cfg(target_os = "linux")]
const NETWORK_FILE_SYSTEMS: [(u32, &str); 14] = [
    (0x0000_6969, "nfs"),
    (0x0000_517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x00c3_6400, "ceph"),
    (0x0000_564c, "ncp"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x1983_0326, "beegfs"),
    (0x0116_1970, "gfs2"),
];

/// The file systems that may be written to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileSystems {
    /// Local file systems.
    #[default]
    Local,
    /// All file systems. The caller guarantees that nothing else writes to the file.
    Any,
}

/// Returns the name of the file system of `file`, if it is a network file system.
///
/// # Errors
/// As the system reports.
#[cfg(target_os = "linux")]
pub(super) fn find_network_file_system(file: &File) -> io::Result<Option<&'static str>> {
    let kind = rustix::fs::fstatfs(file)?.f_type;
    Ok(file_system_name(u64::try_from(kind).unwrap_or(0)))
}

/// Other systems cannot detect network file systems.
#[cfg(not(target_os = "linux"))]
pub(super) fn find_network_file_system(_: &File) -> io::Result<Option<&'static str>> {
    Ok(None)
}

/// Returns the name of a file system. Only the lower half of the number counts, because some systems sign-extend it.
#[cfg(target_os = "linux")]
fn file_system_name(kind: u64) -> Option<&'static str> {
    let known = NETWORK_FILE_SYSTEMS
        .iter()
        .find(|(number, _)| u64::from(*number) == kind & 0xffff_ffff);
    known.map(|(_, name)| *name)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn refused(path: &Path) -> bool {
        matches!(
            LockedFile::open(path, Presence::Required, FileSystems::Local),
            Err(RecordError {
                cause: RecordFailure::Refused(_),
                ..
            })
        )
    }

    /// Files that must not be written to are refused.
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
        assert!(LockedFile::open(&path, Presence::Required, FileSystems::Local).is_err());
        let file = LockedFile::open(&path, Presence::CreatedIfMissing, FileSystems::Local).unwrap();
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
                        let file =
                            LockedFile::open(path, Presence::Required, FileSystems::Local).unwrap();
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

#[cfg(test)]
mod quiet_tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use super::*;

    /// Also in an empty file, and behind an unfinished line.
    #[test]
    fn a_quiet_record_keeps_the_modification_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        for (before, offset) in [("", 0), ("{}\n", 3), ("{\"a\"", 5)] {
            fs::write(&path, before).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
            file.set_modified(old).unwrap();
            let locked = LockedFile::open(&path, Presence::Required, FileSystems::Local).unwrap();
            assert_eq!(
                locked.append_quietly("{\"b\":1}").unwrap(),
                offset,
                "{before}"
            );
            assert_eq!(
                path.metadata().unwrap().modified().unwrap(),
                old,
                "{before}"
            );
            locked.append("{}").unwrap();
            assert_ne!(
                path.metadata().unwrap().modified().unwrap(),
                old,
                "{before}"
            );
        }
    }
}

#[cfg(test)]
mod file_system_tests {
    use super::*;

    #[test]
    fn network_file_systems_are_recognised() {
        assert_eq!(file_system_name(0x6969), Some("nfs"));
        assert_eq!(file_system_name(0xffff_ffff_ff53_4d42), Some("cifs"));
        // ext4, tmpfs, btrfs, overlay.
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630] {
            assert_eq!(file_system_name(local), None);
        }
        let file = tempfile::tempfile().unwrap();
        assert_eq!(find_network_file_system(&file).unwrap(), None);
    }
}
