//! Walks through directories for files that patterns match. A directory is read again only after it has changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::process::FileId;

/// Maximum number of entries of a walk.
const MAX_ENTRIES: usize = 500_000;

/// Directories of devices, and of facts about the system.
const VIRTUAL_DIRECTORIES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Minimum age of a change after which a later change certainly has another time.
const CLOCK_TICK: Duration = Duration::from_millis(20);

/// The type of an entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryType {
    Directory,
    Link,
    Socket,
    Other,
}

/// An entry of a directory.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) inode: u64,
    pub(super) kind: EntryType,
}

impl Entry {
    fn new(entry: &DirEntry) -> Self {
        use std::os::unix::fs::FileTypeExt as _;
        // An entry that has vanished has no type.
        let kind = entry.file_type().map_or(EntryType::Other, |kind| {
            if kind.is_dir() {
                EntryType::Directory
            } else if kind.is_symlink() {
                EntryType::Link
            } else if kind.is_socket() {
                EntryType::Socket
            } else {
                EntryType::Other
            }
        });
        Self {
            name: entry.file_name(),
            inode: entry.ino(),
            kind,
        }
    }
}

/// A directory as it was read.
#[derive(Debug)]
pub(super) struct Directory {
    /// `None` if it changed too recently.
    pub(super) version: Option<Version>,
    pub(super) device: u64,
    pub(super) entries: Vec<Entry>,
}

/// The version of a directory, which differs after every change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Version {
    /// Returns the version of a directory; `None` if it does not exist, or changed so recently that another change
    /// could have the same time.
    pub(super) fn from_path(path: &Path) -> Option<Self> {
        Self::from_metadata(&fs::metadata(path).ok()?)
    }

    fn from_metadata(facts: &Metadata) -> Option<Self> {
        let changed = (facts.ctime(), facts.ctime_nsec());
        let since = Duration::new(changed.0.try_into().ok()?, changed.1.try_into().ok()?);
        let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + since);
        age.is_ok_and(|age| age > CLOCK_TICK).then_some(Self {
            device: facts.dev(),
            inode: facts.ino(),
            changed,
        })
    }
}

/// A walker, with the directories of its last walk by path.
#[derive(Debug, Default)]
pub(super) struct Walker {
    known: HashMap<PathBuf, Arc<Directory>>,
    ignores_links: bool,
}

/// The directories of one walk, by path.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    pub(super) directories: BTreeMap<PathBuf, Arc<Directory>>,
    /// Whether directories were left out because there were more than [`MAX_ENTRIES`].
    pub(super) is_incomplete: bool,
    /// Directories that were left out because they could not be read, although programs of this user may open them.
    pub(super) unread: Vec<PathBuf>,
    /// Whether a directory vanished: it may have moved to a place that the walk had already passed.
    pub(super) has_moved: bool,
}

/// Equal if the walks read the same directories and none has changed in between.
impl PartialEq for WalkResult {
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.directories.iter().zip(&other.directories);
        let mut same = pairs.map(|(one, other)| one.0 == other.0 && Arc::ptr_eq(one.1, other.1));
        self.is_incomplete == other.is_incomplete
            && self.unread == other.unread
            && self.directories.len() == other.directories.len()
            && same.all(|is_same| is_same)
    }
}

impl Walker {
    /// Creates a walker that follows no links.
    pub(super) fn without_links() -> Self {
        Self {
            ignores_links: true,
            ..Self::default()
        }
    }

    /// Walks through directories, including hidden and ignored ones, and once through each directory to which a link
    /// leads. A directory of another user that cannot be read is left out: programs of this user cannot read it either.
    pub(super) fn walk(&mut self, roots: &[PathBuf]) -> WalkResult {
        let mut walked = WalkResult::default();
        let mut waiting: Vec<PathBuf> = roots.to_vec();
        let mut followed = HashSet::new();
        let mut entry_count = 0;
        while let Some(path) = waiting.pop() {
            if walked.directories.contains_key(&path)
                || VIRTUAL_DIRECTORIES.iter().any(|dir| path == Path::new(dir))
            {
                continue;
            }
            if entry_count > MAX_ENTRIES {
                walked.is_incomplete = true;
                break;
            }
            let directory = match self.read_directory(&path) {
                Ok(directory) => directory,
                Err(error) if may_be_opened(&path, &error) => {
                    walked.unread.push(path);
                    continue;
                }
                Err(error) => {
                    let is_root = roots.contains(&path);
                    walked.has_moved |= error.kind() == ErrorKind::NotFound && !is_root;
                    continue;
                }
            };
            entry_count += directory.entries.len();
            for entry in &directory.entries {
                let below = || path.join(&entry.name);
                match entry.kind {
                    EntryType::Directory => waiting.push(below()),
                    EntryType::Link if self.ignores_links => {}
                    EntryType::Link => waiting.extend(follow_link(below(), &mut followed)),
                    EntryType::Socket | EntryType::Other => {}
                }
            }
            walked.directories.insert(path, directory);
        }
        self.known = walked.directories.clone().into_iter().collect();
        walked
    }

    /// Returns a directory, from the last walk if it has not changed.
    fn read_directory(&self, path: &Path) -> io::Result<Arc<Directory>> {
        let facts = fs::metadata(path)?;
        let version = Version::from_metadata(&facts);
        if let Some(known) = self.known.get(path)
            && version.is_some()
            && known.version == version
        {
            return Ok(Arc::clone(known));
        }
        let entries = fs::read_dir(path)?;
        Ok(Arc::new(Directory {
            version,
            device: facts.dev(),
            entries: entries.flatten().map(|entry| Entry::new(&entry)).collect(),
        }))
    }
}

/// Whether a program of this user may open a file that could not be examined because of `error`: after a change of the
/// mode of a directory, or by a shorter path from another directory.
pub(super) fn may_be_opened(path: &Path, error: &io::Error) -> bool {
    let nearest = || {
        path.ancestors()
            .find_map(|above| fs::symlink_metadata(above).ok())
    };
    match error.kind() {
        ErrorKind::InvalidFilename => true,
        ErrorKind::PermissionDenied => {
            let own = rustix::process::geteuid().as_raw();
            nearest().is_some_and(|facts| facts.uid() == own)
        }
        _ => false,
    }
}

/// Returns a link if it leads to a directory to which no other link of the walk has led.
fn follow_link(link: PathBuf, followed: &mut HashSet<FileId>) -> Option<PathBuf> {
    let facts = fs::metadata(&link).ok().filter(Metadata::is_dir)?;
    let real = fs::canonicalize(&link).ok()?;
    if VIRTUAL_DIRECTORIES.iter().any(|dir| real.starts_with(dir)) {
        return None;
    }
    followed.insert(FileId::from(&facts)).then_some(link)
}
