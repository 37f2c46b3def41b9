//! Removal of old state.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use ignore::WalkBuilder;

use super::directory::{MARKER_FILE, RESULTS, StateError, StateRoot, TEMPORARY};
use super::file_lock::FileLock;
use turnpipe_core::io::remove_tree;

/// Files in the directory of a session, in addition to the marker file.
const STATE_FILES: &[&str] = &["lock", "state.json", "state.json.new", "state.json.damaged"];

/// What [`clean`] removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanReport {
    /// The number of removed files.
    pub files: u64,
    /// Their total size, in bytes.
    pub bytes: u64,
    /// The number of removed session directories.
    pub sessions: u64,
}

/// Removes the files of sessions that were last changed more than `age` before `now`, and the directories that
/// are empty afterwards. Only marked directories, files with known names and temporary files are removed;
/// links are not followed, and sessions in use are skipped.
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
        clean_session(&path, oldest_kept, &mut report)?;
    }
    Ok(report)
}

/// Removes the old files of a session, and its directory if it is old and nothing else is left in it. Skips
/// directories without a mark, and sessions in use.
fn clean_session(
    path: &Path,
    oldest_kept: SystemTime,
    report: &mut CleanReport,
) -> Result<(), StateError> {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    let mark = path.join(MARKER_FILE);
    let is_marked = fs::symlink_metadata(&mark).is_ok_and(|metadata| metadata.is_file());
    if !(is_directory && is_marked) {
        return Ok(());
    }
    // The lock is held until the session is removed.
    let locked = File::open(&mark).and_then(|file| Ok(file.try_lock().map(|()| file)?));
    let Ok(unused) = locked.map(FileLock) else {
        return Ok(());
    };
    let temporary = path.join(TEMPORARY);
    let facts = fs::symlink_metadata(&temporary);
    if facts.is_ok_and(|facts| facts.is_dir() && is_old(&facts, oldest_kept)) {
        count_files(&temporary, report);
        remove_tree(&temporary).map_err(StateError::io(&temporary))?;
    }
    let results = path.join(RESULTS);
    if fs::symlink_metadata(&results).is_ok_and(|metadata| metadata.is_dir()) {
        let is_result = |name: &str| name.strip_suffix(".txt").is_some();
        if remove_old(&results, is_result, oldest_kept, report)? == 0 {
            fs::remove_dir(&results).map_err(StateError::io(&results))?;
        }
    }
    let is_state = |name: &str| STATE_FILES.contains(&name);
    let kept = remove_old(path, is_state, oldest_kept, report)?;
    let is_mark_old = is_old(
        &unused.0.metadata().map_err(StateError::io(&mark))?,
        oldest_kept,
    );
    if kept == 1 && is_mark_old {
        fs::remove_file(&mark).map_err(StateError::io(&mark))?;
        fs::remove_dir(path).map_err(StateError::io(path))?;
        report.sessions += 1;
    }
    Ok(())
}

fn count_files(directory: &Path, report: &mut CleanReport) {
    let entries = WalkBuilder::new(directory).standard_filters(false).build();
    // What cannot be read is removed all the same.
    for facts in entries.flatten().filter_map(|entry| entry.metadata().ok()) {
        if !facts.is_dir() {
            report.files += 1;
            report.bytes += facts.len();
        }
    }
}

fn is_old(metadata: &fs::Metadata, oldest_kept: SystemTime) -> bool {
    metadata.modified().is_ok_and(|time| time < oldest_kept)
}

/// Removes old files with known names. Returns the number of remaining entries.
fn remove_old(
    directory: &Path,
    is_known: impl Fn(&str) -> bool,
    oldest_kept: SystemTime,
    report: &mut CleanReport,
) -> Result<usize, StateError> {
    let mut kept = 0;
    for entry in fs::read_dir(directory).map_err(StateError::io(directory))? {
        let entry = entry.map_err(StateError::io(directory))?;
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).map_err(StateError::io(&path))?;
        let is_removable = entry.file_name().to_str().is_some_and(&is_known);
        if metadata.is_file() && is_old(&metadata, oldest_kept) && is_removable {
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
mod tests {

    use std::path::PathBuf;

    use super::*;
    use crate::state::SessionKey;

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
        drop(root.open_session(&name.into()).unwrap());
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
            root.open_session(&"s".into()).unwrap(),
            root.open_session(&"s".into()).unwrap(),
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
}
