//! Files through which root could get around masks: the kernel's settings, and disks.

use std::fs::{self, DirEntry};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Settings of the kernel: root can make it start programs outside of the sandbox.
pub(super) const KERNEL_SETTINGS: [&str; 4] =
    ["/proc/sys", "/proc/sysrq-trigger", "/proc/bus", "/sys"];

/// The directory of devices.
pub(super) const DEVICES: &str = "/dev";

/// Returns the disks and their parts, and the devices that pass requests to disks.
pub(super) fn disks() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from(DEVICES)];
    while let Some(directory) = waiting.pop() {
        for entry in entries(&directory) {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let is_request_device = || {
                let path = entry.path();
                let name = path
                    .strip_prefix(DEVICES)
                    .unwrap_or(&path)
                    .to_string_lossy();
                name.starts_with("sg") || name.starts_with("bsg/")
            };
            if kind.is_block_device() || (kind.is_char_device() && is_request_device()) {
                found.push(entry.path());
            } else if kind.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    found
}

fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.flatten()
}
