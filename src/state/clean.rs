//! Removal of old state.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::{RESULTS, StateError, StateRoot};

/// Files in the directory of a session.
const STATE_FILES: &[&str] = &["lock", "state.json", "state.json.new"];

/// What a clean-up did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanReport {
    /// Files removed.
    pub files: u64,
    /// Their sizes together, in bytes.
    pub bytes: u64,
    /// Session directories that were empty afterwards and were removed.
    pub sessions: u64,
}

/// Removes the files of sessions that were last changed more than `age` before `now`, and the
/// directories that are empty then. Only files with the names that turnpipe gives are removed, and
/// links are never followed. A session that a process has locked is left alone.
///
/// # Errors
/// The directory cannot be read, or something in it cannot be removed.
pub fn clean(root: &StateRoot, age: Duration, now: SystemTime) -> Result<CleanReport, StateError> {
    let mut report = CleanReport::default();
    let oldest_kept = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    let sessions = match fs::read_dir(&root.0) {
        Ok(sessions) => sessions,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(report),
        Err(source) => {
            return Err(StateError::Io {
                path: root.0.clone(),
                source,
            });
        }
    };
    for session in sessions {
        let path = session.map_err(StateError::io(&root.0))?.path();
        let is_directory = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
        if !is_directory || is_locked(&path) {
            continue;
        }
        let before = report.files;
        let results = path.join(RESULTS);
        if fs::symlink_metadata(&results).is_ok_and(|metadata| metadata.is_dir()) {
            let is_result = |name: &str| name.strip_suffix(".txt").is_some();
            remove_old(&results, is_result, oldest_kept, &mut report, before)?;
        }
        let is_state = |name: &str| STATE_FILES.contains(&name);
        if remove_old(&path, is_state, oldest_kept, &mut report, before)? {
            report.sessions += 1;
        }
    }
    Ok(report)
}

fn is_locked(session: &Path) -> bool {
    fs::File::open(session.join("lock"))
        .is_ok_and(|file| matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock)))
}

/// Removes old files with the right names, then the directory if it is empty and files were removed
/// since there were `before` of them. Returns whether the directory was removed.
fn remove_old(
    directory: &Path,
    is_ours: impl Fn(&str) -> bool,
    oldest_kept: SystemTime,
    report: &mut CleanReport,
    before: u64,
) -> Result<bool, StateError> {
    let mut is_empty = true;
    for entry in fs::read_dir(directory).map_err(StateError::io(directory))? {
        let entry = entry.map_err(StateError::io(directory))?;
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).map_err(StateError::io(&path))?;
        let is_old = metadata.modified().is_ok_and(|time| time < oldest_kept);
        let is_ours = entry.file_name().to_str().is_some_and(&is_ours);
        if metadata.is_file() && is_old && is_ours {
            fs::remove_file(&path).map_err(StateError::io(&path))?;
            report.files += 1;
            report.bytes += metadata.len();
        } else {
            is_empty = false;
        }
    }
    // An empty directory in which nothing was removed may be somebody else's.
    let is_done = is_empty && report.files > before;
    if is_done {
        fs::remove_dir(directory).map_err(StateError::io(directory))?;
    }
    Ok(is_done)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn old_files_go_young_ones_stay() {
        let guard = tempfile::tempdir().unwrap();
        let root = StateRoot(guard.path().to_owned());
        file(
            &guard.path().join("old/tool-results/a.txt"),
            "12345",
            40 * DAY,
        );
        file(
            &guard.path().join("mixed/tool-results/b.txt"),
            "1",
            40 * DAY,
        );
        file(&guard.path().join("mixed/state.json"), "{}", DAY);
        let report = clean(&root, 30 * DAY, SystemTime::now()).unwrap();
        assert_eq!(
            report,
            CleanReport {
                files: 2,
                bytes: 6,
                sessions: 1
            }
        );
        assert!(!guard.path().join("old").exists());
        assert!(guard.path().join("mixed/state.json").exists());
    }

    #[test]
    fn only_what_turnpipe_made_is_removed() {
        let guard = tempfile::tempdir().unwrap();
        let foreign = [
            "x/f",
            ".git/objects/ab/cd",
            "s/tool-results/notes.md",
            "s/.txt/a.txt",
        ];
        for name in foreign {
            file(&guard.path().join(name), "x", 40 * DAY);
        }
        file(&guard.path().join("s/state.json"), "{}", 40 * DAY);
        fs::create_dir(guard.path().join("empty")).unwrap();
        let root = StateRoot(guard.path().to_owned());
        let report = clean(&root, 30 * DAY, SystemTime::now()).unwrap();
        assert_eq!((report.files, report.sessions), (1, 0));
        assert!(guard.path().join("empty").exists());
        for name in foreign {
            assert!(guard.path().join(name).exists(), "{name}");
        }
    }

    #[test]
    fn links_are_not_followed() {
        let guard = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        file(&outside.path().join("kept"), "x", 40 * DAY);
        fs::create_dir_all(guard.path().join("s")).unwrap();
        std::os::unix::fs::symlink(outside.path(), guard.path().join("s/link")).unwrap();
        clean(
            &StateRoot(guard.path().to_owned()),
            Duration::ZERO,
            SystemTime::now() + DAY,
        )
        .unwrap();
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
