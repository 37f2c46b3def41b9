//! Searches for the files to mask.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::mask_rules::MaskRules;
use super::mount_table::MountTable;
use super::sockets::{parse_bound_sockets, reachable_sockets, service_directories};
use super::system::{DEVICES, KERNEL_SETTINGS, find_disks};
use super::walk::{Directory, Entry, EntryType, Version, WalkResult, Walker, may_be_opened};
use super::workspace::WorkspaceFiles;
use crate::permission::{DeniedFiles, FileUse};
use crate::process::{FileId, MAX_MASKS, Mask, MaskKind, Privilege, isolates_calls};

/// The masks for the files that exist now, and the gaps in them.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FoundMasks {
    /// The masks, in the order in which they must be mounted.
    pub masks: Vec<Mask>,
    /// Reasons why a rule does not apply to all files that it names, each on one line.
    pub gaps: Vec<String>,
    /// Whether files were moved during every search, so that some may have no mask.
    pub is_unsettled: bool,
}

impl FoundMasks {
    /// Whether a mask over a path or a directory above it keeps the file from being changed or read.
    pub fn covers(&self, path: &Path) -> bool {
        let mut masks = self.masks.iter();
        masks.any(|mask| mask.kind != MaskKind::Pinned && path.starts_with(&mask.path))
    }
}

/// Maximum number of searches while files are moved.
const MAX_ATTEMPTS: usize = 50;

/// Time after which no further search starts.
const MAX_SEARCH_TIME: Duration = Duration::from_secs(2);

/// The results of earlier searches, which the next search reuses.
#[derive(Debug, Default)]
pub(super) struct SearchCache {
    files: Walker,
    services: Walker,
    /// The matches in the directories of the last walk for files.
    matched: HashMap<PathBuf, MatchedFiles>,
    found: Option<SearchResult>,
}

impl SearchCache {
    /// Returns the result of the last search if nothing that it depended on has changed, else searches again: a search
    /// looks up each file.
    pub(super) fn search(&mut self, rules: &MaskRules) -> &SearchResult {
        let start = Instant::now();
        let mut found = self.search_once(rules);
        for _ in 1..MAX_ATTEMPTS {
            if !found.has_moved || start.elapsed() > MAX_SEARCH_TIME {
                break;
            }
            found = self.search_once(rules);
        }
        if found.has_moved {
            let gap = "files are moved while they are looked for, so some may have no mask";
            found.masks.gaps.push(gap.to_owned());
            found.masks.is_unsettled = true;
        }
        self.found.insert(found)
    }

    fn search_once(&mut self, rules: &MaskRules) -> SearchResult {
        let input = SearchInput::collect(rules, self);
        let before = self.found.take();
        let current = before.filter(|found| !found.has_moved && found.is_current(&input));
        current.unwrap_or_else(|| Search::new(rules, input).run(&mut self.matched))
    }
}

/// The state of the system that is read before each call. If it has not changed, a search finds the same files, except
/// for links and files outside the walk ([`SearchResult::is_current`]).
#[derive(Debug, PartialEq)]
struct SearchInput {
    mounts: MountTable,
    files: WalkResult,
    services: WalkResult,
    /// The paths of bound sockets.
    sockets: BTreeSet<PathBuf>,
    /// The tables of the kernel that cannot be read.
    unread: Vec<PathBuf>,
}

impl SearchInput {
    fn collect(rules: &MaskRules, cache: &mut SearchCache) -> Self {
        let patterns = rules.patterns.iter().map(DeniedFiles::literal_start);
        let starts = patterns.filter(|(start, is_whole)| !is_whole && rules.is_expanded(start));
        // All working directories are walked: a file that a rule names elsewhere may have another name in them.
        let writable = rules.workspace.iter().flat_map(|files| &files.writable);
        let directories = rules.working_directories.iter().chain(writable).cloned();
        let roots: Vec<PathBuf> = directories.chain(starts.map(|(start, _)| start)).collect();
        let services = service_directories(&rules.environment);
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
            files: cache.files.walk(&roots),
            services: cache.services.walk(&services),
        }
    }
}

/// The result of a search, and the state that it depends on.
#[derive(Debug)]
pub(super) struct SearchResult {
    pub(super) masks: FoundMasks,
    /// A number that changes if other files have the names of the masked files.
    pub(super) version: u64,
    /// The files that a workspace protects.
    pub(super) protected: BTreeMap<PathBuf, Option<FileId>>,
    /// Whether a file vanished during the search.
    has_moved: bool,
    input: SearchInput,
    targets: Vec<LinkTarget>,
    /// Directories outside the walk that contain found files, with their versions.
    watched: BTreeMap<PathBuf, Option<Version>>,
}

impl SearchResult {
    /// Whether another search would find the same.
    fn is_current(&self, input: &SearchInput) -> bool {
        let is_same = |target: &LinkTarget| fs::canonicalize(&target.path).ok() == target.real;
        let is_unchanged = |(path, version): (&PathBuf, &Option<Version>)| {
            version.is_some() && Version::from_path(path) == *version
        };
        self.input == *input
            && self.targets.iter().all(is_same)
            && self.watched.iter().all(is_unchanged)
    }
}

/// A path with links, and the file to which it leads; `None` if it leads nowhere.
#[derive(Debug)]
struct LinkTarget {
    path: PathBuf,
    real: Option<PathBuf>,
}

/// The files in a directory that patterns match, and its sockets.
#[derive(Debug, Clone)]
struct MatchedFiles {
    directory: Arc<Directory>,
    files: Arc<[(PathBuf, FileUse)]>,
    /// The files that a workspace protects.
    protected: Arc<[Mask]>,
}

impl MatchedFiles {
    /// Matches the entries of a directory.
    fn find(
        path: &Path,
        directory: &Arc<Directory>,
        patterns: &[&DeniedFiles],
        workspace: Option<&WorkspaceFiles>,
    ) -> Self {
        let with_path = patterns.iter().filter_map(|pattern| {
            let below = path.strip_prefix(&pattern.directory).ok()?;
            Some((below, *pattern))
        });
        let applying: Vec<_> = with_path.collect();
        let mut files = Vec::new();
        for entry in &directory.entries {
            let matches = |rule: &DeniedFiles, below: &Path| rule.covers(&below.join(&entry.name));
            let matching = applying.iter().filter(|(below, rule)| matches(rule, below));
            let socket = (entry.kind == EntryType::Socket).then_some(FileUse::Reading);
            let denied = matching.map(|(_, pattern)| pattern.denied).chain(socket);
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
    rules: &'a MaskRules,
    input: SearchInput,
    /// The found files, without links, and the kinds of their masks.
    files: BTreeMap<PathBuf, MaskKind>,
    gaps: BTreeSet<String>,
    targets: Vec<LinkTarget>,
    watched: BTreeMap<PathBuf, Option<Version>>,
    protected: BTreeMap<PathBuf, Option<FileId>>,
    has_moved: bool,
}

impl<'a> Search<'a> {
    fn new(rules: &'a MaskRules, input: SearchInput) -> Self {
        Self {
            rules,
            has_moved: input.files.has_moved,
            input,
            files: BTreeMap::new(),
            gaps: BTreeSet::new(),
            targets: Vec::new(),
            watched: BTreeMap::new(),
            protected: BTreeMap::new(),
        }
    }

    /// Searches. `matched` has the matches of the last walk, and gets those of this one.
    fn run(mut self, matched: &mut HashMap<PathBuf, MatchedFiles>) -> SearchResult {
        self.find_named_files(matched);
        self.add_hard_links();
        self.add_sockets();
        if self.rules.privilege == Privilege::Root {
            self.add_root_masks();
        }
        self.watch_directories();
        let masks = self.list_masks();
        SearchResult {
            version: self.hash_files(&masks),
            masks: FoundMasks {
                masks,
                gaps: self.gaps.into_iter().collect(),
                is_unsettled: false,
            },
            protected: self.protected,
            has_moved: self.has_moved,
            input: self.input,
            targets: self.targets,
            watched: self.watched,
        }
    }

    /// Adds the sockets that this user can reach, unless a workspace permits all.
    fn add_sockets(&mut self) {
        let workspace = self.rules.workspace.as_ref();
        if workspace.is_some_and(|files| files.has_all_sockets) {
            return;
        }
        let environment = &self.rules.environment;
        let SearchInput {
            mounts,
            services,
            sockets,
            ..
        } = &self.input;
        let allowed = workspace.map(|files| &*files.sockets);
        let sockets = reachable_sockets(environment, mounts, services, sockets, allowed);
        for path in sockets {
            self.files.insert(path, MaskKind::UnreadableFile);
        }
    }

    /// Watches the directories of found files that the walk does not cover.
    fn watch_directories(&mut self) {
        for path in self.files.keys() {
            if let Some(directory) = path.parent()
                && !self.input.files.directories.contains_key(directory)
            {
                let watched = self.watched.entry(directory.to_owned());
                watched.or_insert_with(|| Version::from_path(directory));
            }
        }
    }

    /// Returns the masks for the found files, in the order in which they are mounted.
    fn list_masks(&mut self) -> Vec<Mask> {
        let files = std::mem::take(&mut self.files).into_iter();
        let found = files.map(|(path, kind)| {
            let facts = fs::symlink_metadata(&path).ok();
            self.has_moved |= facts.is_none() && !self.input.sockets.contains(&path);
            let file = facts.filter(|facts| !facts.file_type().is_socket());
            Mask {
                kind,
                path,
                file: file.as_ref().map(FileId::from),
            }
        });
        let mut masks: Vec<Mask> = found.collect();
        masks.sort_unstable();
        masks
    }

    /// Returns a hash of the mounts, and of the identities of the masked files.
    fn hash_files(&self, masks: &[Mask]) -> u64 {
        let mut version = DefaultHasher::new();
        self.input.mounts.hash(&mut version);
        for mask in masks {
            FileId::from_path(&mask.path).hash(&mut version);
        }
        version.finish()
    }

    /// Adds the files through which root could get around masks.
    fn add_root_masks(&mut self) {
        let settings = KERNEL_SETTINGS.map(PathBuf::from).into_iter();
        for path in settings.filter(|path| path.exists()) {
            self.files.insert(path, MaskKind::Unchangeable);
        }
        for path in find_disks() {
            self.files.insert(path, MaskKind::UnreadableFile);
        }
        if !isolates_calls() {
            let gap = "without Landlock, a program of root can take the user of a process outside, and then see \
                       its files";
            self.gaps.insert(gap.to_owned());
        }
        let devices = Path::new(DEVICES);
        self.watched
            .insert(devices.to_owned(), Version::from_path(devices));
    }

    /// Adds the files that the rules name. `matched` is as for [`Self::run`].
    fn find_named_files(&mut self, matched: &mut HashMap<PathBuf, MatchedFiles>) {
        let mut patterns = Vec::new();
        for pattern in &self.rules.patterns {
            let (start, is_whole) = pattern.literal_start();
            self.pin_directories(&start);
            if is_whole {
                self.add_denied(&start, pattern.denied);
            } else if self.rules.is_expanded(&start) {
                patterns.push(pattern);
            } else {
                self.gaps.insert(format!(
                    "{}: only patterns in the working directories and the home directory are looked for",
                    pattern.rule
                ));
            }
        }
        self.add_size_gap(self.input.files.is_incomplete);
        let unread = [&self.input.unread[..], &self.input.files.unread].concat();
        self.add_unread_gap(&unread);
        let directories = self.input.files.directories.iter();
        let current = directories.map(|(path, directory)| {
            let before = matched.remove(path);
            let unchanged = before.filter(|before| Arc::ptr_eq(&before.directory, directory));
            let workspace = self.rules.workspace.as_ref();
            let files = unchanged
                .unwrap_or_else(|| MatchedFiles::find(path, directory, &patterns, workspace));
            (path.clone(), files)
        });
        *matched = current.collect();
        for in_directory in matched.values() {
            for (path, denied) in &*in_directory.files {
                let exists = self.add_denied(path, *denied);
                self.has_moved |= !exists && !is_dangling_link(path);
            }
            for mask in &*in_directory.protected {
                let file = FileId::from_path(&mask.path);
                self.protected.insert(mask.path.clone(), file);
                match self.resolve(&mask.path) {
                    Some(path) => self.add_mask(path, mask.kind),
                    None => self.has_moved |= !is_dangling_link(&mask.path),
                }
            }
        }
        let hidden = self.rules.workspace.iter().flat_map(|files| &files.hidden);
        for path in hidden {
            self.add_denied(path, FileUse::Reading);
        }
    }

    /// Keeps the directories of a path that a rule names from being moved: another file could take the path then, and the
    /// rule would not apply to the moved one.
    fn pin_directories(&mut self, path: &Path) {
        let rules = self.rules;
        let Some(root) = rules.expanded_root(path) else {
            return;
        };
        for directory in path.ancestors().take_while(|above| *above != root) {
            if let Some(real) = self.resolve(directory).filter(|real| real.is_dir())
                && rules.expanded_root(&real).is_some_and(|root| root != real)
            {
                self.add_mask(real, MaskKind::Pinned);
            }
        }
    }

    /// Adds masks for a file or directory; a link stands for its target. Returns whether the file exists.
    fn add_denied(&mut self, path: &Path, denied: FileUse) -> bool {
        let Some(real) = self.resolve(path) else {
            return false;
        };
        let Ok(facts) = fs::symlink_metadata(&real) else {
            return false;
        };
        let kind = match denied {
            FileUse::Changing => MaskKind::Unchangeable,
            FileUse::Reading if !facts.is_dir() => MaskKind::UnreadableFile,
            // Root can read a directory of any mode. An empty one in its place would look as if its files were deleted.
            FileUse::Reading if self.rules.privilege == Privilege::Root => {
                for file in self.files_below(&real) {
                    self.add_mask(file, MaskKind::UnreadableFile);
                }
                MaskKind::Pinned
            }
            FileUse::Reading => MaskKind::UnreadableDirectory,
        };
        self.add_mask(real, kind);
        true
    }

    /// Resolves the links of a path, and records them; `None` if the file does not exist.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let resolved = fs::canonicalize(path);
        if let Err(error) = &resolved
            && may_be_opened(path, error)
        {
            self.add_unread_gap(&[path.to_owned()]);
        }
        let real = resolved.ok();
        if real.as_deref() != Some(path) {
            self.targets.push(LinkTarget {
                path: path.to_owned(),
                real: real.clone(),
            });
        }
        real
    }

    /// Adds a mask for a file at all of its mounted paths.
    fn add_mask(&mut self, path: PathBuf, kind: MaskKind) {
        for other in self.input.mounts.other_paths(&path) {
            self.add_mask_at(other, kind);
        }
        self.add_mask_at(path, kind);
    }

    /// Adds a mask, or makes that at the same path stricter: a file that cannot be read cannot be changed either.
    fn add_mask_at(&mut self, path: PathBuf, kind: MaskKind) {
        let strictest = self.files.entry(path).or_insert(kind);
        *strictest = (*strictest).max(kind);
    }

    /// Adds masks for the hard links to the found files.
    fn add_hard_links(&mut self) {
        let mut links: BTreeMap<FileId, HardLinks> = BTreeMap::new();
        // Files in a pinned directory may be changed, so that other names of them need no masks.
        let files = self.files.iter();
        let unpinned = files.filter(|(_, kind)| **kind != MaskKind::Pinned);
        let masked: Vec<_> = unpinned.map(|(path, kind)| (path.clone(), *kind)).collect();
        for (path, kind) in masked {
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
                    let entry = links.entry(FileId::from(&facts));
                    let names = entry.or_insert_with(|| HardLinks::new(kind, facts.nlink()));
                    names.paths.insert(file);
                }
            }
        }
        if links.is_empty() {
            return;
        }
        for (path, directory) in &self.input.files.directories {
            for entry in &directory.entries {
                let file = FileId {
                    device: directory.device,
                    inode: entry.inode,
                };
                if let Some(names) = links.get_mut(&file)
                    && let Ok(real) = fs::canonicalize(path.join(&entry.name))
                {
                    names.paths.insert(real);
                }
            }
        }
        for names in links.into_values() {
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
                self.add_mask(path, kind);
            }
        }
    }

    /// Returns the files below a directory, except links; none if there are already more masks than can be mounted.
    fn files_below(&mut self, directory: &Path) -> Vec<PathBuf> {
        if self.files.len() > MAX_MASKS {
            return Vec::new();
        }
        let walked = Walker::without_links().walk(&[directory.to_owned()]);
        self.add_size_gap(walked.is_incomplete);
        self.has_moved |= walked.has_moved;
        self.add_unread_gap(&walked.unread);
        let mut files = Vec::new();
        for (path, directory) in walked.directories {
            self.watched.insert(path.clone(), directory.version);
            let is_file =
                |entry: &&Entry| !matches!(entry.kind, EntryType::Directory | EntryType::Link);
            let entries = directory.entries.iter().filter(is_file);
            files.extend(entries.map(|entry| path.join(&entry.name)));
        }
        files
    }

    /// Adds a gap for files that could not be examined. It names the first one.
    fn add_unread_gap(&mut self, unread: &[PathBuf]) {
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

    /// Adds a gap for a walk that did not reach all files.
    fn add_size_gap(&mut self, is_incomplete: bool) {
        if is_incomplete {
            let gap = "there are too many files to look at all of them";
            self.gaps.insert(gap.to_owned());
        }
    }
}

/// Whether a path that could not be resolved is a link, so that no file was moved: the link leads nowhere.
fn is_dangling_link(path: &Path) -> bool {
    let facts = fs::symlink_metadata(path);
    facts.is_ok_and(|facts| facts.file_type().is_symlink())
}

/// The known names of a file with several hard links.
struct HardLinks {
    kind: MaskKind,
    /// Number of links that the file system reports.
    count: u64,
    paths: BTreeSet<PathBuf>,
}

impl HardLinks {
    fn new(kind: MaskKind, count: u64) -> Self {
        Self {
            kind,
            count,
            paths: BTreeSet::new(),
        }
    }
}
