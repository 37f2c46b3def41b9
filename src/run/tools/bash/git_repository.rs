//! Checks that git runs no program because of the files of a repository.
//!
//! Git is not started. Its files are read strictly: anything unusual is an error, so that the call
//! needs permission. The configuration of the user and of the system is trusted.
//!
//! Some files only change which history is shown, by objects of the repository itself, so they may
//! exist: `shallow`, `info/grafts`, `refs/replace`. `objects/info/alternates` shows another repository.

use std::fs::{OpenOptions, symlink_metadata};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use super::git_files::{is_harmless, parse_settings};
use crate::io::{is_per_process_path, open_regular};
use crate::permission::normalise;
use crate::run::tools::DecisionContext;
use crate::shell::{GitScope, GitUse};

/// Maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// The hook that runs after the index is written.
const INDEX_HOOK: &str = "post-index-change";

const UNUSUAL_LAYOUT: &str = "git's repository has an unusual layout";

/// Checks one use of git by a shell that starts in the directory of `context`.
///
/// # Errors
/// The reason why git may run a program, on one line.
pub(super) fn check(git: &GitUse, context: &DecisionContext) -> Result<(), String> {
    let variable = |name: &&str| context.environment.get(name).map(Path::new);
    let homes = ["HOME", "XDG_CONFIG_HOME"];
    let mut directories = homes.iter().filter_map(variable);
    if directories.any(|path| {
        !path.as_os_str().is_empty() && !path.is_absolute() || is_per_process_path(path)
    }) {
        return Err("the directory of the user's settings differs by process".to_owned());
    }
    let directory = find_git_dir(git, &context.directory, variable(&"PWD"))
        .ok_or("the directory of git is missing, or the shell may take another one")?;
    let Some(repository) = Repository::find(&directory)? else {
        return Ok(());
    };
    let hooks = repository.check_settings()?;
    if git.scope == GitScope::WorkTree {
        // Git inspects submodules by running itself there, with their configuration.
        let modules = [
            repository.top.join(".gitmodules"),
            repository.common.join("modules"),
        ];
        if modules.iter().any(|modules| exists(modules)) {
            return Err("git may inspect submodules, which have separate settings".to_owned());
        }
        let may_write = !context.shell.keeps_git_from_writing;
        if may_write && hooks.iter().any(|hooks| exists(&hooks.join(INDEX_HOOK))) {
            return Err(format!("git may refresh its index and run `{INDEX_HOOK}`"));
        }
    }
    Ok(())
}

/// Returns the directory of git without links. `None` if it is missing or differs by process, or if `..` in the path
/// leads elsewhere for `cd`, which removes a name, than for git, which follows links first.
fn find_git_dir(git: &GitUse, directory: &Path, shell: Option<&Path>) -> Option<PathBuf> {
    let named = git.directory(directory);
    let real = named.canonicalize().ok()?;
    let mut steps = git.steps.iter().map(Path::new);
    let goes_up = steps.any(|step| step.components().any(|name| name == Component::ParentDir));
    let start = directory.canonicalize().ok();
    // The calling shell may name its directory by a link.
    let shell = shell.filter(|shell| shell.canonicalize().ok() == start);
    let mut starts = [directory, shell.unwrap_or(directory)].into_iter();
    let is_clear = !goes_up || starts.all(|start| normalise(&git.directory(start)) == real);
    (is_clear && !is_per_process_path(&named) && !is_per_process_path(&real)).then_some(real)
}

/// A repository of usual layout: `.git` is a directory, or the file of a linked work tree.
struct Repository {
    /// The git directory, with the index and `HEAD`.
    own: PathBuf,
    /// The git directory with the configuration, which linked work trees share.
    common: PathBuf,
    /// The top of the work tree.
    top: PathBuf,
}

impl Repository {
    /// Finds the repository of a directory without links, as git does.
    fn find(directory: &Path) -> Result<Option<Self>, String> {
        // Git may take a directory with `HEAD` for a bare repository.
        let mut above = directory.ancestors();
        let Some(top) = above.find(|top| exists(&top.join(".git")) || exists(&top.join("HEAD")))
        else {
            return Ok(None);
        };
        let found = Self::open(&top.join(".git"), top);
        found.map(Some).ok_or_else(|| UNUSUAL_LAYOUT.to_owned())
    }

    /// Opens a repository; `None` if its layout is unusual. A directory that git does not take for a repository is
    /// unusual too, because git would use one above it.
    fn open(git: &Path, top: &Path) -> Option<Self> {
        let (own, common) = if symlink_metadata(git).ok()?.is_dir() {
            (git.to_owned(), git.to_owned())
        } else {
            let own = read_link_file(git, "gitdir: ")?;
            // Git always writes this.
            let shared = read_file(&own.join("commondir")).ok()??;
            let is_linked = shared == b"../..\n" && read_link_file(&own.join("gitdir"), "")? == git;
            let common = own.ancestors().nth(2).filter(|_| is_linked)?.to_owned();
            (own, common)
        };
        let parts = ["objects", "objects/pack", "refs"].map(|name| common.join(name));
        let is_usual = !exists(&common.join("commondir"))
            && parts
                .iter()
                .all(|part| symlink_metadata(part).is_ok_and(|kind| kind.is_dir()))
            && !own.join("index").is_symlink()
            && !common.join("hooks").is_symlink()
            && is_head(&read_file(&own.join("HEAD")).ok()??)
            && !exists(&common.join("objects/info/alternates"));
        is_usual.then(|| Self {
            own,
            common,
            top: top.to_owned(),
        })
    }

    /// Checks the configuration. Returns the directories that may have hooks.
    ///
    /// # Errors
    /// A setting may run a program, or the configuration cannot be read strictly.
    fn check_settings(&self) -> Result<Vec<PathBuf>, String> {
        let mut hooks = vec![self.common.join("hooks")];
        for file in [self.common.join("config"), self.own.join("config.worktree")] {
            let text = read_file(&file)?.unwrap_or_default();
            let settings = String::from_utf8(text)
                .ok()
                .and_then(|text| parse_settings(&text))
                .ok_or("git's configuration is not in a form that is known")?;
            for setting in settings {
                let (name, value) = &setting;
                let path = self.top.join(value);
                // Git expands `~` and `%(prefix)`, and removes quotes.
                let is_clear =
                    !value.contains(['~', '%', '"', '\\', '\t']) && !is_per_process_path(&path);
                if name == "core.hookspath" && !value.is_empty() && is_clear {
                    hooks.push(path);
                } else if !is_harmless(&setting) {
                    return Err(format!("git's configuration: `{name}` may run a program"));
                }
            }
        }
        Ok(hooks)
    }
}

/// Whether git accepts the contents of `HEAD`.
fn is_head(text: &[u8]) -> bool {
    let id = text.first_chunk::<40>();
    text.starts_with(b"ref: refs/") || id.is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
}

/// Returns the path that a file names, without links; `None` if git may read the name in another way.
fn read_link_file(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = String::from_utf8(read_file(file).ok()??).ok()?;
    let line = text.strip_prefix(prefix)?;
    let name = line.strip_suffix('\n').unwrap_or(line);
    let path = file.parent()?.join(name);
    let is_clear =
        !name.is_empty() && !name.contains(char::is_control) && !is_per_process_path(&path);
    path.canonicalize().ok().filter(|_| is_clear)
}

/// Reads a file; `None` if it is missing.
///
/// # Errors
/// The file cannot be read, or is larger than [`MAX_FILE_BYTES`].
fn read_file(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if !exists(path) {
        return Ok(None);
    }
    let flags = OFlags::NOFOLLOW;
    let mut bytes = Vec::new();
    let read = open_regular(path, OpenOptions::new().read(true), flags)
        .and_then(|file| file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes));
    match read {
        Ok(length) if length as u64 <= MAX_FILE_BYTES => Ok(Some(bytes)),
        _ => Err("a file of git's repository cannot be read, or is too large".to_owned()),
    }
}

/// Whether a file exists, without following links.
fn exists(path: &Path) -> bool {
    symlink_metadata(path).is_ok()
}

#[cfg(test)]
#[path = "git_repository_tests.rs"]
mod tests;
