//! The files of one session, and their paths in an archive.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::copy::{Problem, parent};
use crate::files::compressed::MAX_UNPACKED;
use crate::files::listed::ListedSession;
use crate::files::open::split_stored_path;
use crate::files::side_file::{SIDE_FILE_SUFFIX, side_file_path};
use turnpipe_formats::agent::{Agent, COMPRESSED, Facts, TitleStore, session_stem};

/// Extensions of files that commands read as they are, or that are already compressed.
const UNPACKED: [&str; 4] = ["json", "yaml", "turnpipe", COMPRESSED];

/// Maximum depth of directories that belong to a session.
const MAX_DEPTH: u32 = 16;

/// A session with everything that belongs to it.
#[derive(Debug)]
pub struct Bundle {
    /// The session: a canonical path, or the name of a session in a database.
    pub path: PathBuf,
    /// The agent that wrote it.
    pub agent: Agent,
    /// Its facts.
    pub facts: Facts,
    /// The size and the last change of a session in a database.
    pub(super) stored: Option<(u64, SystemTime)>,
    /// The session that started a session in a database.
    pub(super) parent: Option<String>,
    /// The sessions that this one continues, directly or through others.
    pub(super) ancestors: BTreeSet<PathBuf>,
    /// The sessions that continue it.
    pub(super) continued_by: Vec<PathBuf>,
    /// The directory that paths in the archive are relative to.
    base: PathBuf,
    /// The files that belong only to this session, itself last.
    pub(super) files: Vec<PathBuf>,
    /// The directories that belong only to this session, each before the directories in it.
    pub(super) dirs: Vec<PathBuf>,
    /// The files that it requires and shares with other sessions.
    pub(super) shared: Vec<PathBuf>,
    /// The files that belong to it and cannot be archived or removed.
    pub(super) problems: Vec<Problem>,
}

impl Bundle {
    /// Finds the files of a session below `root`, a canonical path.
    pub(super) fn new(listed: ListedSession, root: &Path) -> Self {
        let format = listed.agent.format();
        let path = listed.path;
        let id = listed.facts.session_id.as_deref().unwrap_or_default();
        let mut own = (format.layout.belongings)(&path, id);
        own.push(side_file_path(&path));
        let shared = (format.layout.shared_files)(&path).into_iter();
        let root_dir = if root.is_dir() { root } else { parent(root) };
        // The index of names has a fixed place relative to sessions.
        let index_dir = match format.titles.store {
            TitleStore::Index(index) => (index.path)(&path),
            TitleStore::SessionFile | TitleStore::None => None,
        };
        let base = index_dir.as_deref().map_or_else(|| parent(root), parent);
        let mut bundle = Self {
            base: base.to_owned(),
            agent: listed.agent,
            facts: listed.facts,
            stored: None,
            parent: None,
            ancestors: BTreeSet::new(),
            continued_by: Vec::new(),
            files: Vec::new(),
            dirs: Vec::new(),
            shared: shared.filter(|path| path.is_file()).collect(),
            problems: Vec::new(),
            path,
        };
        if split_stored_path(&bundle.path).is_none() {
            for path in own {
                bundle.add_belonging(&path, root_dir);
            }
            bundle.files.retain(|file| *file != bundle.path);
        }
        bundle.files.push(bundle.path.clone());
        bundle
    }

    fn add_belonging(&mut self, path: &Path, root: &Path) {
        match fs::canonicalize(path) {
            // Links may lead to files of others.
            Ok(found) if found != path => self
                .problems
                .push(Problem::new(path, "is reached by a symbolic link")),
            Ok(_) if path != root && path.starts_with(root) => self.add_files(path, MAX_DEPTH),
            Err(error) if error.kind() != ErrorKind::NotFound => {
                self.problems.push(Problem::new(path, error));
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// Adds a file, or the files in a directory. Follows no links.
    fn add_files(&mut self, path: &Path, depth: u32) {
        let kind = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) => return self.problems.push(Problem::new(path, error)),
        };
        if kind.is_file() {
            self.files.push(path.to_owned());
        } else if kind.is_dir() && depth > 0 {
            self.dirs.push(path.to_owned());
            match fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
                Ok(entries) => entries
                    .iter()
                    .for_each(|entry| self.add_files(&entry.path(), depth - 1)),
                Err(error) => self.problems.push(Problem::new(path, error)),
            }
        } else {
            self.problems
                .push(Problem::new(path, "is not a regular file"));
        }
    }

    /// Whether the session is in a database.
    pub(super) fn is_stored(&self) -> bool {
        self.stored.is_some()
    }

    /// Returns the place of the session in the archive in `dir`.
    pub fn target(&self, dir: &Path) -> PathBuf {
        self.file_target(&self.path, dir)
    }

    /// Returns the place of one of the files in the archive in `dir`. Compressed files have
    /// another extension.
    pub(super) fn file_target(&self, file: &Path, dir: &Path) -> PathBuf {
        let mut path = match split_stored_path(file) {
            // Subagents are in a directory with the name of their session.
            Some((database, id)) => {
                let dir = database.with_file_name(session_stem(&database).unwrap_or_default());
                let dir = self.parent.iter().fold(dir, |dir, parent| dir.join(parent));
                dir.join(format!("{id}.jsonl"))
            }
            None => file.to_owned(),
        };
        if self.is_packed(file) {
            path.as_mut_os_string().push(".");
            path.as_mut_os_string().push(COMPRESSED);
        } else if file.extension() == Some(OsStr::new(&SIDE_FILE_SUFFIX[1..])) {
            // A side file is named after its session.
            return side_file_path(&self.file_target(&file.with_extension(""), dir));
        }
        let relative = path.strip_prefix(&self.base).unwrap_or(&path);
        dir.join(self.agent.name())
            .join(relative.strip_prefix("/").unwrap_or(relative))
    }

    /// Whether a file is compressed in the archive.
    pub(super) fn is_packed(&self, file: &Path) -> bool {
        if self.is_stored() {
            return true;
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_document = name.starts_with("session-") && name.ends_with(".json");
        let extension = file.extension().unwrap_or_default();
        let is_plain = UNPACKED.iter().any(|known| extension == *known) && !is_document;
        // Commands unpack no larger files.
        let is_large = || fs::metadata(file).is_ok_and(|file| file.len() > MAX_UNPACKED);
        !is_plain && !self.shared.iter().any(|shared| shared == file) && !is_large()
    }
}
