//! The private directory of a session.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::OFlags;

use super::SessionKey;
use super::file_lock::FileLock;
use turnpipe_core::io::{open_regular, unwritable_error};

/// The variable and the option that name the state directory.
pub const STATE_SETTING: &str = "XDG_STATE_HOME or `--state-dir`";

/// Timeout for the lock of a session that another process holds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval between attempts to lock.
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// The subdirectory for large results.
pub const RESULTS: &str = "tool-results";

/// The subdirectory for temporary files of commands in a workspace. The time of its change is that of its last use.
pub(super) const TEMPORARY: &str = "tmp";

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
    Untrusted {
        /// The directory.
        path: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// The directory cannot be created.
    #[error("{0}")]
    Unwritable(io::Error),
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
        /// The reason.
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
    /// Creates the error of an operation on a path.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
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
    pub fn open_session(&self, session: &SessionKey) -> Result<SessionDirectory, StateError> {
        create_trusted(&self.0, WRITABLE_BY_OTHERS)?;
        let path = self.0.join(session.directory_name());
        let mark = path.join(MARKER_FILE);
        loop {
            create_trusted(&path, OPEN_TO_OTHERS)?;
            let in_use = match open_private(&mark) {
                // The directory was removed between the two steps.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(StateError::io(&mark))?,
            };
            in_use.lock_shared().map_err(StateError::io(&mark))?;
            // The mark may have been removed before it was locked.
            if mark.exists() {
                let in_use = Arc::new(FileLock(in_use));
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
    in_use: Arc<FileLock>,
}

impl SessionDirectory {
    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a private subdirectory; creates it if it is missing.
    ///
    /// # Errors
    /// As for the session directory.
    pub fn create_subdirectory(&self, name: &str) -> Result<PathBuf, StateError> {
        let path = self.path.join(name);
        create_trusted(&path, OPEN_TO_OTHERS)?;
        Ok(path)
    }

    /// Returns the directory for temporary files of commands in a workspace; creates it if it is missing.
    ///
    /// # Errors
    /// As for the session directory.
    pub fn create_temporary(&self) -> Result<PathBuf, StateError> {
        let path = self.create_subdirectory(TEMPORARY)?;
        File::open(&path)
            .and_then(|directory| directory.set_modified(SystemTime::now()))
            .map_err(StateError::io(&path))?;
        Ok(path)
    }

    /// Locks the session against other processes until the returned lock is dropped.
    ///
    /// # Errors
    /// Another process holds the lock for more than two seconds, or an I/O error.
    pub fn lock(&self) -> Result<FileLock, StateError> {
        let path = self.path.join("lock");
        let file = open_private(&path).map_err(StateError::io(&path))?;
        match lock_within(&file, LOCK_TIMEOUT) {
            Ok(true) => Ok(FileLock(file)),
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

/// Creates or opens a private file, never through a link.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    open_regular(path, &mut options, OFlags::NOFOLLOW)
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
    let to_error = |error| StateError::Unwritable(unwritable_error(path, &error, STATE_SETTING));
    builder.create(path).map_err(to_error)?;
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::state::SessionKey;

    fn root() -> (tempfile::TempDir, StateRoot) {
        let directory = tempfile::tempdir().unwrap();
        let root = StateRoot(directory.path().join("state"));
        (directory, root)
    }

    #[test]
    fn a_session_directory_is_private() {
        let (_guard, root) = root();
        let session = root.open_session(&"../x".into()).unwrap();
        assert_eq!(session.path().parent().unwrap(), root.0);
        let mode = fs::metadata(session.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_directory_that_others_may_enter_is_refused() {
        let (_guard, root) = root();
        let path = root.open_session(&"s".into()).unwrap().path().to_owned();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(
            root.open_session(&"s".into()),
            Err(StateError::Untrusted { .. })
        ));
    }

    #[test]
    fn a_link_is_refused() {
        let (guard, root) = root();
        root.open_session(&"other".into()).unwrap();
        let elsewhere = guard.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
        let path = root.0.join(SessionKey::from("s").directory_name());
        symlink(&elsewhere, path).unwrap();
        assert!(matches!(
            root.open_session(&"s".into()),
            Err(StateError::Untrusted { .. })
        ));
    }

    #[test]
    fn a_lock_is_private_and_never_taken_through_a_link() {
        let (guard, root) = root();
        let session = root.open_session(&"s".into()).unwrap();
        drop(session.lock().unwrap());
        let lock = session.path().join("lock");
        let mode = fs::metadata(&lock).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_file(&lock).unwrap();
        symlink(guard.path().join("target"), &lock).unwrap();
        assert!(session.lock().is_err());
        assert!(!guard.path().join("target").exists());
    }

    #[test]
    fn a_second_lock_times_out() {
        let (_guard, root) = root();
        let session = root.open_session(&"s".into()).unwrap();
        let held = session.lock().unwrap();
        assert!(matches!(session.lock(), Err(StateError::Locked { .. })));
        drop(held);
        session.lock().unwrap();
    }
}
