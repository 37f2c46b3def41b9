//! The files of a workspace, as options and settings name them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::{PermissionSettings, SandboxPath};
use crate::permission::{DeniedFiles, FileUse};
use crate::sandbox::{WorkspaceFiles, hidden_files, key_files, writable_directories};

/// Absolute paths of options.
#[derive(Default)]
pub(crate) struct OptionPaths {
    /// Directories that commands can change: the working directories and others.
    pub(crate) writable: Vec<PathBuf>,
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) sockets: Vec<PathBuf>,
}

/// The files of a workspace, and the patterns of files that it masks.
pub(crate) struct SandboxFiles {
    pub(crate) workspace: WorkspaceFiles,
    pub(crate) denied: Vec<DeniedFiles>,
    /// Entries of settings that have no effect, each with the reason.
    pub(crate) problems: Vec<String>,
}

impl SandboxFiles {
    /// Joins the options with the key `sandbox` and the permission rules of settings.
    pub(crate) fn new(
        options: &OptionPaths,
        settings: &PermissionSettings,
        home: Option<&Path>,
    ) -> Self {
        let sandbox = &settings.sandbox;
        let mut problems = Vec::new();
        let mut take_literal = |entries: &[SandboxPath], list: &str| -> Vec<PathBuf> {
            let (literal, others): (Vec<_>, Vec<_>) =
                entries.iter().partition(|entry| !has_wildcard(entry));
            problems.extend(others.iter().map(|entry| {
                let path = join_entry(entry);
                format!("{list}: {} has no effect: it has wildcards", path.display())
            }));
            literal.into_iter().map(join_entry).collect()
        };
        let writable = take_literal(&sandbox.allow_write, "sandbox.filesystem.allowWrite");
        let sockets = take_literal(&sandbox.unix_sockets, "sandbox.network.allowUnixSockets");
        let reopened = take_literal(&sandbox.allow_read, "sandbox.filesystem.allowRead");
        let readable = [&*options.readable, &reopened].concat();
        let editable = settings.rules.editable_directories(home, &options.writable);
        let named = [&*options.writable, &writable, &editable].concat();
        let (unread, patterns): (Vec<_>, Vec<_>) = sandbox
            .deny_read
            .iter()
            .partition(|entry| !has_wildcard(entry));
        // Unlike hidden files, `allowRead` does not reopen files with credentials.
        let credentials = sandbox
            .credential_files
            .iter()
            .map(|path| (path, FileUse::Reading));
        let unchanged = sandbox
            .deny_write
            .iter()
            .map(|path| (path, FileUse::Changing));
        let unreadable = patterns.into_iter().map(|path| (path, FileUse::Reading));
        let entries = unreadable.chain(credentials).chain(unchanged);
        let masked = entries.filter_map(|(entry, file_use)| {
            let name = join_entry(entry).display().to_string();
            let pattern = entry.pattern.to_string_lossy();
            let files = DeniedFiles::new(name.clone(), file_use, entry.directory.clone(), &pattern);
            files
                .map_err(|reason| problems.push(format!("{name}: {reason}")))
                .ok()
        });
        let denied = masked.collect();
        let hidden = key_files(home).chain(unread.into_iter().map(join_entry));
        Self {
            workspace: WorkspaceFiles {
                writable: writable_directories(&named),
                hidden: hidden_files(hidden, &readable),
                sockets: canonicalize_existing(&[&*options.sockets, &sockets].concat()),
                has_all_sockets: sandbox.allows_all_unix_sockets,
            },
            denied,
            problems,
        }
    }
}

/// Returns the paths without links of the files that exist.
fn canonicalize_existing(paths: &[PathBuf]) -> Vec<PathBuf> {
    let real = paths.iter().map(fs::canonicalize);
    real.filter_map(Result::ok).collect()
}

/// Returns the path or pattern of an entry.
fn join_entry(entry: &SandboxPath) -> PathBuf {
    entry.directory.iter().chain(&entry.pattern).collect()
}

fn has_wildcard(entry: &SandboxPath) -> bool {
    let pattern = entry.pattern.as_os_str().as_encoded_bytes();
    pattern.iter().any(|byte| b"*?[\\".contains(byte))
}
