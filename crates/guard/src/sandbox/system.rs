//! Finds files through which root could get around masks: settings of the kernel, and disks.

use std::fs::{self, DirEntry};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Settings of the kernel by which root can make it start programs outside the sandbox.
pub(super) const KERNEL_SETTINGS: [&str; 4] =
    ["/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/sys"];

/// The directory of devices.
pub(super) const DEVICES: &str = "/dev";

/// Finds the disks and their partitions, and the devices that pass requests to disks.
pub(super) fn find_disks() -> Vec<PathBuf> {
    let mut disks = Vec::new();
    let mut waiting = vec![PathBuf::from(DEVICES)];
    while let Some(directory) = waiting.pop() {
        for entry in list_entries(&directory) {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_request_device = || {
                let path = entry.path();
                let below = path.strip_prefix(DEVICES).unwrap_or(&path);
                let name = below.to_string_lossy();
                name.starts_with("sg") || name.starts_with("bsg/")
            };
            if kind.is_block_device() || (kind.is_char_device() && is_request_device()) {
                disks.push(entry.path());
            } else if kind.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    disks
}

/// Lists the entries of a directory; none if it cannot be read.
fn list_entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}
