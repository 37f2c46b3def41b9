use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

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
    let session = root.session(&"../x".into()).unwrap();
    assert_eq!(session.path().parent().unwrap(), root.0);
    let mode = fs::metadata(session.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_directory_that_others_may_enter_is_refused() {
    let (_guard, root) = root();
    let path = root.session(&"s".into()).unwrap().path().to_owned();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(
        root.session(&"s".into()),
        Err(StateError::Untrusted { .. })
    ));
}

#[test]
fn a_link_is_refused() {
    let (guard, root) = root();
    root.session(&"other".into()).unwrap();
    let elsewhere = guard.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
    let path = root.0.join(SessionKey::from("s").directory_name());
    symlink(&elsewhere, path).unwrap();
    assert!(matches!(
        root.session(&"s".into()),
        Err(StateError::Untrusted { .. })
    ));
}

#[test]
fn a_lock_is_private_and_never_taken_through_a_link() {
    let (guard, root) = root();
    let session = root.session(&"s".into()).unwrap();
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
    let session = root.session(&"s".into()).unwrap();
    let held = session.lock().unwrap();
    assert!(matches!(session.lock(), Err(StateError::Locked { .. })));
    drop(held);
    session.lock().unwrap();
}

fn file(path: &Path, text: &str, age: Duration) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(SystemTime::now() - age)
        .unwrap();
}

const DAY: Duration = Duration::from_hours(24);

/// A marked session that was last used long ago.
fn session(root: &StateRoot, name: &str) {
    drop(root.session(&name.into()).unwrap());
    file(&at(root, name).join(MARKER_FILE), "", 40 * DAY);
}

/// Returns a path below the state root that starts with the name of a session.
fn at(root: &StateRoot, path: &str) -> PathBuf {
    let (name, below) = path.split_once('/').unwrap_or((path, ""));
    let session = root.0.join(SessionKey::from(name).directory_name());
    match below {
        "" => session,
        below if session.exists() => session.join(below),
        _ => root.0.join(path),
    }
}

#[test]
fn only_old_files_are_removed() {
    let guard = tempfile::tempdir().unwrap();
    let root = StateRoot(guard.path().join("state"));
    session(&root, "old");
    session(&root, "mixed");
    file(&at(&root, "old/tool-results/a.txt"), "12345", 40 * DAY);
    file(&at(&root, "mixed/tool-results/b.txt"), "1", 40 * DAY);
    file(&at(&root, "mixed/state.json"), "{}", DAY);
    let report = clean(&root, 30 * DAY, SystemTime::now()).unwrap();
    assert_eq!(
        report,
        CleanReport {
            files: 2,
            bytes: 6,
            sessions: 1
        }
    );
    assert!(!at(&root, "old").exists());
    assert!(at(&root, "mixed/state.json").exists());
    // The session is still marked.
    let later = SystemTime::now() + 40 * DAY;
    assert_eq!(clean(&root, 30 * DAY, later).unwrap().sessions, 1);
}

#[test]
fn only_files_of_turnpipe_are_removed() {
    let guard = tempfile::tempdir().unwrap();
    let root = StateRoot(guard.path().join("state"));
    session(&root, "s");
    let foreign = [
        "x/f",
        ".git/objects/ab/cd",
        "terraform/state.json",
        "notes/tool-results/a.txt",
        "s/tool-results/notes.md",
        "s/.txt/a.txt",
    ];
    for name in foreign {
        file(&at(&root, name), "x", 40 * DAY);
    }
    file(&at(&root, "s/state.json"), "{}", 40 * DAY);
    fs::create_dir(root.0.join("empty")).unwrap();
    let report = clean(&root, 30 * DAY, SystemTime::now()).unwrap();
    assert_eq!((report.files, report.sessions), (1, 0));
    assert!(root.0.join("empty").exists());
    for name in foreign {
        assert!(at(&root, name).exists(), "{name}");
    }
}

#[test]
fn a_session_in_use_is_kept() {
    let guard = tempfile::tempdir().unwrap();
    let root = StateRoot(guard.path().join("state"));
    session(&root, "s");
    file(&at(&root, "s/state.json"), "{}", 40 * DAY);
    let users = [
        root.session(&"s".into()).unwrap(),
        root.session(&"s".into()).unwrap(),
    ];
    for user in users {
        assert_eq!(
            clean(&root, DAY, SystemTime::now()).unwrap(),
            CleanReport::default()
        );
        drop(user);
    }
    assert_eq!(clean(&root, DAY, SystemTime::now()).unwrap().sessions, 1);
}

#[test]
fn links_are_not_followed() {
    let guard = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    file(&outside.path().join("kept"), "x", 40 * DAY);
    let root = StateRoot(guard.path().join("state"));
    session(&root, "s");
    for link in ["s/link", "s/tool-results", "link"] {
        std::os::unix::fs::symlink(outside.path(), at(&root, link)).unwrap();
    }
    clean(&root, Duration::ZERO, SystemTime::now() + DAY).unwrap();
    assert!(outside.path().join("kept").exists());
}

#[test]
fn a_missing_directory_has_nothing_to_clean() {
    let root = StateRoot("/nonexistent/turnpipe-state".into());
    assert_eq!(
        clean(&root, DAY, SystemTime::now()).unwrap(),
        CleanReport::default()
    );
}
