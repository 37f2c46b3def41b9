//! Which files the rules of a run name, and the masks that protect them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::mount_table::MountTable;
use super::sockets::reachable_sockets;
use super::system::{KERNEL_SETTINGS, disks};
use super::walk::{Directory, EntryType, Walk, Walked};
use crate::io::{Environment, Lock};
use crate::permission::{DeniedFiles, FileUse};
use crate::process::{Mask, MaskKind, MaskList, MaskSource, Privilege};

/// The file rules of a run.
#[derive(Debug)]
pub struct FileRules {
    patterns: Vec<DeniedFiles>,
    working_directories: Vec<PathBuf>,
    home: Option<PathBuf>,
    environment: Arc<Environment>,
    privilege: Privilege,
    walks: Mutex<Walks>,
}

/// What earlier walks have seen.
#[derive(Debug, Default)]
struct Walks {
    files: Walk,
    services: Walk,
    /// What was found in the directories of the last walk for files.
    named: HashMap<PathBuf, NamedFiles>,
}

/// The files in a directory that patterns name, and sockets.
#[derive(Debug, Clone)]
struct NamedFiles {
    directory: Arc<Directory>,
    files: Arc<[(PathBuf, FileUse)]>,
}

impl NamedFiles {
    fn find(path: &Path, directory: &Arc<Directory>, patterns: &[&DeniedFiles]) -> Self {
        let near = patterns.iter().filter_map(|pattern| {
            let below = path.strip_prefix(&pattern.directory).ok()?;
            Some((below, *pattern))
        });
        let near: Vec<_> = near.collect();
        let mut files = Vec::new();
        for entry in &directory.entries {
            let naming = near
                .iter()
                .filter(|(below, pattern)| pattern.is_named(&below.join(&entry.name)));
            let socket = (entry.kind == EntryType::Socket).then_some(FileUse::Reading);
            let denied = naming.map(|(_, pattern)| pattern.denied).chain(socket);
            files.extend(denied.map(|denied| (path.join(&entry.name), denied)));
        }
        Self {
            directory: Arc::clone(directory),
            files: files.into(),
        }
    }
}

/// The masks for the files that exist now, and what they do not protect.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FoundMasks {
    /// The masks, in the order in which they have to be mounted.
    pub masks: Vec<Mask>,
    /// Reasons why a rule does not hold for all files that it names, each on one line.
    pub gaps: Vec<String>,
}

impl FoundMasks {
    /// Whether a mask is over a path or a directory above it.
    pub fn covers(&self, path: &Path) -> bool {
        self.masks.iter().any(|mask| path.starts_with(&mask.path))
    }
}

impl FileRules {
    /// Returns the rules for these files. Patterns with wildcards are expanded in the working directories and in the
    /// home directory.
    pub fn new(
        patterns: Vec<DeniedFiles>,
        working_directories: &[PathBuf],
        environment: Arc<Environment>,
    ) -> Self {
        Self {
            patterns,
            working_directories: working_directories.to_vec(),
            home: environment.get("HOME").map(PathBuf::from),
            environment,
            privilege: Privilege::of_process(),
            walks: Mutex::default(),
        }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether patterns are expanded in a directory.
    fn is_expanded(&self, path: &Path) -> bool {
        let mut directories = self.working_directories.iter().chain(&self.home);
        directories.any(|directory| path.starts_with(directory))
    }

    /// Returns the masks for the files that exist now. Walks through directories.
    pub fn find_masks(&self) -> FoundMasks {
        let mut walks = self.walks.locked();
        let mut search = Search {
            rules: self,
            mounts: MountTable::read(),
            walked: Walked::default(),
            files: BTreeMap::new(),
            gaps: BTreeSet::new(),
        };
        search.expand(&mut walks);
        search.add_other_names();
        for socket in reachable_sockets(&self.environment, &search.mounts, &mut walks.services) {
            search.files.insert(socket, MaskKind::UnreadableFile);
        }
        if self.privilege == Privilege::Root {
            let settings = KERNEL_SETTINGS.iter().map(PathBuf::from);
            let settings = settings.filter(|path| path.exists());
            search
                .files
                .extend(settings.map(|path| (path, MaskKind::Unchangeable)));
            let devices = disks().into_iter();
            search
                .files
                .extend(devices.map(|path| (path, MaskKind::UnreadableFile)));
        }
        let mut masks: Vec<Mask> = search
            .files
            .into_iter()
            .map(|(path, kind)| Mask { kind, path })
            .collect();
        masks.sort_unstable();
        FoundMasks {
            masks,
            gaps: search.gaps.into_iter().collect(),
        }
    }
}

impl MaskSource for FileRules {
    fn list(&self) -> MaskList {
        let masks = self.find_masks().masks;
        let mut version = DefaultHasher::new();
        MountTable::read().hash(&mut version);
        for mask in &masks {
            let facts = fs::symlink_metadata(&mask.path);
            facts
                .map(|facts| (facts.dev(), facts.ino()))
                .ok()
                .hash(&mut version);
        }
        MaskList {
            masks,
            version: version.finish(),
        }
    }
}

/// A search for the files to mask.
struct Search<'a> {
    rules: &'a FileRules,
    mounts: MountTable,
    walked: Walked,
    /// The files found, without links, and how they are masked.
    files: BTreeMap<PathBuf, MaskKind>,
    gaps: BTreeSet<String>,
}

impl Search<'_> {
    /// Finds the files that the patterns name.
    fn expand(&mut self, walks: &mut Walks) {
        let mut patterns = Vec::new();
        // All of them: a file that a rule names outside may have another name here.
        let mut roots = self.rules.working_directories.clone();
        for pattern in &self.rules.patterns {
            let (start, is_whole) = pattern.literal_start();
            if is_whole {
                self.add(&start, pattern.denied);
            } else if self.rules.is_expanded(&start) {
                roots.push(start);
                patterns.push(pattern);
            } else {
                self.gaps.insert(format!(
                    "{}: only patterns in the working directories and the home directory are looked for",
                    pattern.rule
                ));
            }
        }
        let walked = walks.files.run(&roots);
        self.note_size(&walked);
        self.walked = walked;
        let directories = &self.walked.directories;
        let seen = std::mem::take(&mut walks.named);
        walks.named = directories
            .iter()
            .map(|(path, directory)| {
                let before = seen.get(path);
                let before = before.filter(|before| Arc::ptr_eq(&before.directory, directory));
                let named = before.cloned();
                let named = named.unwrap_or_else(|| NamedFiles::find(path, directory, &patterns));
                (path.clone(), named)
            })
            .collect();
        for named in walks.named.values() {
            for (path, denied) in &*named.files {
                self.add(path, *denied);
            }
        }
    }

    /// Adds a file or directory; a link stands for its target.
    fn add(&mut self, path: &Path, denied: FileUse) {
        let Ok(path) = fs::canonicalize(path) else {
            return;
        };
        let Ok(facts) = fs::symlink_metadata(&path) else {
            return;
        };
        let kind = match denied {
            FileUse::Changing => MaskKind::Unchangeable,
            FileUse::Reading if !facts.is_dir() => MaskKind::UnreadableFile,
            // Root could read a directory of any mode, and an empty one looks as if its files were deleted.
            FileUse::Reading if self.rules.privilege == Privilege::Root => {
                for file in self.files_below(&path) {
                    self.insert(file, MaskKind::UnreadableFile);
                }
                return;
            }
            FileUse::Reading => MaskKind::UnreadableDirectory,
        };
        self.insert(path, kind);
    }

    fn insert(&mut self, path: PathBuf, kind: MaskKind) {
        for other in self.mounts.other_paths(&path) {
            self.insert_one(other, kind);
        }
        self.insert_one(path, kind);
    }

    /// What cannot be read cannot be changed either.
    fn insert_one(&mut self, path: PathBuf, kind: MaskKind) {
        let strictest = self.files.entry(path).or_insert(kind);
        *strictest = (*strictest).max(kind);
    }

    /// Adds the other names of the found files: hard links.
    fn add_other_names(&mut self) {
        let mut wanted: BTreeMap<(u64, u64), Names> = BTreeMap::new();
        let found = self.files.iter().map(|(path, kind)| (path.clone(), *kind));
        for (path, kind) in found.collect::<Vec<_>>() {
            let files = if path.is_dir() {
                self.files_below(&path)
            } else {
                vec![path]
            };
            for file in files {
                let Ok(facts) = fs::symlink_metadata(&file) else {
                    continue;
                };
                if facts.nlink() > 1 {
                    let key = (facts.dev(), facts.ino());
                    let names = wanted
                        .entry(key)
                        .or_insert_with(|| Names::new(kind, facts.nlink()));
                    names.paths.insert(file);
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        for (path, directory) in &self.walked.directories {
            for entry in &directory.entries {
                if let Some(names) = wanted.get_mut(&(directory.device, entry.inode))
                    && let Ok(real) = fs::canonicalize(path.join(&entry.name))
                {
                    names.paths.insert(real);
                }
            }
        }
        for names in wanted.into_values() {
            if (names.paths.len() as u64) < names.count
                && let Some(path) = names.paths.first()
            {
                let path = path.display();
                self.gaps
                    .insert(format!("{path}: it has another name, which was not found"));
            }
            let kind = match names.kind {
                MaskKind::Unchangeable => MaskKind::Unchangeable,
                MaskKind::UnreadableDirectory | MaskKind::UnreadableFile => {
                    MaskKind::UnreadableFile
                }
            };
            for path in names.paths {
                self.insert(path, kind);
            }
        }
    }

    /// Returns the files below a directory. Links are not followed.
    fn files_below(&mut self, directory: &Path) -> Vec<PathBuf> {
        let walked = Walk::default().run(&[directory.to_owned()]);
        self.note_size(&walked);
        let mut files = Vec::new();
        for (path, directory) in walked.directories {
            let entries = directory.entries.iter();
            let is_file = |kind| !matches!(kind, EntryType::Directory | EntryType::Link);
            let entries = entries.filter(|entry| is_file(entry.kind));
            files.extend(entries.map(|entry| path.join(&entry.name)));
        }
        files
    }

    fn note_size(&mut self, walked: &Walked) {
        if walked.is_incomplete {
            let gap = "there are too many files to look at all of them";
            self.gaps.insert(gap.to_owned());
        }
    }
}

/// The names of a file.
struct Names {
    kind: MaskKind,
    /// The number of names, by the file system.
    count: u64,
    paths: BTreeSet<PathBuf>,
}

impl Names {
    fn new(kind: MaskKind, count: u64) -> Self {
        Self {
            kind,
            count,
            paths: BTreeSet::new(),
        }
    }
}
