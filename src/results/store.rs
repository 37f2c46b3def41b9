//! Full texts of results that are too large to be sent.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::preview::{PREVIEW_UNITS, preview};
use super::text::persisted_output;
use crate::message::ToolUseId;
use crate::state::{RESULTS, SessionDirectory, StateError, safe_file_name};
use crate::text::{Sha256Writer, byte_size, byte_size_trimmed};

/// A result that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persisted {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// How long the text is at most that stands for a result, in UTF-16 units: a preview, its frame, and
/// a path of usual length.
pub const LONGEST_STAND_IN: usize = PREVIEW_UNITS + 500;

impl Persisted {
    /// What is sent in place of the text that was written.
    pub fn stand_in(&self, text: &str) -> String {
        persisted_output(
            &byte_size(self.size),
            &self.path,
            &byte_size_trimmed(PREVIEW_UNITS as u64),
            preview(text),
        )
    }
}

/// Writes the text of one result to `tool-results/<id>.txt` (mode 0600) below the directory of its
/// session, or, if another call with the same id has that, to `tool-results/<id>-<digest>.txt`. A
/// file that exists is kept: the same id and text always have the same path. Links are never
/// followed.
///
/// # Errors
/// The file could not be written completely; it is removed again.
pub fn persist(
    session: &SessionDirectory,
    id: &ToolUseId,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<Persisted, StateError> {
    let directory = session.subdirectory(RESULTS)?;
    let name = safe_file_name(id.as_str());
    let path = directory.join(format!("{name}.txt"));
    let exists = |file: &io::Result<File>| {
        file.as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    };
    let file = create_exclusively(&path);
    if !exists(&file) {
        return write(file, path, content);
    }
    let mut hasher = Sha256Writer::default();
    content(&mut hasher).map_err(StateError::io(&path))?;
    let digest = hasher.finish();
    let earlier = existing(&path)?;
    if digest_of(&path).map_err(StateError::io(&path))? == digest {
        return Ok(earlier);
    }
    let path = directory.join(format!("{name}-{digest}.txt"));
    let file = create_exclusively(&path);
    if exists(&file) {
        return existing(&path);
    }
    write(file, path, content)
}

/// Writes the whole of a text to a new file, or removes it.
fn write(
    file: io::Result<File>,
    path: PathBuf,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<Persisted, StateError> {
    let mut writer = BufWriter::new(file.map_err(StateError::io(&path))?);
    let written = content(&mut writer)
        .and_then(|()| writer.flush())
        .and_then(|()| writer.get_ref().metadata());
    match written {
        Ok(metadata) => Ok(Persisted {
            path,
            size: metadata.len(),
        }),
        Err(source) => {
            // A half-written file would later pass for the whole result.
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

fn existing(path: &Path) -> Result<Persisted, StateError> {
    let metadata = std::fs::symlink_metadata(path).map_err(StateError::io(path))?;
    if !metadata.is_file() {
        let source = io::Error::other("exists and is not a regular file");
        return Err(StateError::io(path)(source));
    }
    Ok(Persisted {
        path: path.to_owned(),
        size: metadata.len(),
    })
}

fn create_exclusively(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::state::StateRoot;

    fn session() -> (tempfile::TempDir, SessionDirectory) {
        let guard = tempfile::tempdir().unwrap();
        let session = StateRoot(guard.path().join("state"))
            .session(&"s".into())
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
        let directory = session.subdirectory(RESULTS).unwrap();
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
        let directory = session.subdirectory(RESULTS).unwrap();
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
    }
}
