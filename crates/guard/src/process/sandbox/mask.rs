//! Masks over files.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The identity of a file, whatever its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

impl FileId {
    /// Returns the identity of the file or link at a path; `None` if none can be seen there.
    pub fn from_path(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().as_ref().map(Self::from)
    }
}

impl From<&Metadata> for FileId {
    fn from(facts: &Metadata) -> Self {
        Self {
            device: facts.dev(),
            inode: facts.ino(),
        }
    }
}

/// A mask over a file or directory, which restricts programs in a namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mask {
    /// The use that it prevents.
    pub kind: MaskKind,
    /// The path: absolute, without links.
    pub path: PathBuf,
    /// The file that was found at the path. `None` if it may change or be missing, as sockets do.
    pub file: Option<FileId>,
}

/// The use that a mask prevents, in the order in which masks are mounted: a directory that cannot change is mounted
/// before the masks in it, which it would hide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MaskKind {
    /// Moving or removing a directory.
    Pinned,
    /// Changing a file, or everything in a directory.
    Unchangeable,
    /// Reading a directory and everything in it. Root reads directories of any mode, so it gets masks of files.
    UnreadableDirectory,
    /// Reading a file, or connecting to a socket.
    UnreadableFile,
}

impl MaskKind {
    /// The letter of each kind in the list that a helper reads.
    const LETTERS: [(u8, Self); 4] = [
        (b'p', Self::Pinned),
        (b'c', Self::Unchangeable),
        (b'd', Self::UnreadableDirectory),
        (b'f', Self::UnreadableFile),
    ];

    pub(super) fn letter(self) -> u8 {
        let row = Self::LETTERS.iter().find(|(_, kind)| *kind == self);
        row.map_or(0, |(letter, _)| *letter)
    }

    pub(super) fn from_letter(letter: u8) -> Option<Self> {
        let row = Self::LETTERS.iter().find(|(known, _)| *known == letter);
        row.map(|(_, kind)| *kind)
    }
}
