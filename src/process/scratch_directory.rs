//! Directories for the temporary files of children, removed whatever the children left in them.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, flock, openat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::path::Arg as _;
use uuid::Uuid;

/// A new directory that is removed when it is dropped.
#[derive(Debug)]
pub struct ScratchDirectory {
    path: PathBuf,
    /// The directory, locked as long as a process uses it.
    lock: Option<OwnedFd>,
    /// The directory that it is in, if the path is relative to it.
    _parent: Option<OwnedFd>,
}

/// Time after which a directory that is not locked has no process.
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

    /// Creates a directory in `parent`, which is created if it is missing, and removes those there whose processes have
    /// ended without removing them. Another process may take it over ([`ScratchDirectory::keep`], then
    /// [`ScratchDirectory::take_over`]).
    ///
    /// # Errors
    /// As the system reports.
    pub fn new_locked_in(parent: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(parent)?;
        for entry in std::fs::read_dir(parent)?.flatten() {
            let path = entry.path();
            let age = entry.metadata().and_then(|facts| facts.modified());
            let age = age.map(|created| created.elapsed().unwrap_or_default());
            // A younger one may be about to be locked.
            if age.is_ok_and(|age| age > MAX_HANDOVER) && lock(&path).is_ok() {
                // The next process tries again.
                let _ = remove_tree(&path);
            }
        }
        let mut created = Self::new_in(parent)?;
        created.lock = Some(lock(&created.path)?);
        Ok(created)
    }

    /// Takes over a directory that another process has kept. It is removed also if files cannot be changed any more
    /// by its path.
    ///
    /// # Errors
    /// As the system reports.
    pub fn take_over(path: &Path) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let lock = lock(path)?;
        let parent = rustix::fs::open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let path = format!("/proc/self/fd/{}", parent.as_raw_fd());
        Ok(Self {
            path: Path::new(&path).join(name),
            lock: Some(lock),
            _parent: Some(parent),
        })
    }

    /// Leaves the directory to another process.
    pub fn keep(self) -> PathBuf {
        let mut this = std::mem::ManuallyDrop::new(self);
        this.lock = None;
        std::mem::take(&mut this.path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchDirectory {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}

/// Locks a directory that no process uses.
fn lock(path: &Path) -> io::Result<OwnedFd> {
    let directory = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    flock(&directory, FlockOperation::NonBlockingLockExclusive)?;
    Ok(directory)
}

/// Removes a directory with everything below it. Follows no links. Uses the same stack and descriptors for a tree of
/// any depth: nested directories are moved to the top before they are emptied.
///
/// # Errors
/// As the system reports.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let top = path.into_with_c_str(|name| open_directory(CWD, name))?;
    loop {
        let removed = names(&top)?.map(|name| match remove_entry(top.as_fd(), &name?) {
            // Another thread has removed it: a directory in this one has an owner of its own.
            Err(Errno::NOENT) => Ok(()),
            removed => removed,
        });
        let removed: Vec<rustix::io::Result<()>> = removed.collect();
        // Else the pass may have moved more entries to the top.
        if removed.iter().all(Result::is_err) {
            removed.into_iter().collect::<rustix::io::Result<()>>()?;
            return std::fs::remove_dir(path);
        }
    }
}

/// Removes an entry of `top`. Moves directories in it to `top`.
fn remove_entry(top: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<()> {
    if unlinkat(top, name, AtFlags::empty()).is_ok() {
        return Ok(());
    }
    let directory = open_directory(top, name)?;
    for inner in names(&directory)? {
        let inner = inner?;
        if unlinkat(&directory, &*inner, AtFlags::empty()).is_err() {
            // A directory that cannot be written to cannot get another parent.
            make_accessible(directory.as_fd(), &inner);
            // A name that no process can have taken.
            renameat(&directory, &*inner, top, Uuid::new_v4().to_string())?;
        }
    }
    unlinkat(top, name, AtFlags::REMOVEDIR)
}

fn open_directory(parent: BorrowedFd<'_>, name: &CStr) -> rustix::io::Result<OwnedFd> {
    make_accessible(parent, name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}

/// Lets the owner use a directory. What needs that fails later if this fails.
fn make_accessible(parent: BorrowedFd<'_>, name: &CStr) {
    let (parent, flags) = (parent.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: the descriptor is open, and the name ends with a NUL byte. `rustix` has no such call for Linux.
    unsafe { libc::fchmodat(parent, name.as_ptr(), 0o700, flags) };
}

/// Returns the names in a directory.
fn names(
    directory: &OwnedFd,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<CString>>> {
    let names = Dir::read_from(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    let is_entry = |name: &CString| ![c".", c".."].contains(&name.as_c_str());
    Ok(names.filter(move |name| name.as_ref().map_or(true, is_entry)))
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
            at = openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
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
        rustix::fs::mkfifoat(CWD, scratch.path().join("1/pipe"), Mode::RWXU).unwrap();
        drop(scratch);
        assert!(is_empty(parent.path()));
    }
}
