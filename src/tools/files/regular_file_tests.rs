use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::tools::test_context::Session;

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
    assert_eq!(FileStamp::of(&target).unwrap(), stamp);
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
        let stamp = FileStamp::of(&path).unwrap();
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
    let stamp = FileStamp::of(&session.path("file")).unwrap();
    replace(&session.path("file"), b"new", Some(stamp)).unwrap();
    assert_eq!(session.content("twin"), "new");
}

#[test]
fn a_changed_file_is_not_replaced() {
    let session = Session::new();
    session.write("file", "old");
    session.touch("file", 1);
    let stamp = FileStamp::of(&session.path("file")).unwrap();
    session.touch("file", 2);
    let result = replace(&session.path("file"), b"new", Some(stamp));
    assert!(matches!(result, Err(ReplaceError::Changed)));
    assert_eq!(session.content("file"), "old");
    assert_eq!(names(&session), ["file"]);
}
