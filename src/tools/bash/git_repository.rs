//! Checks that git runs no program because of the files of a repository.
//!
//! Git is not started. Its files are read strictly: anything unusual is an error, so that the call
//! needs permission. The configuration of the user and of the system is trusted.
//!
//! Some files only change which history is shown, by objects of the repository itself, so they may
//! exist: `shallow`, `info/grafts`, `refs/replace`. `objects/info/alternates` shows another repository.

use std::fs::{DirEntry, OpenOptions, symlink_metadata};
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, OFlags, access};

use super::git_files::{check_index, is_harmless, parse_settings};
use crate::io::{is_of_process, open_regular};
use crate::permission::normalised;
use crate::shell::{GitScope, GitUse};
use crate::tools::DecisionContext;

/// Maximum size of a file that is read, in bytes: an index of about 150,000 files.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The hook that runs after the index is written.
const HOOK: &str = "post-index-change";

const UNUSUAL: &str = "git's repository has an unusual layout";

/// Checks one use of git by a shell that starts in the directory of `context`.
///
/// # Errors
/// Git may run a program, for this reason (one line).
pub(super) fn check(git: &GitUse, context: &DecisionContext) -> Result<(), String> {
    let variable = |name: &&str| context.environment.get(name).map(Path::new);
    let homes = ["HOME", "XDG_CONFIG_HOME"];
    let mut set = homes.iter().filter_map(variable);
    if set.any(|path| !path.as_os_str().is_empty() && !path.is_absolute() || is_of_process(path)) {
        return Err("the directory of the user's settings differs by process".to_owned());
    }
    let directory = reached(git, &context.directory, variable(&"PWD"))
        .ok_or("the directory of git is missing, or the shell may take another one")?;
    let Some(repository) = Repository::find(&directory)? else {
        return Ok(());
    };
    let hooks = repository.check_settings()?;
    // Anything that reads the index may renew the parts of a split one, or write objects for a sparse one.
    if let Some(index) = read(&repository.own.join("index"))? {
        check_index(&index, git.scope != GitScope::WorkTree)?;
    }
    if git.scope == GitScope::WorkTree {
        // Git inspects submodules by running itself there, with their configuration.
        let modules = repository.top.map(|top| top.join(".gitmodules"));
        if modules.is_some_and(|modules| exists(&modules)) {
            return Err("git may inspect submodules, which have separate settings".to_owned());
        }
        let may_write = !context.shell.keeps_git_from_writing;
        if may_write && hooks.iter().any(|hooks| exists(&hooks.join(HOOK))) {
            return Err(format!("git may refresh its index and run `{HOOK}`"));
        }
    }
    Ok(())
}

/// Returns the directory of git without links; `None` if it is missing or differs by process, or if `..` removes a
/// name from the path, as `cd` does, with another effect than following the link before it, as git does.
fn reached(git: &GitUse, directory: &Path, shell: Option<&Path>) -> Option<PathBuf> {
    let mut real = directory.canonicalize().ok()?;
    let mut parts = git
        .steps
        .iter()
        .flat_map(|step| Path::new(step).components());
    let goes_up = parts.any(|part| part == Component::ParentDir);
    // The calling shell may name its directory by a link.
    let mut names = [Some(directory), shell].into_iter().flatten();
    let is_link = |name: &Path| name != real && name.canonicalize().is_ok_and(|path| path == real);
    if goes_up && names.any(is_link) {
        return None;
    }
    for step in &git.steps {
        let by_name = normalised(&real.join(step));
        real = real.join(step).canonicalize().ok()?;
        if goes_up && by_name != real {
            return None;
        }
    }
    let is_ordinary = !is_of_process(&git.directory(directory)) && !is_of_process(&real);
    is_ordinary.then_some(real)
}

/// A repository of usual layout.
struct Repository {
    /// The git directory, with the index and `HEAD`.
    own: PathBuf,
    /// The git directory with the configuration, which linked work trees share.
    common: PathBuf,
    /// The top of the work tree; `None` inside the git directory.
    top: Option<PathBuf>,
    /// Whether `own` is in the work tree, or names it as a linked work tree does.
    points_back: bool,
}

impl Repository {
    /// Finds the repository of a directory without links, as git does.
    fn find(directory: &Path) -> Result<Option<Self>, String> {
        for top in directory.ancestors() {
            let git = top.join(".git");
            let found = if exists(&git) {
                Self::open(&git, Some(top))
            } else if !exists(&top.join("HEAD")) {
                continue;
            } else if top.file_name().is_some_and(|name| name == ".git") {
                Self::open(top, None)
            } else {
                // Git may take it for a bare repository.
                None
            };
            return found.map(Some).ok_or_else(|| UNUSUAL.to_owned());
        }
        Ok(None)
    }

    /// Opens a repository; `None` if its layout is unusual. A directory that git does not take for a repository is
    /// unusual too, because git would use one above it.
    fn open(git: &Path, top: Option<&Path>) -> Option<Self> {
        let kind = symlink_metadata(git).ok()?.file_type();
        let own = if kind.is_file() {
            named_path(git, "gitdir: ")?
        } else {
            git.to_owned()
        };
        let shared = read(&own.join("commondir")).ok()?;
        let common = match &shared {
            // Git always writes this.
            Some(name) if kind.is_file() && name.trim_ascii_end() == b"../.." => {
                named_path(&own.join("gitdir"), "").filter(|named| named == git)?;
                own.ancestors().nth(2)?.to_owned()
            }
            Some(_) => return None,
            None => own.clone(),
        };
        let is_reached = |name| {
            let path = common.join(name);
            path.is_dir() && access(&path, Access::EXEC_OK).is_ok()
        };
        let stores = ["", "objects", "objects/pack"].map(|name| common.join(name));
        let is_usual = !kind.is_symlink()
            && is_plain(&own)
            && stores.iter().all(|path| is_plain(path))
            && is_head(&read(&own.join("HEAD")).ok()??)
            && ["objects", "refs"].into_iter().all(is_reached)
            && !exists(&common.join("objects/info/alternates"));
        is_usual.then(|| Self {
            own,
            common,
            top: top.map(Path::to_owned),
            points_back: kind.is_dir() || shared.is_some(),
        })
    }

    /// Checks the configuration; returns the directories that may have hooks.
    fn check_settings(&self) -> Result<Vec<PathBuf>, String> {
        let mut hooks = vec![self.common.join("hooks")];
        let mut points_back = self.points_back;
        for file in [self.common.join("config"), self.own.join("config.worktree")] {
            let text = read(&file)?.unwrap_or_default();
            let settings = String::from_utf8(text).ok();
            let settings = settings.and_then(|text| parse_settings(&text));
            let settings = settings.ok_or("git's configuration is not in a form that is known")?;
            for setting in settings {
                let (name, value) = &setting;
                let path = self.top.as_ref().map(|top| top.join(value));
                // Git expands `~` and `%(prefix)`, and removes quotes.
                let is_clear = |path: &PathBuf| {
                    !value.is_empty()
                        && !value.contains(['~', '%', '"', '\\', '\t'])
                        && !is_of_process(path)
                };
                let is_known = match name.as_str() {
                    "core.hookspath" => {
                        let path = path.filter(is_clear);
                        path.map(|path| hooks.push(path)).is_some()
                    }
                    "core.worktree" => {
                        points_back = true;
                        let real = self.own.join(value).canonicalize().ok();
                        real == self.top && path.as_ref().is_some_and(is_clear)
                    }
                    // Git quotes lines of it that are not commits.
                    "blame.ignorerevsfile" => {
                        is_harmless(&setting) && !path.is_some_and(|path| path.is_symlink())
                    }
                    _ => is_harmless(&setting),
                };
                if !is_known {
                    return Err(format!("git's configuration: `{name}` may run a program"));
                }
            }
        }
        if !points_back {
            return Err("git may read another repository".to_owned());
        }
        Ok(hooks)
    }
}

/// Whether a directory has no links and no pipes, which could lead every process to other files or show another
/// repository, and no parts of a split index.
fn is_plain(git: &Path) -> bool {
    let is_usual = |entry: DirEntry| {
        let name = entry.file_name();
        let kind = entry.file_type();
        let is_known = kind.is_ok_and(|kind| kind.is_file() || kind.is_dir() || kind.is_socket());
        is_known && !name.as_encoded_bytes().starts_with(b"sharedindex.")
    };
    git.read_dir()
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(is_usual)))
}

/// Whether git accepts the contents of `HEAD`.
fn is_head(text: &[u8]) -> bool {
    let id = text.first_chunk::<40>();
    text.starts_with(b"ref: refs/") || id.is_some_and(|id| id.iter().all(u8::is_ascii_hexdigit))
}

/// Returns the path that a file names, without links; `None` if git may read the name in another way.
fn named_path(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = String::from_utf8(read(file).ok()??).ok()?;
    let name = text.strip_prefix(prefix)?;
    let name = name.strip_suffix('\n').unwrap_or(name);
    let path = file.parent()?.join(name);
    let is_clear = !name.is_empty() && !name.contains(char::is_control) && !is_of_process(&path);
    path.canonicalize().ok().filter(|_| is_clear)
}

/// Reads a file; `None` if it is missing.
fn read(path: &Path) -> Result<Option<Vec<u8>>, String> {
    if !exists(path) {
        return Ok(None);
    }
    let flags = OFlags::NOFOLLOW;
    let mut bytes = Vec::new();
    let read = open_regular(path, OpenOptions::new().read(true), flags)
        .and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
    match read {
        Ok(length) if length as u64 <= MAX_FILE => Ok(Some(bytes)),
        _ => Err("a file of git's repository cannot be read, or is too large".to_owned()),
    }
}

fn exists(path: &Path) -> bool {
    symlink_metadata(path).is_ok()
}

#[cfg(test)]
#[path = "git_repository_tests.rs"]
mod tests;
