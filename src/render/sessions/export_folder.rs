//! A directory of exported sessions. Finds pages that are out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use crate::io::{read_regular, replace_below};
use crate::render::IndexRow;
use crate::session::side_file_path;
use crate::text::sha256;

/// The file that lists the pages that turnpipe wrote.
const MANIFEST: &str = "turnpipe-export.json";

/// Whether a file lists the pages of an export, by its name.
pub fn is_export_list(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MANIFEST)
}

/// Lengths of ids that become names of pages. Shorter names may be device names on some systems.
const ID_LENGTHS: std::ops::RangeInclusive<usize> = 8..=80;

/// The reason why a directory cannot be used for an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A file has this name.
    #[error("{} is not a directory", .0.display())]
    File(PathBuf),
    /// The index would replace a file that turnpipe did not write.
    #[error("{} already exists and was not exported by turnpipe", .0.display())]
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
    /// The file of the session, with U+FFFD for bytes that are not UTF-8.
    path: String,
    /// A digest of everything that determines the page. Empty until the page is written.
    stamp: String,
    #[serde(flatten)]
    row: IndexRow,
}

/// A directory of exported sessions.
#[derive(Debug)]
pub struct ExportFolder {
    directory: PathBuf,
    /// The suffix of the names of pages, e.g. `.html`.
    suffix: &'static str,
    pages: BTreeMap<String, Page>,
    /// The pages of this export.
    taken: BTreeSet<String>,
}

impl ExportFolder {
    /// Opens a directory, which is created if it is missing.
    ///
    /// # Errors
    /// The directory cannot be created or read, or contains a foreign index.
    pub fn open(directory: PathBuf, suffix: &'static str) -> Result<Self, ExportError> {
        if directory.exists() && !directory.is_dir() {
            return Err(ExportError::File(directory));
        }
        fs::create_dir_all(&directory)
            .map_err(|error| ExportError::Io(directory.clone(), error))?;
        let manifest = directory.join(MANIFEST);
        let pages: BTreeMap<String, Page> = match read_regular(&manifest) {
            Ok(text) => serde_json::from_str(&text)
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

    /// Returns the name of the index.
    pub fn index(&self) -> String {
        format!("index{}", self.suffix)
    }

    /// Adds the page of a session or subagent at `path`. The page also depends on the files in `related_files` and
    /// on `settings`. Returns the stamp of the page if it has to be written, and `None` if it is up to date.
    pub fn add_page(
        &mut self,
        name: &str,
        path: &Path,
        related_files: &[PathBuf],
        row: IndexRow,
        settings: &str,
    ) -> Option<String> {
        let mut stamp = settings.to_owned();
        for file in [path, &side_file_path(path)]
            .into_iter()
            .chain(related_files.iter().map(PathBuf::as_path))
        {
            stamp.push(' ');
            stamp.push_str(&stamp_of(file));
        }
        let page = Page {
            path: path.display().to_string(),
            stamp,
            row,
        };
        if exists(&self.directory.join(name)) && self.pages.get(name) == Some(&page) {
            return None;
        }
        let stamp = page.stamp.clone();
        let unwritten = Page {
            stamp: String::new(),
            ..page
        };
        self.pages.insert(name.to_owned(), unwritten);
        Some(stamp)
    }

    /// Notes that a page was written.
    pub fn mark_written(&mut self, name: &str, stamp: &str) {
        if let Some(known) = self.pages.get_mut(name) {
            stamp.clone_into(&mut known.stamp);
        }
    }

    /// Saves the list of pages. Called before the first page is written, so that pages are known after a
    /// crash.
    ///
    /// # Errors
    /// Writing failed.
    pub fn save(&self) -> Result<(), ExportError> {
        let mut text = serde_json::to_vec_pretty(&self.pages)
            .map_err(|error| ExportError::Manifest(self.directory.join(MANIFEST), error))?;
        text.push(b'\n');
        self.replace(MANIFEST, &text)
    }

    /// Drops pages whose files are gone. Writes an index of all other pages, including pages whose sessions
    /// are gone, if `index` returns one. Returns the numbers of sessions and subagents.
    ///
    /// # Errors
    /// Writing failed.
    pub fn finish(
        &mut self,
        index: impl FnOnce(&[(&str, &IndexRow)], &Path) -> io::Result<Option<String>>,
    ) -> Result<(usize, usize), ExportError> {
        let directory = &self.directory;
        self.pages.retain(|name, _| exists(&directory.join(name)));
        let pages = self.pages.iter();
        let ours = pages.filter(|(name, _)| name.ends_with(self.suffix));
        let mut rows: Vec<_> = ours
            .map(|(name, page)| (name.as_str(), &page.row))
            .collect();
        rows.sort_by(|(_, first), (_, second)| second.last_activity.cmp(&first.last_activity));
        if !rows.is_empty() {
            let text = index(&rows, directory)
                .map_err(|error| ExportError::Io(directory.clone(), error))?;
            if let Some(text) = text {
                self.replace(&self.index(), text.as_bytes())?;
            }
        }
        self.save()?;
        let subagents = rows.iter().filter(|(_, row)| row.parent.is_some()).count();
        Ok((rows.len() - subagents, subagents))
    }

    /// Writes a page atomically. The name may start with a directory, which is created if needed.
    ///
    /// # Errors
    /// Writing or `fill` failed.
    pub fn write<Failure: From<ExportError>>(
        &self,
        name: &str,
        fill: impl FnOnce(File) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let to_failure = |error| Failure::from(ExportError::Io(self.directory.join(name), error));
        let fill = |file: &File| fill(file.try_clone().map_err(to_failure)?);
        // Restricted by the umask, like any new file.
        let permissions = Mode::from_raw_mode(0o777);
        replace_below(
            &self.directory,
            Path::new(name),
            permissions,
            fill,
            to_failure,
        )
        .map(drop)
    }

    /// Writes a file, unless it already contains this text.
    fn replace(&self, name: &str, text: &[u8]) -> Result<(), ExportError> {
        let path = self.directory.join(name);
        if read_regular(&path).is_ok_and(|known| known.as_bytes() == text) {
            return Ok(());
        }
        self.write(name, |mut file| {
            file.write_all(text)
                .map_err(|error| ExportError::Io(path, error))
        })
    }

    /// Chooses a name for the page of a file: the id if it is a valid name on every file system, with a hash
    /// otherwise, or if the name belongs to another session or a foreign file.
    pub fn choose_name(&mut self, id: &str, path: &Path) -> String {
        let safe: String = id
            .chars()
            .map(|character| match character.to_ascii_lowercase() {
                known @ ('a'..='z' | '0'..='9' | '-' | '_') => known,
                _ => '_',
            })
            .take(*ID_LENGTHS.end())
            .collect();
        let mut name = format!("{safe}{}", self.suffix);
        if safe != id || !ID_LENGTHS.contains(&id.len()) || !self.is_free(&name, path) {
            let hash = sha256(path.as_os_str().as_encoded_bytes());
            name = format!("{safe}-{}{}", &hash[..16], self.suffix);
        }
        self.taken.insert(name.clone());
        name
    }

    /// Whether the session at `path` may use this name: it has the name already, the name is unused, or the
    /// session with the name was moved.
    fn is_free(&self, name: &str, path: &Path) -> bool {
        match self.pages.get(name) {
            _ if self.taken.contains(name) => false,
            Some(page) => page.path == path.to_string_lossy() || !exists(Path::new(&page.path)),
            None => !exists(&self.directory.join(name)),
        }
    }
}

/// Whether a file with this name exists.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Returns the state of a file: its size and modification time, in nanoseconds.
fn stamp_of(path: &Path) -> String {
    let Ok(metadata) = fs::metadata(path) else {
        return "-".to_owned();
    };
    let modified = metadata.modified().unwrap_or(UNIX_EPOCH);
    // A time before 1970 counts as 1970.
    let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{}@{}", metadata.len(), since.as_nanos())
}
