//! The private directory of a session, and the removal of old ones.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::SessionKey;

/// Timeout for the lock of a session that another process holds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between attempts to lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// The subdirectory for large results.
pub(crate) const RESULTS: &str = "tool-results";

/// A file that marks a directory as a session of turnpipe. Users of the session hold a shared lock on it;
/// removing the session takes an exclusive lock.
pub(super) const MARKER_FILE: &str = "turnpipe-session";

/// The directory with the state of all sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateRoot(pub PathBuf);

/// An error of session state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Other users could have changed the directory.
    #[error("{}: not a private directory of this user: {reason}", path.display())]
    Untrusted { path: PathBuf, reason: &'static str },
    /// Another process holds the lock of the session.
    #[error("{}: locked by another process", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A file has invalid contents. It was renamed.
    #[error("{}: unreadable state, set aside as state.json.damaged: {reason}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        reason: String,
    },
    /// An I/O error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl StateError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

impl StateRoot {
    /// Whether state of the session exists.
    pub fn has_session(&self, session: &SessionKey) -> bool {
        self.0.join(session.directory_name()).exists()
    }

    /// Opens the directory of a session, or creates it with mode 0700.
    ///
    /// # Errors
    /// The directory cannot be created, is a link, or is accessible to others.
    pub fn session(&self, session: &SessionKey) -> Result<SessionDirectory, StateError> {
        create_trusted(&self.0, WRITABLE_BY_OTHERS)?;
        let path = self.0.join(session.directory_name());
        let mark = path.join(MARKER_FILE);
        loop {
            create_trusted(&path, OPEN_TO_OTHERS)?;
            let opened = private_file(false).open(&mark);
            let in_use = match opened {
                // The directory was removed between the two steps.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(StateError::io(&mark))?,
            };
            in_use.lock_shared().map_err(StateError::io(&mark))?;
            // The mark may have been removed before it was locked.
            if mark.exists() {
                let in_use = Arc::new(in_use);
                return Ok(SessionDirectory { path, in_use });
            }
        }
    }
}

/// A directory that only this user can access. It is not removed while this value exists.
#[derive(Debug, Clone)]
pub struct SessionDirectory {
    path: PathBuf,
    #[expect(dead_code, reason = "holds a lock")]
    in_use: Arc<File>,
}

impl SessionDirectory {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a private subdirectory; creates it if it is missing.
    ///
    /// # Errors
    /// As for the session directory.
    pub fn subdirectory(&self, name: &str) -> Result<PathBuf, StateError> {
        let path = self.path.join(name);
        create_trusted(&path, OPEN_TO_OTHERS)?;
        Ok(path)
    }

    /// Locks the session against other processes until the returned file is dropped.
    ///
    /// # Errors
    /// Another process holds the lock for more than two seconds, or an I/O error.
    pub fn lock(&self) -> Result<File, StateError> {
        let path = self.path.join("lock");
        let file = private_file(false)
            .open(&path)
            .map_err(StateError::io(&path))?;
        match lock_within(&file, LOCK_TIMEOUT) {
            Ok(true) => Ok(file),
            Ok(false) => Err(StateError::Locked { path }),
            Err(source) => Err(StateError::Io { path, source }),
        }
    }
}

/// Locks a file. Returns false if another process holds the lock for longer than `timeout`.
///
/// # Errors
/// An I/O error.
pub(crate) fn lock_within(file: &File, timeout: Duration) -> io::Result<bool> {
    let deadline = Instant::now() + timeout;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_RETRY_INTERVAL),
        }
    }
}

/// Options that create or open a private file, never through a link.
pub(super) fn private_file(truncate: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).truncate(truncate).write(true);
    options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    options
}

/// Mode bits that are refused for the root directory: others could change its contents.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// Mode bits that are refused for a session directory: others could read it.
const OPEN_TO_OTHERS: u32 = 0o077;

/// Creates a directory and its parents, then checks that it is a real directory of this user without the
/// `refused` mode bits.
fn create_trusted(path: &Path, refused: u32) -> Result<(), StateError> {
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).map_err(StateError::io(path))?;
    let metadata = fs::symlink_metadata(path).map_err(StateError::io(path))?;
    let reason = if !metadata.is_dir() {
        "it is a link or a file"
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        "it belongs to another user"
    } else if metadata.mode() & refused != 0 {
        "it is accessible to others; run `chmod 700` on it"
    } else {
        return Ok(());
    };
    Err(StateError::Untrusted {
        path: path.to_owned(),
        reason,
    })
}

/// Files in the directory of a session, in addition to the marker file.
const STATE_FILES: &[&str] = &["lock", "state.json", "state.json.new", "state.json.damaged"];

/// The result of [`clean`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanReport {
    /// Files removed.
    pub files: u64,
    /// Their total size, in bytes.
    pub bytes: u64,
    /// Removed session directories.
    pub sessions: u64,
}

/// Removes the files of sessions that were last changed more than `age` before `now`, and the directories that
/// are empty afterwards. Only marked directories and files with known names are removed, links are not followed,
/// and sessions in use are skipped.
///
/// # Errors
/// The directory cannot be read, or a file cannot be removed.
pub fn clean(root: &StateRoot, age: Duration, now: SystemTime) -> Result<CleanReport, StateError> {
    let mut report = CleanReport::default();
    let oldest_kept = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    let sessions = match fs::read_dir(&root.0) {
        Ok(sessions) => sessions,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(report),
        Err(error) => return Err(StateError::io(&root.0)(error)),
    };
    for session in sessions {
        let path = session.map_err(StateError::io(&root.0))?.path();
        let is_directory = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        let mark = path.join(MARKER_FILE);
        let is_marked = fs::symlink_metadata(&mark).is_ok_and(|metadata| metadata.is_file());
        if !(is_directory && is_marked) {
            continue;
        }
        // The lock is held until the session is removed.
        let Ok(unused) = File::open(&mark).and_then(|file| Ok(file.try_lock().map(|()| file)?))
        else {
            continue;
        };
        let results = path.join(RESULTS);
        if fs::symlink_metadata(&results).is_ok_and(|metadata| metadata.is_dir()) {
            let is_result = |name: &str| name.strip_suffix(".txt").is_some();
            if remove_old(&results, is_result, oldest_kept, &mut report)? == 0 {
                fs::remove_dir(&results).map_err(StateError::io(&results))?;
            }
        }
        let is_state = |name: &str| STATE_FILES.contains(&name);
        let kept = remove_old(&path, is_state, oldest_kept, &mut report)?;
        let mark_is_old = is_old(
            &unused.metadata().map_err(StateError::io(&mark))?,
            oldest_kept,
        );
        if kept == 1 && mark_is_old {
            fs::remove_file(&mark).map_err(StateError::io(&mark))?;
            fs::remove_dir(&path).map_err(StateError::io(&path))?;
            report.sessions += 1;
        }
    }
    Ok(report)
}

fn is_old(metadata: &fs::Metadata, oldest_kept: SystemTime) -> bool {
    metadata.modified().is_ok_and(|time| time < oldest_kept)
}

/// Removes old files with the right names. Returns the number of remaining entries.
fn remove_old(
    directory: &Path,
    is_ours: impl Fn(&str) -> bool,
    oldest_kept: SystemTime,
    report: &mut CleanReport,
) -> Result<usize, StateError> {
    let mut kept = 0;
    for entry in fs::read_dir(directory).map_err(StateError::io(directory))? {
        let entry = entry.map_err(StateError::io(directory))?;
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).map_err(StateError::io(&path))?;
        let is_ours = entry.file_name().to_str().is_some_and(&is_ours);
        if metadata.is_file() && is_old(&metadata, oldest_kept) && is_ours {
            fs::remove_file(&path).map_err(StateError::io(&path))?;
            report.files += 1;
            report.bytes += metadata.len();
        } else {
            kept += 1;
        }
    }
    Ok(kept)
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
