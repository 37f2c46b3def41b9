//! The walk through directories for files that patterns name. It remembers what it saw: a directory is read again only
//! after it has changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Maximum number of entries that a walk looks at.
const MAX_ENTRIES: usize = 500_000;

/// Directories of devices and of facts about the system.
const NOT_FILES: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Age of a change after which a later change has another time.
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
        // An entry that has vanished is none of the others.
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
    pub(super) version: Option<Version>,
    pub(super) device: u64,
    pub(super) entries: Vec<Entry>,
}

/// Changes with every change of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl Version {
    /// Returns the version of a directory that exists. `None` if it changed a moment before, since another change
    /// could have the same time.
    pub(super) fn at(path: &Path) -> Option<Self> {
        Self::of(&fs::metadata(path).ok()?)
    }

    fn of(facts: &Metadata) -> Option<Self> {
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

/// The directories that were seen, by their path.
#[derive(Debug, Default)]
pub(super) struct Walk {
    seen: HashMap<PathBuf, Arc<Directory>>,
    ignores_links: bool,
}

/// The directories of one walk, by their path.
#[derive(Debug, Default)]
pub(super) struct Walked {
    pub(super) directories: BTreeMap<PathBuf, Arc<Directory>>,
    /// Whether directories were left out, because there were too many entries.
    pub(super) is_incomplete: bool,
    /// Directories that were left out because they could not be read, although programs of this user may open them.
    pub(super) unread: Vec<PathBuf>,
    /// Whether a directory vanished from its place: it may be where the walk has been before.
    pub(super) has_moved: bool,
}

/// Whether the same directories were seen, and none has changed between.
impl PartialEq for Walked {
    fn eq(&self, other: &Self) -> bool {
        let pairs = self.directories.iter().zip(&other.directories);
        let mut same = pairs.map(|(own, other)| own.0 == other.0 && Arc::ptr_eq(own.1, other.1));
        self.is_incomplete == other.is_incomplete
            && self.unread == other.unread
            && self.directories.len() == other.directories.len()
            && same.all(|is_same| is_same)
    }
}

impl Walk {
    /// Returns a walk that follows no links.
    pub(super) fn without_links() -> Self {
        Self {
            ignores_links: true,
            ..Self::default()
        }
    }

    /// Walks through directories, hidden and ignored ones too, and once through each directory that a link leads to.
    /// A directory of another user that cannot be read is left out: programs of this user cannot read it either.
    pub(super) fn run(&mut self, roots: &[PathBuf]) -> Walked {
        let mut walked = Walked::default();
        let mut waiting: Vec<PathBuf> = roots.to_vec();
        let mut followed = HashSet::new();
        let mut count = 0;
        while let Some(path) = waiting.pop() {
            if walked.directories.contains_key(&path)
                || NOT_FILES.iter().any(|dir| path == Path::new(dir))
            {
                continue;
            }
            if count > MAX_ENTRIES {
                walked.is_incomplete = true;
                break;
            }
            let directory = match self.read(&path) {
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
            count += directory.entries.len();
            for entry in &directory.entries {
                let below = || path.join(&entry.name);
                match entry.kind {
                    EntryType::Directory => waiting.push(below()),
                    EntryType::Link if self.ignores_links => {}
                    EntryType::Link => waiting.extend(directory_of_link(below(), &mut followed)),
                    EntryType::Socket | EntryType::Other => {}
                }
            }
            walked.directories.insert(path, directory);
        }
        let directories = &walked.directories;
        self.seen = directories
            .iter()
            .map(|(path, directory)| (path.clone(), Arc::clone(directory)))
            .collect();
        walked
    }

    fn read(&self, path: &Path) -> io::Result<Arc<Directory>> {
        let facts = fs::metadata(path)?;
        let version = Version::of(&facts);
        if let Some(seen) = self.seen.get(path)
            && version.is_some()
            && seen.version == version
        {
            return Ok(Arc::clone(seen));
        }
        let entries = fs::read_dir(path)?;
        Ok(Arc::new(Directory {
            version,
            device: facts.dev(),
            entries: entries.flatten().map(|entry| Entry::new(&entry)).collect(),
        }))
    }
}

/// Whether a program of this user may open a file that could not be looked at for this reason: after a change of the
/// mode of a directory, or by a shorter path from another directory.
pub(super) fn may_be_opened(path: &Path, error: &io::Error) -> bool {
    let nearest = || {
        let mut above = path.ancestors();
        above.find_map(|above| fs::symlink_metadata(above).ok())
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

/// Returns a link to a directory that no other link of the walk led to.
fn directory_of_link(link: PathBuf, followed: &mut HashSet<(u64, u64)>) -> Option<PathBuf> {
    let facts = fs::metadata(&link).ok().filter(Metadata::is_dir)?;
    let real = fs::canonicalize(&link).ok()?;
    if NOT_FILES.iter().any(|dir| real.starts_with(dir)) {
        return None;
    }
    followed.insert((facts.dev(), facts.ino())).then_some(link)
}
