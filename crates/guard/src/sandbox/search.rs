//! The search for the files to mask.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::mount_table::MountTable;
use super::sockets::{parse_bound_sockets, reachable_sockets, service_directories};
use super::sought_files::SoughtFiles;
use super::system::{DEVICES, KERNEL_SETTINGS, disks};
use super::walk::{Directory, EntryType, Version, Walk, Walked, may_be_opened};
use super::workspace::WorkspaceFiles;
use crate::permission::{DeniedFiles, FileUse};
use crate::process::{MAX_MASKS, Mask, MaskKind, Privilege, isolates_calls};

/// The masks for the files that exist now, and what they do not protect.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FoundMasks {
    /// The masks, in the order in which they have to be mounted.
    pub masks: Vec<Mask>,
    /// Reasons why a rule does not hold for all files that it names, each on one line.
    pub gaps: Vec<String>,
    /// Whether files were moved during all searches, so that some may have no mask.
    pub is_unsettled: bool,
}

impl FoundMasks {
    /// Whether a mask is over a path or a directory above it.
    pub fn covers(&self, path: &Path) -> bool {
        self.masks.iter().any(|mask| path.starts_with(&mask.path))
    }
}

/// Maximum number of searches while files are moved, and the time after which no other one begins.
const ATTEMPTS: usize = 50;
const MAX_TIME: Duration = Duration::from_secs(2);

/// What earlier searches have seen.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    files: Walk,
    services: Walk,
    /// What was found in the directories of the last walk for files.
    named: HashMap<PathBuf, NamedFiles>,
    found: Option<Found>,
}

impl Earlier {
    /// Searches again only if something has changed that the last search depended on: a search looks up each file.
    pub(super) fn search(&mut self, sought: &SoughtFiles) -> &Found {
        let start = Instant::now();
        let mut found = self.search_once(sought);
        for _ in 1..ATTEMPTS {
            if !found.has_moved || start.elapsed() > MAX_TIME {
                break;
            }
            found = self.search_once(sought);
        }
        if found.has_moved {
            let gap = "files are moved while they are looked for, so some may have no mask";
            found.masks.gaps.push(gap.to_owned());
            found.masks.is_unsettled = true;
        }
        self.found.insert(found)
    }

    fn search_once(&mut self, sought: &SoughtFiles) -> Found {
        let basis = Basis::look(sought, self);
        let before = self.found.take();
        let current = before.filter(|found| !found.has_moved && found.is_current(&basis));
        current.unwrap_or_else(|| Search::new(sought, basis).run(&mut self.named))
    }
}

/// What is looked at before each call. If it is as before, a search finds the same files, but for links and files
/// elsewhere ([`Found::is_current`]).
#[derive(Debug, PartialEq)]
struct Basis {
    mounts: MountTable,
    files: Walked,
    services: Walked,
    /// The paths of bound sockets.
    sockets: BTreeSet<PathBuf>,
    /// Tables of the kernel that cannot be read.
    unread: Vec<PathBuf>,
}

impl Basis {
    fn look(rules: &SoughtFiles, earlier: &mut Earlier) -> Self {
        let patterns = rules.patterns.iter().map(DeniedFiles::literal_start);
        let starts = patterns.filter(|(start, is_whole)| !is_whole && rules.is_expanded(start));
        // All working directories: a file that a rule names outside may have another name here.
        let writable = rules.workspace.iter().flat_map(|files| &files.writable);
        let roots = rules.working_directories.iter().chain(writable).cloned();
        let roots: Vec<PathBuf> = roots.chain(starts.map(|(start, _)| start)).collect();
        let mut unread = Vec::new();
        let mut read = |path: &str| {
            fs::read(path).unwrap_or_else(|_| {
                unread.push(PathBuf::from(path));
                Vec::new()
            })
        };
        Self {
            mounts: MountTable::parse(&read("/proc/self/mountinfo")),
            sockets: parse_bound_sockets(&read("/proc/net/unix")),
            unread,
            files: earlier.files.run(&roots),
            services: earlier
                .services
                .run(&service_directories(&rules.environment)),
        }
    }
}

/// What a search found, and what that depends on.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) masks: FoundMasks,
    /// Changes if the masked files are other files of the same names.
    pub(super) version: u64,
    /// What a workspace protects; sorted.
    pub(super) protected: Vec<PathBuf>,
    /// Whether a file vanished from its place during the search.
    has_moved: bool,
    basis: Basis,
    targets: Vec<Target>,
    /// Directories of found files outside of the walk.
    watched: BTreeMap<PathBuf, Option<Version>>,
}

impl Found {
    /// Whether a search would find the same.
    fn is_current(&self, basis: &Basis) -> bool {
        let is_same = |target: &Target| fs::canonicalize(&target.path).ok() == target.real;
        let is_unchanged = |(path, version): (&PathBuf, &Option<Version>)| {
            version.is_some() && Version::at(path) == *version
        };
        self.basis == *basis
            && self.targets.iter().all(is_same)
            && self.watched.iter().all(is_unchanged)
    }
}

/// Where a path leads: through links, or nowhere.
#[derive(Debug)]
struct Target {
    path: PathBuf,
    real: Option<PathBuf>,
}

/// The files in a directory that patterns name, and sockets.
#[derive(Debug, Clone)]
struct NamedFiles {
    directory: Arc<Directory>,
    files: Arc<[(PathBuf, FileUse)]>,
    /// What a workspace protects.
    protected: Arc<[Mask]>,
}

impl NamedFiles {
    fn find(
        path: &Path,
        directory: &Arc<Directory>,
        patterns: &[&DeniedFiles],
        workspace: Option<&WorkspaceFiles>,
    ) -> Self {
        let near = patterns.iter().filter_map(|pattern| {
            let below = path.strip_prefix(&pattern.directory).ok()?;
            Some((below, *pattern))
        });
        let near: Vec<_> = near.collect();
        let mut files = Vec::new();
        for entry in &directory.entries {
            let naming = near
                .iter()
                .filter(|(below, pattern)| pattern.covers(&below.join(&entry.name)));
            let socket = (entry.kind == EntryType::Socket).then_some(FileUse::Reading);
            let denied = naming.map(|(_, pattern)| pattern.denied).chain(socket);
            files.extend(denied.map(|denied| (path.join(&entry.name), denied)));
        }
        Self {
            directory: Arc::clone(directory),
            files: files.into(),
            protected: workspace.map_or_else(Arc::default, |workspace| {
                workspace.find_protected(path, directory).into()
            }),
        }
    }
}

/// A search for the files to mask.
struct Search<'a> {
    rules: &'a SoughtFiles,
    basis: Basis,
    /// The files found, without links, and how they are masked.
    files: BTreeMap<PathBuf, MaskKind>,
    gaps: BTreeSet<String>,
    targets: Vec<Target>,
    watched: BTreeMap<PathBuf, Option<Version>>,
    protected: BTreeSet<PathBuf>,
    has_moved: bool,
}

impl<'a> Search<'a> {
    fn new(rules: &'a SoughtFiles, basis: Basis) -> Self {
        Self {
            rules,
            has_moved: basis.files.has_moved,
            basis,
            files: BTreeMap::new(),
            gaps: BTreeSet::new(),
            targets: Vec::new(),
            watched: BTreeMap::new(),
            protected: BTreeSet::new(),
        }
    }

    /// Searches; `named` is what was found in the directories of the walk before.
    fn run(mut self, named: &mut HashMap<PathBuf, NamedFiles>) -> Found {
        self.expand(named);
        self.add_other_names();
        let environment = &self.rules.environment;
        let Basis {
            mounts,
            services,
            sockets,
            ..
        } = &self.basis;
        let allowed = self.rules.workspace.as_ref().map(|files| &*files.sockets);
        let workspace = self.rules.workspace.as_ref();
        if !workspace.is_some_and(|files| files.has_all_sockets) {
            let sockets = reachable_sockets(environment, mounts, services, sockets, allowed);
            let masks = sockets
                .into_iter()
                .map(|path| (path, MaskKind::UnreadableFile));
            self.files.extend(masks);
        }
        if self.rules.privilege == Privilege::Root {
            self.add_system();
        }
        for path in self.files.keys() {
            if let Some(directory) = path.parent()
                && !self.basis.files.directories.contains_key(directory)
            {
                let watched = self.watched.entry(directory.to_owned());
                watched.or_insert_with(|| Version::at(directory));
            }
        }
        let files = self.files.into_iter();
        let masks = files.map(|(path, kind)| {
            let facts = fs::symlink_metadata(&path).ok();
            self.has_moved |= facts.is_none() && !self.basis.sockets.contains(&path);
            let facts = facts.filter(|facts| !facts.file_type().is_socket());
            Mask {
                kind,
                path,
                file: facts.map(|facts| (facts.dev(), facts.ino())),
            }
        });
        let mut masks: Vec<Mask> = masks.collect();
        masks.sort_unstable();
        let mut version = DefaultHasher::new();
        self.basis.mounts.hash(&mut version);
        for mask in &masks {
            let facts = fs::symlink_metadata(&mask.path).ok();
            facts
                .map(|facts| (facts.dev(), facts.ino()))
                .hash(&mut version);
        }
        Found {
            masks: FoundMasks {
                masks,
                gaps: self.gaps.into_iter().collect(),
                is_unsettled: false,
            },
            version: version.finish(),
            protected: self.protected.into_iter().collect(),
            has_moved: self.has_moved,
            basis: self.basis,
            targets: self.targets,
            watched: self.watched,
        }
    }

    /// Adds the files through which root could get around masks.
    fn add_system(&mut self) {
        let settings = KERNEL_SETTINGS.iter().map(PathBuf::from);
        let settings = settings.filter(|path| path.exists());
        let settings = settings.map(|path| (path, MaskKind::Unchangeable));
        let disks = disks().into_iter();
        let disks = disks.map(|path| (path, MaskKind::UnreadableFile));
        self.files.extend(settings.chain(disks));
        if !isolates_calls() {
            let gap = "without Landlock, a program of root can take the user of a process outside, and then see \
                       its files";
            self.gaps.insert(gap.to_owned());
        }
        let devices = Path::new(DEVICES);
        self.watched
            .insert(devices.to_owned(), Version::at(devices));
    }

    /// Finds the files that the patterns name.
    fn expand(&mut self, seen: &mut HashMap<PathBuf, NamedFiles>) {
        let mut patterns = Vec::new();
        for pattern in &self.rules.patterns {
            let (start, is_whole) = pattern.literal_start();
            if is_whole {
                self.add(&start, pattern.denied);
            } else if self.rules.is_expanded(&start) {
                patterns.push(pattern);
            } else {
                self.gaps.insert(format!(
                    "{}: only patterns in the working directories and the home directory are looked for",
                    pattern.rule
                ));
            }
        }
        self.note_size(self.basis.files.is_incomplete);
        let unread = [&self.basis.unread[..], &self.basis.files.unread].concat();
        self.note_unread(&unread);
        let directories = self.basis.files.directories.iter();
        let named = directories.map(|(path, directory)| {
            let before = seen.remove(path);
            let before = before.filter(|before| Arc::ptr_eq(&before.directory, directory));
            let workspace = self.rules.workspace.as_ref();
            let named =
                before.unwrap_or_else(|| NamedFiles::find(path, directory, &patterns, workspace));
            (path.clone(), named)
        });
        let named: HashMap<_, _> = named.collect();
        for named in named.values() {
            for (path, denied) in &*named.files {
                let is_there = self.add(path, *denied);
                self.has_moved |= !is_there && !leads_nowhere(path);
            }
            for mask in &*named.protected {
                self.protected.insert(mask.path.clone());
                match self.real(&mask.path) {
                    Some(path) => self.insert(path, mask.kind),
                    None => self.has_moved |= !leads_nowhere(&mask.path),
                }
            }
        }
        *seen = named;
        let hidden = self.rules.workspace.iter().flat_map(|files| &files.hidden);
        for path in hidden {
            self.add(path, FileUse::Reading);
        }
    }

    /// Adds a file or directory; a link stands for its target. Returns whether it is there.
    fn add(&mut self, path: &Path, denied: FileUse) -> bool {
        let Some(path) = self.real(path) else {
            return false;
        };
        let Ok(facts) = fs::symlink_metadata(&path) else {
            return false;
        };
        let kind = match denied {
            FileUse::Changing => MaskKind::Unchangeable,
            FileUse::Reading if !facts.is_dir() => MaskKind::UnreadableFile,
            // Root could read a directory of any mode, and an empty one looks as if its files were deleted.
            FileUse::Reading if self.rules.privilege == Privilege::Root => {
                for file in self.files_below(&path) {
                    self.insert(file, MaskKind::UnreadableFile);
                }
                return true;
            }
            FileUse::Reading => MaskKind::UnreadableDirectory,
        };
        self.insert(path, kind);
        true
    }

    /// Returns the path of a file without links; `None` if there is none.
    fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let found = fs::canonicalize(path);
        if let Err(error) = &found
            && may_be_opened(path, error)
        {
            self.note_unread(&[path.to_owned()]);
        }
        let real = found.ok();
        if real.as_deref() != Some(path) {
            self.targets.push(Target {
                path: path.to_owned(),
                real: real.clone(),
            });
        }
        real
    }

    fn insert(&mut self, path: PathBuf, kind: MaskKind) {
        for other in self.basis.mounts.other_paths(&path) {
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
        // The files in a directory that cannot be moved are free.
        let found = self
            .files
            .iter()
            .filter(|(_, kind)| **kind != MaskKind::Pinned);
        let found = found.map(|(path, kind)| (path.clone(), *kind));
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
        for (path, directory) in &self.basis.files.directories {
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
                MaskKind::Pinned | MaskKind::Unchangeable => names.kind,
                MaskKind::UnreadableDirectory | MaskKind::UnreadableFile => {
                    MaskKind::UnreadableFile
                }
            };
            for path in names.paths {
                self.insert(path, kind);
            }
        }
    }

    /// Returns the files below a directory, without those that links lead to. Returns none once there are more than can
    /// be masked.
    fn files_below(&mut self, directory: &Path) -> Vec<PathBuf> {
        if self.files.len() > MAX_MASKS {
            return Vec::new();
        }
        let walked = Walk::without_links().run(&[directory.to_owned()]);
        self.note_size(walked.is_incomplete);
        self.has_moved |= walked.has_moved;
        self.note_unread(&walked.unread);
        let mut files = Vec::new();
        for (path, directory) in walked.directories {
            self.watched.insert(path.clone(), directory.version);
            let entries = directory.entries.iter();
            let is_file = |kind| !matches!(kind, EntryType::Directory | EntryType::Link);
            let entries = entries.filter(|entry| is_file(entry.kind));
            files.extend(entries.map(|entry| path.join(&entry.name)));
        }
        files
    }

    /// Notes files that could not be looked at; one of them.
    fn note_unread(&mut self, unread: &[PathBuf]) {
        if let Some(path) = unread.first() {
            let path = path.display();
            let more = match unread.len() {
                1 => String::new(),
                count => format!(", and {} more", count - 1),
            };
            self.gaps.insert(format!(
                "{path}: it cannot be looked at, so it has no mask{more}"
            ));
        }
    }

    fn note_size(&mut self, is_incomplete: bool) {
        if is_incomplete {
            let gap = "there are too many files to look at all of them";
            self.gaps.insert(gap.to_owned());
        }
    }
}

/// Whether a path is a link that leads nowhere, so that it names no file. Another file that is there by now was moved.
fn leads_nowhere(path: &Path) -> bool {
    let facts = fs::symlink_metadata(path);
    facts.is_ok_and(|facts| facts.file_type().is_symlink())
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
