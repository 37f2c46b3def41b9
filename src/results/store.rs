//! Full texts of results that are too large to be sent.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use sha2::digest::Output;
use sha2::{Digest as _, Sha256};

use crate::state::{RESULTS, SessionDirectory, StateError, safe_file_name};
use crate::wire::ToolUseId;

/// Writes results below a session's directory.
#[derive(Debug)]
pub struct ToolResultStore<'a> {
    session: &'a SessionDirectory,
}

/// A result that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persisted {
    /// The file.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

/// Why a result could not be written; it is then sent whole.
#[derive(Debug, thiserror::Error)]
pub enum PersistError {
    /// The session's directory is not usable.
    #[error(transparent)]
    State(#[from] StateError),
    /// Writing failed; nothing is left behind.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl PersistError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

impl<'a> ToolResultStore<'a> {
    /// Results of this session.
    pub fn new(session: &'a SessionDirectory) -> Self {
        Self { session }
    }

    /// Writes the text of one result to `tool-results/<id>.txt` (mode 0600), or, if another call with
    /// the same id has that, to `tool-results/<id>-<digest>.txt`. A file that exists is kept: the same
    /// id and text always have the same path. Links are never followed.
    ///
    /// # Errors
    /// The file could not be written completely; it is removed again.
    pub fn persist(
        &self,
        id: &ToolUseId,
        mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Persisted, PersistError> {
        let directory = self.session.subdirectory(RESULTS)?;
        let name = safe_file_name(id.as_str());
        let path = directory.join(format!("{name}.txt"));
        let file = match create_exclusively(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let mut hasher = Sha256::new();
                let digest = content(&mut hasher).map(|()| hasher.finalize());
                let digest = digest.map_err(PersistError::io(&path))?;
                let earlier = existing(&path)?;
                if digest_of(&path).map_err(PersistError::io(&path))? == digest {
                    return Ok(earlier);
                }
                let path = directory.join(format!("{name}-{digest:x}.txt"));
                return match create_exclusively(&path) {
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => existing(&path),
                    file => write(file, path, content),
                };
            }
            file => file,
        };
        write(file, path, content)
    }
}

/// Writes the whole of a text to a new file, or removes it.
fn write(
    file: io::Result<File>,
    path: PathBuf,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<Persisted, PersistError> {
    let mut writer = BufWriter::new(file.map_err(PersistError::io(&path))?);
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
            Err(PersistError::Io { path, source })
        }
    }
}

fn digest_of(path: &Path) -> io::Result<Output<Sha256>> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finalize())
}

fn existing(path: &Path) -> Result<Persisted, PersistError> {
    let metadata = std::fs::symlink_metadata(path).map_err(PersistError::io(path))?;
    if !metadata.is_file() {
        let source = io::Error::other("exists and is not a regular file");
        return Err(PersistError::io(path)(source));
    }
    Ok(Persisted {
        path: path.to_owned(),
        size: metadata.len(),
    })
}

fn create_exclusively(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(unix)]
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
        let store = ToolResultStore::new(&session);
        let id = "../toolu".into();
        let paths = ["one", "another", "one", "another", "third"].map(|text| {
            let persisted = store
                .persist(&id, |sink| sink.write_all(text.as_bytes()))
                .unwrap();
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
        let store = ToolResultStore::new(&session);
        assert!(
            store
                .persist(&"toolu".into(), |sink| sink.write_all(b"x"))
                .is_err()
        );
        assert!(!target.exists());
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let (_guard, session) = session();
        let store = ToolResultStore::new(&session);
        let failing = store.persist(&"toolu".into(), |sink| {
            sink.write_all(b"half")?;
            Err(io::Error::other("disk full"))
        });
        assert!(failing.is_err());
        let directory = session.subdirectory(RESULTS).unwrap();
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
    }
}
