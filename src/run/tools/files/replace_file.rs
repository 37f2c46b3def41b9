//! Replaces the content of a file atomically.
//!
//! The content is written to a temporary file in the same directory, which is then renamed to the target, so
//! that readers see the old or the new content. If the target has several names (hard links), or its owner,
//! attributes or directory do not allow this, it is overwritten in place: keeping its identity is more
//! important.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::Path;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use crate::state::FileStamp;

/// The reason why the content was not replaced. The target is unchanged unless writing in place failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ReplaceError {
    #[error("The file was changed by something else in the meantime. Read it again.")]
    Changed,
    #[error("The file cannot be written: {0}")]
    Failed(#[from] io::Error),
}

/// Replaces the content of `target` (links resolved) if it is still in the `expected` state, or still missing if
/// that is `None`. Creates missing directories. Keeps the permissions of an existing file. Returns the new state
/// of the file.
pub(super) fn replace(
    target: &Path,
    bytes: &[u8],
    expected: Option<FileStamp>,
) -> Result<FileStamp, ReplaceError> {
    match expected {
        None => create(target, bytes),
        Some(stamp) => overwrite(target, bytes, stamp),
    }
}

fn create(target: &Path, bytes: &[u8]) -> Result<FileStamp, ReplaceError> {
    let directory = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let mut draft = draft_beside(target, 0o666)?;
    let stamp = fill(&mut draft, bytes)?;
    match fs::hard_link(&draft, target) {
        Ok(()) => Ok(stamp),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ReplaceError::Changed),
        // The file system has no hard links.
        Err(_) if target.symlink_metadata().is_err() => {
            rename(draft, target)?;
            Ok(stamp)
        }
        Err(_) => Err(ReplaceError::Changed),
    }
}

fn overwrite(target: &Path, bytes: &[u8], stamp: FileStamp) -> Result<FileStamp, ReplaceError> {
    // Open for writing first: a rename would also replace a file that is not writable.
    let mut file = File::options()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW)
        .open(target)?;
    let metadata = file.metadata()?;
    if FileStamp::from_metadata(&metadata) != stamp {
        return Err(ReplaceError::Changed);
    }
    let draft = if metadata.nlink() == 1 {
        draft_beside(target, 0o600)
            .and_then(|draft| copy_metadata(draft.as_file(), &file, &metadata).map(|()| draft))
            .ok()
    } else {
        None
    };
    let Some(mut draft) = draft else {
        file.set_len(0)?;
        file.write_all(bytes)?;
        return Ok(FileStamp::from_metadata(&file.metadata()?));
    };
    let new_stamp = fill(&mut draft, bytes)?;
    if FileStamp::read(target)? != stamp {
        return Err(ReplaceError::Changed);
    }
    rename(draft, target)?;
    Ok(new_stamp)
}

/// Creates a temporary file, which is removed when dropped.
fn draft_beside(target: &Path, mode: u32) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(".turnpipe-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(target.parent().unwrap_or(Path::new("/")))
}

/// Copies the owner, attributes and mode of the target.
fn copy_metadata(draft: &File, target: &File, metadata: &Metadata) -> io::Result<()> {
    let draft_metadata = draft.metadata()?;
    if (draft_metadata.uid(), draft_metadata.gid()) != (metadata.uid(), metadata.gid()) {
        fchown(draft, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    copy_attributes(target, draft)?;
    draft.set_permissions(metadata.permissions())
}

/// Writes the content to disk: otherwise, a renamed file could be empty after a power failure.
fn fill(draft: &mut NamedTempFile, bytes: &[u8]) -> io::Result<FileStamp> {
    draft.write_all(bytes)?;
    draft.as_file().sync_data()?;
    Ok(FileStamp::from_metadata(&draft.as_file().metadata()?))
}

fn rename(draft: NamedTempFile, target: &Path) -> io::Result<()> {
    draft.persist(target).map(drop).map_err(io::Error::from)
}

/// Sets exactly the extended attributes of `from` on `to`, including access lists.
fn copy_attributes(from: &File, to: &File) -> io::Result<()> {
    let (attributes_of_source, attributes_of_target) = (attributes(from)?, attributes(to)?);
    for name in attributes_of_target
        .keys()
        .filter(|name| !attributes_of_source.contains_key(*name))
    {
        fremovexattr(to, name)?;
    }
    for (name, value) in &attributes_of_source {
        if attributes_of_target.get(name) != Some(value) {
            fsetxattr(to, name, value, XattrFlags::empty())?;
        }
    }
    Ok(())
}

fn attributes(file: &File) -> io::Result<BTreeMap<CString, Vec<u8>>> {
    /// The maximum of Linux for all names, and for a value.
    const MAX_ATTRIBUTE_BYTES: usize = 64 * 1024;
    let mut names = Vec::with_capacity(MAX_ATTRIBUTE_BYTES);
    match flistxattr(file, rustix::buffer::spare_capacity(&mut names)) {
        Ok(_) => {}
        Err(Errno::NOTSUP) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.into()),
    }
    let names = names.split_inclusive(|byte| *byte == 0);
    names
        .filter_map(|name| CString::from_vec_with_nul(name.to_owned()).ok())
        .map(|name| {
            let mut value = Vec::with_capacity(MAX_ATTRIBUTE_BYTES);
            fgetxattr(file, &name, rustix::buffer::spare_capacity(&mut value))?;
            Ok((name, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::run::tools::test_context::Session;

    fn names(session: &Session) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(session.path(""))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn creates_with_directories_and_leaves_nothing_else() {
        let session = Session::new();
        let target = session.path("deep/er/file");
        let stamp = replace(&target, b"new", None).unwrap();
        assert_eq!(session.content("deep/er/file"), "new");
        assert_eq!(FileStamp::read(&target).unwrap(), stamp);
        assert_eq!(fs::read_dir(session.path("deep/er")).unwrap().count(), 1);
        assert_eq!(fs::metadata(&target).unwrap().nlink(), 1);
    }

    #[test]
    fn creating_never_replaces_a_file() {
        let session = Session::new();
        session.write("file", "old");
        let result = replace(&session.path("file"), b"new", None);
        assert!(matches!(result, Err(ReplaceError::Changed)));
        assert_eq!(session.content("file"), "old");
        assert_eq!(names(&session), ["file"]);
    }

    #[test]
    fn overwriting_keeps_the_mode_and_replaces_the_inode() {
        let session = Session::new();
        session.write("file", "old");
        let path = session.path("file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        let before = fs::metadata(&path).unwrap();
        let stamp = FileStamp::from_metadata(&before);
        let stamp = replace(&path, b"newer", Some(stamp)).unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(session.content("file"), "newer");
        assert_eq!(after.permissions().mode() & 0o7777, 0o751);
        assert_ne!(after.ino(), before.ino());
        assert_eq!(FileStamp::from_metadata(&after), stamp);
        assert_eq!(names(&session), ["file"]);
    }

    #[test]
    fn attributes_and_access_lists_are_kept() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        // Version 2: owner and group may write, the user 1 may read, the mask denies writing to others.
        let rows: [(u16, u16, u32); 5] = [
            (1, 6, u32::MAX),
            (2, 4, 1),
            (4, 6, u32::MAX),
            (0x10, 4, u32::MAX),
            (0x20, 0, u32::MAX),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, rights, id) in rows {
            list.extend(tag.to_le_bytes());
            list.extend(rights.to_le_bytes());
            list.extend(id.to_le_bytes());
        }
        for (name, value) in [
            ("user.origin", b"here".as_slice()),
            ("system.posix_acl_access", list.as_slice()),
        ] {
            let session = Session::new();
            session.write("file", "old");
            let path = session.path("file");
            if setxattr(&path, name, value, XattrFlags::empty()).is_err() {
                // Not supported by this file system.
                continue;
            }
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            let stamp = FileStamp::read(&path).unwrap();
            replace(&path, b"new", Some(stamp)).unwrap();
            let mut kept = vec![0; 256];
            let length = getxattr(&path, name, &mut kept[..]).unwrap();
            assert_eq!(&kept[..length], value, "{name}");
            assert_eq!(
                fs::metadata(&path).unwrap().permissions().mode(),
                mode,
                "{name}"
            );
            assert_eq!(session.content("file"), "new");
        }
    }

    #[test]
    fn a_file_with_two_names_keeps_them() {
        let session = Session::new();
        session.write("file", "a longer old content");
        fs::hard_link(session.path("file"), session.path("twin")).unwrap();
        let stamp = FileStamp::read(&session.path("file")).unwrap();
        replace(&session.path("file"), b"new", Some(stamp)).unwrap();
        assert_eq!(session.content("twin"), "new");
    }

    #[test]
    fn a_changed_file_is_not_replaced() {
        let session = Session::new();
        session.write("file", "old");
        session.set_modified("file", 1);
        let stamp = FileStamp::read(&session.path("file")).unwrap();
        session.set_modified("file", 2);
        let result = replace(&session.path("file"), b"new", Some(stamp));
        assert!(matches!(result, Err(ReplaceError::Changed)));
        assert_eq!(session.content("file"), "old");
        assert_eq!(names(&session), ["file"]);
    }
}
