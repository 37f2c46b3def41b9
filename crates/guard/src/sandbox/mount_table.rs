//! Finds the other paths of a file in the mounts of this process.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::process::FileId;

/// The mounts, as in `/proc/self/mountinfo`.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct MountTable {
    mounts: Vec<Mount>,
}

/// A part of a file system at a path.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Mount {
    /// Major and minor number of the file system.
    device: String,
    /// The directory or file of the file system that is mounted.
    root: PathBuf,
    /// The path where it is mounted.
    point: PathBuf,
}

impl MountTable {
    /// Parses the content of `/proc/self/mountinfo`.
    pub(super) fn parse(table: &[u8]) -> Self {
        let lines = table.split(|byte| *byte == b'\n');
        Self {
            mounts: lines.filter_map(parse_line).collect(),
        }
    }

    /// Returns the other paths of a file, in other mounts of the same file system. `path` has no links.
    pub(super) fn other_paths(&self, path: &Path) -> Vec<PathBuf> {
        let candidates = self.candidates(path);
        if candidates.is_empty() {
            return candidates;
        }
        let own = FileId::from_path(path);
        let is_same = |other: &PathBuf| own.is_some() && FileId::from_path(other) == own;
        candidates.into_iter().filter(is_same).collect()
    }

    /// Returns the paths in other mounts, which another mount may hide.
    fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        // Of several mounts at one path, the last one is visible.
        let from_last = self.mounts.iter().rev();
        let above = from_last.filter(|mount| path.starts_with(&mount.point));
        let Some(own) = above.max_by_key(|mount| mount.point.components().count()) else {
            return Vec::new();
        };
        let Ok(below) = path.strip_prefix(&own.point) else {
            return Vec::new();
        };
        let in_file_system = join(&own.root, below);
        let mounts = self.mounts.iter();
        let others = mounts.filter(|other| other.device == own.device);
        let paths = others.filter_map(|other| {
            let below = in_file_system.strip_prefix(&other.root).ok()?;
            Some(join(&other.point, below))
        });
        paths.filter(|other| other != path).collect()
    }

    /// Returns the mount points.
    pub(super) fn points(&self) -> impl Iterator<Item = &Path> {
        self.mounts.iter().map(|mount| &*mount.point)
    }
}

/// Joins paths. Unlike [`Path::join`], it appends no slash if `below` is empty.
fn join(directory: &Path, below: &Path) -> PathBuf {
    directory.iter().chain(below).collect()
}

/// Parses a line: two numbers, the device, the root, the mount point and further fields.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let device = fields.nth(2)?;
    let root = fields.next()?;
    let point = fields.next()?;
    Some(Mount {
        device: String::from_utf8(device.to_vec()).ok()?,
        root: unescape(root),
        point: unescape(point),
    })
}

/// Replaces the escapes of blanks, backslashes and line feeds: a backslash and three octal digits.
fn unescape(field: &[u8]) -> PathBuf {
    let mut path = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let escape = (*first == b'\\').then(|| after.get(..3)).flatten();
        let code = escape.and_then(|digits| str::from_utf8(digits).ok());
        if let Some(byte) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            path.push(byte);
            rest = &after[3..];
        } else {
            path.push(*first);
            rest = after;
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_paths_of_a_file_are_in_mounts_of_its_file_system() {
        let table = MountTable::parse(
            b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
              30 22 8:1 /srv/data /mnt/a\\040b rw - ext4 /dev/sda1 rw\n\
              31 22 0:5 / /srv rw - tmpfs tmpfs rw\n\
              32 22 8:1 /home/u/.env /run/env rw - ext4 /dev/sda1 rw\n",
        );
        let other = |path: &str| table.candidates(Path::new(path));
        assert_eq!(other("/home/u/.env"), [PathBuf::from("/run/env")]);
        assert_eq!(other("/run/env"), [PathBuf::from("/home/u/.env")]);
        assert_eq!(other("/mnt/a b/x"), [PathBuf::from("/srv/data/x")]);
        // Another file system is mounted over it.
        assert!(other("/srv/data/x").is_empty());
        assert!(other("/etc/passwd").is_empty());
    }
}
