//! Detects file systems on which an append is not atomic.

use std::fs::File;
use std::io;

/// Types of network file systems (`statfs(2)`). There `O_APPEND` is not atomic between machines,
/// and locks may have no effect.
#[cfg(target_os = "linux")]
const ELSEWHERE: [(u32, &str); 14] = [
    (0x0000_6969, "nfs"),
    (0x0000_517b, "smb"),
    (0xff53_4d42, "cifs"),
    (0xfe53_4d42, "smb2"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "afs"),
    (0x6b41_4653, "kafs"),
    (0x7375_7245, "coda"),
    (0x00c3_6400, "ceph"),
    (0x0000_564c, "ncp"),
    (0x0bd0_0bd0, "lustre"),
    (0x4750_4653, "gpfs"),
    (0x1983_0326, "beegfs"),
    (0x0116_1970, "gfs2"),
];

/// The file systems that may be written to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FileSystems {
    /// Local ones.
    #[default]
    Local,
    /// All. The caller guarantees that nothing else writes to the file.
    Any,
}

/// The name of the file system of `file`, if it is a network file system.
///
/// # Errors
/// As the system reports.
#[cfg(target_os = "linux")]
pub(super) fn network_of(file: &File) -> io::Result<Option<&'static str>> {
    let kind = rustix::fs::fstatfs(file)?.f_type;
    Ok(named(u64::try_from(kind).unwrap_or(0)))
}

/// Other systems cannot detect it.
#[cfg(not(target_os = "linux"))]
pub(super) fn network_of(_: &File) -> io::Result<Option<&'static str>> {
    Ok(None)
}

/// Only the lower half counts, because some systems sign-extend the number.
#[cfg(target_os = "linux")]
fn named(kind: u64) -> Option<&'static str> {
    let known = ELSEWHERE
        .iter()
        .find(|(number, _)| u64::from(*number) == kind & 0xffff_ffff);
    known.map(|(_, name)| *name)
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_of_other_machines_are_known() {
        assert_eq!(named(0x6969), Some("nfs"));
        assert_eq!(named(0xffff_ffff_ff53_4d42), Some("cifs"));
        // ext4, tmpfs, btrfs, overlay.
        for local in [0xef53, 0x0102_1994, 0x9123_683e, 0x794c_7630] {
            assert_eq!(named(local), None);
        }
        let file = tempfile::tempfile().unwrap();
        assert_eq!(network_of(&file).unwrap(), None);
    }
}
