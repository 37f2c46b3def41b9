//! Files with the full text of results that are too long, and the text that replaces them.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::message::ToolUseId;
use crate::state::{RESULTS, SessionDirectory, StateError, safe_file_name};
use crate::text::{Sha256Writer, format_byte_size, format_byte_size_trimmed, truncate_utf16};

/// Maximum length of a preview, in UTF-16 units.
const MAX_PREVIEW: usize = 2000;

/// Maximum length of a text that replaces a result, in UTF-16 units: a preview, its frame, and a path of usual length.
pub const MAX_REPLACEMENT: usize = MAX_PREVIEW + 500;

/// The file with the full text of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedResult {
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

impl PersistedResult {
    /// Returns the text that is sent instead of the saved text.
    pub fn replacement(&self, text: &str) -> String {
        format!(
            "<persisted-output>\nOutput too large ({}). Full output saved to: {}\n\nPreview (first \
             {}):\n{}\n...\n</persisted-output>",
            format_byte_size(self.size),
            self.path.display(),
            format_byte_size_trimmed(MAX_PREVIEW as u64),
            preview(text),
        )
    }
}

/// Writes the text of one result to `tool-results/<id>.txt` (mode 0600) below the directory of its session,
/// or to `tool-results/<id>-<digest>.txt` if that file has another text. An existing file is kept: the same
/// id and text always have the same path. Links are not followed.
///
/// # Errors
/// The file could not be written completely. It is removed.
pub fn persist(
    session: &SessionDirectory,
    id: &ToolUseId,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<PersistedResult, StateError> {
    let directory = session.create_subdirectory(RESULTS)?;
    let name = safe_file_name(id.as_str());
    let path = directory.join(format!("{name}.txt"));
    let exists = |file: &io::Result<File>| {
        file.as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    };
    let file = create_exclusively(&path);
    if !exists(&file) {
        return write_new(file, path, content);
    }
    let mut hasher = Sha256Writer::default();
    content(&mut hasher).map_err(StateError::io(&path))?;
    let digest = hasher.finish();
    let earlier = existing_result(&path)?;
    if digest_of(&path).map_err(StateError::io(&path))? == digest {
        return Ok(earlier);
    }
    let digest_path = directory.join(format!("{name}-{digest}.txt"));
    let digest_file = create_exclusively(&digest_path);
    if exists(&digest_file) {
        return existing_result(&digest_path);
    }
    write_new(digest_file, digest_path, content)
}

/// Writes a new file, or removes it on failure.
fn write_new(
    file: io::Result<File>,
    path: PathBuf,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<PersistedResult, StateError> {
    let mut writer = BufWriter::new(file.map_err(StateError::io(&path))?);
    let result = content(&mut writer)
        .and_then(|()| writer.flush())
        .and_then(|()| writer.get_ref().metadata());
    match result {
        Ok(metadata) => Ok(PersistedResult {
            path,
            size: metadata.len(),
        }),
        Err(source) => {
            // A later process would mistake a partial file for the whole result.
            let _ = std::fs::remove_file(&path);
            Err(StateError::Io { path, source })
        }
    }
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256Writer::default();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finish())
}

fn existing_result(path: &Path) -> Result<PersistedResult, StateError> {
    let metadata = std::fs::symlink_metadata(path).map_err(StateError::io(path))?;
    if !metadata.is_file() {
        let source = io::Error::other("exists and is not a regular file");
        return Err(StateError::io(path)(source));
    }
    Ok(PersistedResult {
        path: path.to_owned(),
        size: metadata.len(),
    })
}

fn create_exclusively(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Returns the first [`MAX_PREVIEW`] units, cut at the last line feed if that is in the second half.
/// Surrogate pairs are not split.
fn preview(text: &str) -> &str {
    let head = truncate_utf16(text, MAX_PREVIEW);
    let half = truncate_utf16(text, MAX_PREVIEW / 2).len();
    match head.rfind('\n') {
        Some(line_feed) if head.len() < text.len() && line_feed >= half => &head[..line_feed],
        _ => head,
    }
}

/// Maximum number of files that a hint names.
const MAX_NAMED: usize = 10;

/// Returns the text for an empty result, after which a model might end its turn.
pub fn empty_result(tool: &str) -> String {
    format!("({tool} completed with no output)")
}

/// Formats an error that does not come from the tool itself.
pub fn tool_use_error(message: &str) -> String {
    format!("<tool_use_error>{message}</tool_use_error>")
}

/// Returns a hint for the model that a call changed files that it has read. `before` and `after` are the
/// stale files before and after the call. `None` if the call changed none.
pub fn stale_read_hint(before: &[PathBuf], after: &[PathBuf]) -> Option<String> {
    let changed: Vec<String> = after
        .iter()
        .filter(|path| !before.contains(path))
        .map(|path| path.display().to_string())
        .collect();
    if changed.is_empty() {
        return None;
    }
    let names = changed[..changed.len().min(MAX_NAMED)].join(", ");
    let more = match changed.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "This call changed files that were read before: {names}{more}. Read them again before relying on their content."
    ))
}

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn only_newly_changed_files_are_named() {
        let before = [PathBuf::from("/old")];
        assert_eq!(stale_read_hint(&before, &before), None);
        let after = [PathBuf::from("/new"), PathBuf::from("/old")];
        let hint = stale_read_hint(&before, &after).unwrap();
        assert!(hint.contains("/new") && !hint.contains("/old"), "{hint}");
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use proptest::prelude::*;

    use super::*;
    use crate::state::{SessionKey, SessionScope, StateRoot};

    fn session() -> (tempfile::TempDir, SessionDirectory) {
        let guard = tempfile::tempdir().unwrap();
        let session = StateRoot(guard.path().join("state"))
            .open_session(&SessionKey {
                id: "s".into(),
                scope: SessionScope::from_path(Path::new("/")),
            })
            .unwrap();
        (guard, session)
    }

    #[test]
    fn each_text_of_an_id_has_its_own_file() {
        let (_guard, session) = session();
        let id = "../toolu".into();
        let paths = ["one", "another", "one", "another", "third"].map(|text| {
            let persisted = persist(&session, &id, |sink| sink.write_all(text.as_bytes())).unwrap();
            assert_eq!(std::fs::read_to_string(&persisted.path).unwrap(), text);
            assert_eq!(persisted.size, text.len() as u64);
            persisted.path
        });
        assert_eq!((&paths[0], &paths[1]), (&paths[2], &paths[3]));
        assert_eq!(paths[0].parent().unwrap(), session.path().join(RESULTS));
        let mode = std::fs::metadata(&paths[1]).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_link_in_the_way_is_not_followed() {
        let (guard, session) = session();
        let target = guard.path().join("target");
        let directory = session.create_subdirectory(RESULTS).unwrap();
        symlink(&target, directory.join("toolu.txt")).unwrap();
        let written = persist(&session, &"toolu".into(), |sink| sink.write_all(b"x"));
        assert!(written.is_err());
        assert!(!target.exists());
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let (_guard, session) = session();
        let failing = persist(&session, &"toolu".into(), |sink| {
            sink.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failing.is_err());
        let directory = session.create_subdirectory(RESULTS).unwrap();
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
    }

    #[test]
    fn cut_at_a_line_feed_in_the_second_half_only() {
        let early = format!("{}\n{}", "a".repeat(500), "b".repeat(3000));
        assert_eq!(preview(&early).len(), 2000);
        let late = format!("{}\n{}", "a".repeat(1500), "b".repeat(3000));
        assert_eq!(preview(&late), "a".repeat(1500));
        let short = "a\nb";
        assert_eq!(preview(short), short);
    }

    proptest! {
        #[test]
        fn a_preview_is_a_bounded_prefix(text in "[a\n😀é]{0,3000}") {
            let shown = preview(&text);
            prop_assert!(text.starts_with(shown));
            prop_assert!(shown.encode_utf16().count() <= MAX_PREVIEW);
            if text.encode_utf16().count() > MAX_PREVIEW {
                prop_assert!(shown.encode_utf16().count() >= MAX_PREVIEW / 2 - 1);
            } else {
                prop_assert_eq!(shown, text.as_str());
            }
        }
    }
}
