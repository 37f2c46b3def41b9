//! Whether git finds the same repository and settings in every process.
//!
//! A link through `/proc/self`, a pipe or a file name that git reads in another way than turnpipe
//! could show clean settings to the check and other ones to the command. So only ordinary files
//! and directories are accepted where git looks for a repository.

use std::fs::{Metadata, symlink_metadata};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use crate::io::is_of_process;

/// Maximum length of a file that names a directory, in bytes.
const MAX_NAME: u64 = 4096;

/// Returns the directory without links if every repository that git may find from it on is
/// ordinary.
pub(super) fn ordinary_place(directory: &Path) -> Option<PathBuf> {
    if is_of_process(directory) {
        return None;
    }
    let real = directory.canonicalize().ok()?;
    let is_ordinary = real.ancestors().all(|above| {
        let git = above.join(".git");
        // Git takes a directory with this file for a repository if it has or shares the rest.
        let may_be_bare = symlink_metadata(above.join("HEAD")).is_ok();
        let found = symlink_metadata(&git).ok();
        found.is_none_or(|found| {
            if found.is_file() {
                named_directory(&git, "gitdir: ").is_some_and(|git| is_repository(&git, true))
            } else {
                found.is_dir() && is_repository(&git, true)
            }
        }) && (!may_be_bare || is_repository(above, true))
    });
    is_ordinary.then_some(real)
}

/// Whether a repository above a directory takes its objects from another: its `.git` names a directory that is neither
/// of a linked work tree nor of a submodule, or it has alternates.
pub(super) fn shows_another(directory: &Path) -> bool {
    directory.ancestors().any(|above| {
        let git = above.join(".git");
        let named = named_directory(&git, "gitdir: ");
        let is_usual = |path: &PathBuf| {
            let mut parts = path.components().map(Component::as_os_str);
            parts.any(|part| part == "worktrees" || part == "modules")
        };
        let git = named.clone().unwrap_or(git);
        let shared = named_directory(&git.join("commondir"), "");
        let mut stores = [Some(git), shared, Some(above.to_owned())]
            .into_iter()
            .flatten();
        named.is_some_and(|path| !is_usual(&path))
            || stores.any(|git| git.join("objects/info/alternates").exists())
    })
}

/// Whether a git directory and the one that it shares settings with have no links and no pipes.
fn is_repository(git: &Path, may_share: bool) -> bool {
    let Ok(entries) = git.read_dir() else {
        return false;
    };
    let mut is_ordinary = true;
    for entry in entries {
        is_ordinary &= entry
            .and_then(|entry| entry.file_type())
            .is_ok_and(|found| found.is_file() || found.is_dir() || found.is_socket());
    }
    let shared = git.join("commondir");
    is_ordinary
        && (symlink_metadata(&shared).is_err()
            || may_share
                && named_directory(&shared, "").is_some_and(|shared| is_repository(&shared, false)))
}

/// Returns the directory that a file names, unless git may read the name in another way.
fn named_directory(file: &Path, prefix: &str) -> Option<PathBuf> {
    let is_short = |found: &Metadata| found.is_file() && found.len() <= MAX_NAME;
    symlink_metadata(file).ok().filter(is_short)?;
    let text = std::fs::read_to_string(file).ok()?;
    let name = text.strip_prefix(prefix)?;
    let name = name.strip_suffix('\n').unwrap_or(name);
    let is_clear = !name.is_empty() && !name.contains(char::is_control);
    let directory = file.parent()?.join(name);
    (is_clear && !is_of_process(&directory)).then_some(directory)
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir, create_dir_all, write};
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_ordinary_repositories_are_accepted() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let repository = |name: &str| {
            for part in ["objects", "refs", "hooks"] {
                create_dir_all(path(name).join(part)).unwrap();
            }
            write(path(name).join("HEAD"), "ref: refs/heads/x\n").unwrap();
            write(path(name).join("config"), "").unwrap();
        };
        let linked = |name: &str, target: &str| {
            let link = path(name);
            if link.is_dir() {
                std::fs::remove_dir_all(&link).unwrap();
            } else {
                let _ = std::fs::remove_file(&link);
            }
            symlink(target, link).unwrap();
        };
        for name in "plain config objects refs link shared named long blank".split(' ') {
            repository(&format!("{name}/.git"));
        }
        create_dir(path("plain/in")).unwrap();
        linked("plain/lk", "in/..");
        linked("plain/cwd", "/proc/self/cwd/in");
        linked("config/.git/config", "/dev/stdin");
        linked("objects/.git/objects", "/proc/self/fd/0");
        linked("refs/.git/refs", "../o");
        linked("link/.git", "../plain/.git");
        create_dir(path("config/in")).unwrap();
        linked("to_config", "config/in");
        write(path("shared/.git/commondir"), "../../plain/.git\n").unwrap();
        write(path("named/.git/commondir"), "/proc/self/fd/0\n").unwrap();
        write(path("blank/.git/commondir"), "../../plain/.git\0x").unwrap();
        let long = format!("../../plain/.git{}", "\n".repeat(9000));
        write(path("long/.git/commondir"), long).unwrap();
        repository("bare");
        create_dir(path("head")).unwrap();
        write(path("head/HEAD"), "ref: refs/heads/x\n").unwrap();
        write(path("head/commondir"), "/proc/self/fd/0\n").unwrap();
        repository("bare_link");
        linked("bare_link/objects", "../bare/objects");
        for (name, target) in [
            ("file", "gitdir: ../plain/.git\n"),
            ("file_to_link", "gitdir: ../config/.git\n"),
            ("file_tab", "gitdir: ../plain/.git\t"),
            ("file_lines", "gitdir: ../plain/.git\n\n"),
            ("file_missing", "gitdir: ../missing\n"),
            ("file_process", "gitdir: ../plain/cwd\n"),
        ] {
            create_dir(path(name)).unwrap();
            write(path(name).join(".git"), target).unwrap();
        }
        create_dir(path("none")).unwrap();
        linked("loop", "loop");
        for (name, expected) in [
            ("plain plain/in plain/lk shared bare file none", true),
            (
                "plain/cwd config config/in to_config objects refs link",
                false,
            ),
            (
                "named blank long head bare_link file_to_link file_tab",
                false,
            ),
            ("file_lines file_missing file_process loop missing", false),
        ] {
            for name in name.split(' ') {
                let found = ordinary_place(&path(name)).is_some();
                assert_eq!(found, expected, "{name}");
            }
        }
    }
}
