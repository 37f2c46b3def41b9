//! Directories for the temporary files of children, which are removed with everything that the children left in them.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use turnpipe_core::io::remove_tree;

/// A new directory that is removed when it is dropped.
#[derive(Debug)]
pub struct ScratchDirectory {
    path: PathBuf,
    /// The open directory, which is locked as long as a process uses it.
    lock: Option<OwnedFd>,
    /// The parent directory, if the path leads through its descriptor.
    _parent: Option<OwnedFd>,
}

/// Age after which a directory that is not locked is not in use.
const MAX_HANDOVER: Duration = Duration::from_mins(1);

impl ScratchDirectory {
    /// Creates a directory in `parent` that only this user can read.
    ///
    /// # Errors
    /// As the system reports.
    pub fn new_in(parent: &Path) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("turnpipe-")
            .tempdir_in(parent)?;
        Ok(Self {
            path: directory.keep(),
            lock: None,
            _parent: None,
        })
    }

    /// Creates a locked directory in `parent`, which is created if it is missing. Removes the directories in `parent`
    /// whose processes have ended without removing them. Another process may take the directory over
    /// ([`ScratchDirectory::keep`], then [`ScratchDirectory::take_over`]).
    ///
    /// # Errors
    /// As the system reports.
    pub fn new_locked_in(parent: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(parent)?;
        for entry in std::fs::read_dir(parent)?.flatten() {
            let path = entry.path();
            let modified = entry.metadata().and_then(|facts| facts.modified());
            // A time in the future counts as new.
            let age = modified.map(|time| time.elapsed().unwrap_or_default());
            // A newer directory may be about to be locked.
            if age.is_ok_and(|age| age > MAX_HANDOVER) && lock_directory(&path).is_ok() {
                // On failure, the next process tries again.
                let _ = remove_tree(&path);
            }
        }
        let mut created = Self::new_in(parent)?;
        created.lock = Some(lock_directory(&created.path)?);
        Ok(created)
    }

    /// Takes over a directory that another process has kept. It can be removed even if its path becomes read-only.
    ///
    /// # Errors
    /// As the system reports.
    pub fn take_over(path: &Path) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let lock = lock_directory(path)?;
        let parent = rustix::fs::open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let parent_path = format!("/proc/self/fd/{}", parent.as_raw_fd());
        Ok(Self {
            path: Path::new(&parent_path).join(name),
            lock: Some(lock),
            _parent: Some(parent),
        })
    }

    /// Leaves the directory to another process. Returns its path.
    pub fn keep(self) -> PathBuf {
        let mut this = std::mem::ManuallyDrop::new(self);
        this.lock = None;
        std::mem::take(&mut this.path)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        // On failure, the next run removes the rest.
        let _ = remove_tree(&self.path);
    }
}

/// Locks a directory.
///
/// # Errors
/// A process has locked it, or it cannot be opened.
fn lock_directory(path: &Path) -> io::Result<OwnedFd> {
    let directory = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _, symlink};

    use super::*;

    fn is_empty(directory: &Path) -> bool {
        fs::read_dir(directory).unwrap().next().is_none()
    }

    #[test]
    fn a_deep_tree_is_removed() {
        // In memory if possible: a disk takes milliseconds for each directory.
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        let scratch = ScratchDirectory::new_in(parent.path()).unwrap();
        let mut at = OwnedFd::from(fs::File::open(scratch.path()).unwrap());
        for _ in 0..3_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            rustix::fs::mkdirat(&at, "e", Mode::RWXU).unwrap();
            at = rustix::fs::openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        // A frame for each level would not fit.
        std::thread::Builder::new()
            .stack_size(64 << 10)
            .spawn(move || drop(scratch))
            .unwrap()
            .join()
            .unwrap();
        assert!(is_empty(parent.path()));
    }

    #[test]
    fn permissions_do_not_keep_anything() {
        let parent = tempfile::tempdir().unwrap();
        for mode in [0o000, 0o100, 0o300, 0o400, 0o500] {
            let scratch = ScratchDirectory::new_in(parent.path()).unwrap();
            let inner = scratch.path().join("a/b");
            fs::create_dir_all(inner.join("c")).unwrap();
            fs::write(inner.join("file"), "x").unwrap();
            let directories = ["a/b/c", "a/b", "a", ""].map(|name| scratch.path().join(name));
            for directory in directories {
                fs::set_permissions(directory, fs::Permissions::from_mode(mode)).unwrap();
            }
            drop(scratch);
            assert!(is_empty(parent.path()), "{mode:o}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let mut builder = fs::DirBuilder::new();
        builder
            .mode(0o500)
            .create(outside.path().join("locked"))
            .unwrap();
        let scratch = ScratchDirectory::new_in(parent.path()).unwrap();
        fs::create_dir(scratch.path().join("d")).unwrap();
        for link in ["link", "d/link"] {
            symlink(outside.path(), scratch.path().join(link)).unwrap();
            symlink(
                outside.path().join("locked"),
                scratch.path().join(format!("{link}-to-locked")),
            )
            .unwrap();
        }
        drop(scratch);
        assert!(is_empty(parent.path()));
        assert!(outside.path().join("kept").exists());
        let locked = outside.path().join("locked").metadata().unwrap();
        assert_eq!(locked.permissions().mode() & 0o777, 0o500);
    }

    #[test]
    fn a_link_in_place_of_the_directory_is_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let scratch = ScratchDirectory::new_in(parent.path()).unwrap();
        fs::remove_dir(scratch.path()).unwrap();
        symlink(outside.path(), scratch.path()).unwrap();
        drop(scratch);
        assert!(outside.path().join("kept").exists());
    }

    #[test]
    fn wide_and_odd_names_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = ScratchDirectory::new_in(parent.path()).unwrap();
        for number in 0..300 {
            let directory = scratch.path().join(format!("{number}/ \n/..."));
            fs::create_dir_all(&directory).unwrap();
            for file in 0..5 {
                fs::write(directory.join(format!("-{file}")), "x").unwrap();
            }
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, scratch.path().join("1/pipe"), Mode::RWXU).unwrap();
        drop(scratch);
        assert!(is_empty(parent.path()));
    }
}
