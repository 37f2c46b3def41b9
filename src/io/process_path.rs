//! Paths that lead to other files in each process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Maximum number of links on a path, as in Linux.
const MAX_LINKS: usize = 40;

/// Whether a path, or a link on it, leads to files that differ by process.
pub fn is_of_process(path: &Path) -> bool {
    let parts = |path: &Path| -> Vec<OsString> {
        let parts = path.components().rev();
        parts.map(|part| part.as_os_str().to_owned()).collect()
    };
    let (mut left, mut reached, mut links) = (parts(path), PathBuf::new(), 0);
    while let Some(part) = left.pop() {
        if part == ".." {
            reached.pop();
        } else {
            reached.push(part);
        }
        let mut own = ["/proc", "/dev/fd", "/dev/stdin"].iter();
        if links > MAX_LINKS || own.any(|place| reached.starts_with(place)) {
            return true;
        }
        if let Ok(target) = reached.read_link() {
            links += 1;
            reached.pop();
            left.extend(parts(&target));
        }
    }
    false
}
