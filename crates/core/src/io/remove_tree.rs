//! Removal of a directory with everything in it.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg as _;
use uuid::Uuid;

/// Removes a directory with everything below it. Follows no links. Does not recurse, so that a
/// tree of any depth needs few descriptors: nested directories are moved to the top before they are emptied.
///
/// # Errors
/// As the system reports.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let top = path.into_with_c_str(|name| open_directory(CWD, name))?;
    loop {
        let removals = read_names(&top)?.map(|name| match remove_entry(top.as_fd(), &name?) {
            // Another thread has removed it.
            Err(Errno::NOENT) => Ok(()),
            result => result,
        });
        let results: Vec<rustix::io::Result<()>> = removals.collect();
        // A removal that succeeded may have moved directories to the top: its names are read again.
        if results.iter().all(Result::is_err) {
            results.into_iter().collect::<rustix::io::Result<()>>()?;
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
    for inner in read_names(&directory)? {
        let inner = inner?;
        if unlinkat(&directory, &*inner, AtFlags::empty()).is_err() {
            // A directory that cannot be written to cannot get another parent.
            make_accessible(directory.as_fd(), &inner);
            // A random name, which no other entry has.
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

/// Gives the owner access to a directory. If this fails, removing its entries fails later.
fn make_accessible(parent: BorrowedFd<'_>, name: &CStr) {
    let (parent, flags) = (parent.as_raw_fd(), libc::AT_SYMLINK_NOFOLLOW);
    // SAFETY: the descriptor is open, and the name ends with a NUL byte. `rustix` has no such call for Linux.
    unsafe { libc::fchmodat(parent, name.as_ptr(), 0o700, flags) };
}

/// Returns the names in a directory, without `.` and `..`.
fn read_names(
    directory: &OwnedFd,
) -> rustix::io::Result<impl Iterator<Item = rustix::io::Result<CString>>> {
    let names = Dir::read_from(directory)?.map(|entry| Ok(entry?.file_name().to_owned()));
    let is_entry = |name: &CString| ![c".", c".."].contains(&name.as_c_str());
    Ok(names.filter(move |name| name.as_ref().map_or(true, is_entry)))
}
