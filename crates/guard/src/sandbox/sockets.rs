//! Finds the sockets through which a program can make another one outside the sandbox open a file.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use super::mount_table::MountTable;
use super::walk::{EntryType, WalkResult};
use turnpipe_core::io::Environment;

/// Directories with sockets of services.
const SERVICE_DIRECTORIES: [&str; 2] = ["/run", "/var/run"];

/// Parts of the paths of sockets whose services, for names and addresses, open no files.
const HARMLESS_SOCKETS: [&str; 4] = [
    "nscd/socket",
    "systemd/resolve",
    "systemd-resolved",
    "dnsmasq",
];

/// Returns the directories with sockets of services.
pub(super) fn service_directories(environment: &Environment) -> Vec<PathBuf> {
    let of_user = environment.get("XDG_RUNTIME_DIR").map(PathBuf::from);
    let shared = SERVICE_DIRECTORIES.iter().map(PathBuf::from);
    shared.chain(of_user).collect()
}

/// Returns the sockets that this user can reach: bound ones, those in the directories of services, and those that are
/// mounted. The `allowed` ones are left out, by default those of an SSH or GPG agent, which `git push` needs.
pub(super) fn reachable_sockets(
    environment: &Environment,
    mounts: &MountTable,
    services: &WalkResult,
    bound: &BTreeSet<PathBuf>,
    allowed: Option<&[PathBuf]>,
) -> Vec<PathBuf> {
    let docker = environment.get("DOCKER_HOST").and_then(|host| {
        let path = host.as_bytes().strip_prefix(b"unix://")?;
        Some(PathBuf::from(OsStr::from_bytes(path)))
    });
    let mut candidates: Vec<PathBuf> = bound.iter().cloned().collect();
    candidates.extend(docker);
    candidates.extend(mounts.points().map(Path::to_owned));
    for (path, directory) in &services.directories {
        let entries = directory.entries.iter();
        let sockets = entries.filter(|entry| entry.kind == EntryType::Socket);
        candidates.extend(sockets.map(|entry| path.join(&entry.name)));
    }
    let agent = environment.get("SSH_AUTH_SOCK").map(Path::new);
    let is_harmless = |path: &Path| {
        let text = path.to_string_lossy();
        let is_allowed = match allowed {
            Some(allowed) => allowed.iter().any(|allowed| allowed == path),
            None => agent == Some(path) || text.contains("/gnupg/"),
        };
        is_allowed || HARMLESS_SOCKETS.iter().any(|name| text.contains(name))
    };
    let paths = candidates.iter();
    let resolved = paths.filter_map(|path| fs::canonicalize(path).ok());
    let is_socket =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| facts.file_type().is_socket());
    let reachable = resolved.filter(|path| is_socket(path) && !is_harmless(path));
    let mut sockets: Vec<PathBuf> = reachable.collect();
    sockets.sort_unstable();
    sockets.dedup();
    sockets
}

/// Returns the absolute paths of bound sockets: the last column of the rows of `/proc/net/unix`.
pub(super) fn parse_bound_sockets(table: &[u8]) -> BTreeSet<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n');
    let starts = lines.filter_map(|line| {
        let start = memchr::memmem::find(line, b" /")?;
        line.get(start + 1..)
    });
    let paths = starts.map(|path| PathBuf::from(OsStr::from_bytes(path)));
    paths.collect()
}
