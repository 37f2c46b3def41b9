//! A folder of exported sessions: which page belongs to which session, and which are out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::Listed;
use super::record::side_file_path;
use crate::dialog::IndexRow;
use crate::text::sha256;

/// The file that says which pages are ours.
const MANIFEST: &str = "turnpipe-export.json";

/// Ids outside of these lengths are not names of pages. The shortest names mean devices somewhere.
const ID_LENGTHS: std::ops::RangeInclusive<usize> = 8..=80;

/// Why a folder cannot hold an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The index would replace a file that is not ours.
    #[error("{} is there and was not exported by turnpipe", .0.display())]
    Foreign(PathBuf),
    /// The manifest is damaged, or of a later version.
    #[error("cannot read {}: {}", .0.display(), .1)]
    Manifest(PathBuf, serde_json::Error),
    /// Reading or writing failed.
    #[error("cannot write {}: {}", .0.display(), .1)]
    Io(PathBuf, io::Error),
}

/// A page that was exported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Page {
    /// The file of the session.
    path: PathBuf,
    /// What decided how the page looks; empty until the page is written.
    stamp: String,
    #[serde(flatten)]
    row: IndexRow,
}

/// A folder of exported sessions.
#[derive(Debug)]
pub struct ExportFolder {
    directory: PathBuf,
    /// The end of the names of pages, e.g. `.html`.
    suffix: &'static str,
    pages: BTreeMap<String, Page>,
    /// The pages of this export.
    taken: BTreeSet<String>,
}

/// What has to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    /// The name of the page.
    pub name: String,
    /// To be handed back when it is written.
    stamp: String,
}

impl ExportFolder {
    /// Opens a folder, which is made if it is not there.
    ///
    /// # Errors
    /// It cannot be made or read, or holds an index of somebody else.
    pub fn open(directory: PathBuf, suffix: &'static str) -> Result<Self, ExportError> {
        fs::create_dir_all(&directory)
            .map_err(|error| ExportError::Io(directory.clone(), error))?;
        let manifest = directory.join(MANIFEST);
        let pages: BTreeMap<String, Page> = match fs::read(&manifest) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| ExportError::Manifest(manifest, error))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(ExportError::Io(manifest, error)),
        };
        let folder = Self {
            directory,
            suffix,
            pages,
            taken: BTreeSet::new(),
        };
        let is_ours = folder.pages.keys().any(|name| name.ends_with(suffix));
        let index = folder.directory.join(folder.index());
        if !is_ours && exists(&index) {
            return Err(ExportError::Foreign(index));
        }
        Ok(folder)
    }

    /// The name of the index.
    pub fn index(&self) -> String {
        format!("index{}", self.suffix)
    }

    /// Gives a session its page. Returns what has to be written; nothing if the page is up to date.
    /// `look` is what else decides about it.
    pub fn page(&mut self, session: &Listed, row: IndexRow, look: &str) -> Option<Outdated> {
        let name = self.name_of(session);
        let side_file = side_file_path(&session.path);
        let stamp = format!(
            "{look} {} {}",
            stamp_of(&session.path),
            stamp_of(&side_file)
        );
        let page = Page {
            path: session.path.clone(),
            stamp,
            row,
        };
        let is_there = exists(&self.directory.join(&name));
        self.taken.insert(name.clone());
        if is_there && self.pages.get(&name) == Some(&page) {
            return None;
        }
        let stamp = page.stamp.clone();
        let unwritten = Page {
            stamp: String::new(),
            ..page
        };
        self.pages.insert(name.clone(), unwritten);
        Some(Outdated { name, stamp })
    }

    /// A page was written.
    pub fn note_written(&mut self, page: &Outdated) {
        if let Some(known) = self.pages.get_mut(&page.name) {
            known.stamp.clone_from(&page.stamp);
        }
    }

    /// Writes down which pages are ours. Before the first is written, so that they are after a crash.
    ///
    /// # Errors
    /// Writing failed.
    pub fn save(&self) -> Result<(), ExportError> {
        let mut text = serde_json::to_vec_pretty(&self.pages)
            .map_err(|error| ExportError::Manifest(self.directory.join(MANIFEST), error))?;
        text.push(b'\n');
        self.replace(MANIFEST, &text)
    }

    /// Forgets the pages whose files are gone, and writes the index of all others, also of those
    /// whose sessions are gone. Returns how many there are.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(
        &mut self,
        index: impl FnOnce(&[(&str, &IndexRow)]) -> String,
    ) -> Result<usize, ExportError> {
        let directory = &self.directory;
        self.pages.retain(|name, _| exists(&directory.join(name)));
        let pages = self.pages.iter();
        let ours = pages.filter(|(name, _)| name.ends_with(self.suffix));
        let mut rows: Vec<_> = ours
            .map(|(name, page)| (name.as_str(), &page.row))
            .collect();
        rows.sort_by(|(_, one), (_, other)| other.last_activity.cmp(&one.last_activity));
        if !rows.is_empty() {
            self.replace(&self.index(), index(&rows).as_bytes())?;
        }
        self.save()?;
        Ok(rows.len())
    }

    /// Writes a page, whole or not at all.
    ///
    /// # Errors
    /// Writing failed, or `fill` did.
    pub fn write<Failure: From<ExportError>>(
        &self,
        name: &str,
        fill: impl FnOnce(File) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let path = self.directory.join(name);
        let failed = |error: io::Error| ExportError::Io(path.clone(), error);
        let temporary = tempfile::Builder::new()
            .prefix(".turnpipe-")
            // Less what the umask takes away, as of any new file.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.directory)
            .map_err(failed)?;
        fill(temporary.as_file().try_clone().map_err(failed)?)?;
        temporary
            .persist(&path)
            .map_err(|error| failed(error.error))?;
        Ok(())
    }

    /// Writes a file, unless it holds this text already.
    fn replace(&self, name: &str, text: &[u8]) -> Result<(), ExportError> {
        let path = self.directory.join(name);
        if fs::read(&path).is_ok_and(|known| known == text) {
            return Ok(());
        }
        self.write(name, |mut file| {
            file.write_all(text)
                .map_err(|error| ExportError::Io(path, error))
        })
    }

    /// The name of a session's page: its id if that is a name on every file system, with a hash if it
    /// is not, or if the name belongs to another session or to somebody else.
    fn name_of(&self, session: &Listed) -> String {
        let stem = || {
            session
                .path
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        let id = session
            .facts
            .session_id
            .clone()
            .or_else(stem)
            .unwrap_or_default();
        let safe: String = id
            .chars()
            .map(|character| match character.to_ascii_lowercase() {
                known @ ('a'..='z' | '0'..='9' | '-' | '_') => known,
                _ => '_',
            })
            .take(*ID_LENGTHS.end())
            .collect();
        let plain = format!("{safe}{}", self.suffix);
        if safe == id && ID_LENGTHS.contains(&id.len()) && self.is_free(&plain, &session.path) {
            return plain;
        }
        let hash = sha256(session.path.as_os_str().as_encoded_bytes());
        format!("{safe}-{}{}", &hash[..16], self.suffix)
    }

    /// Whether the session at `path` may have this page: it had it before, or nobody has it, or the
    /// session that had it is no longer where it was.
    fn is_free(&self, name: &str, path: &Path) -> bool {
        match self.pages.get(name) {
            _ if self.taken.contains(name) => false,
            Some(page) => page.path == path || !exists(&page.path),
            None => !exists(&self.directory.join(name)),
        }
    }
}

/// Whether something has this name.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// What changes whenever a file does: its size, and when it was changed, in nanoseconds.
fn stamp_of(path: &Path) -> String {
    let Ok(metadata) = fs::metadata(path) else {
        return "-".to_owned();
    };
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}@{}", metadata.len(), since.as_nanos())
}
