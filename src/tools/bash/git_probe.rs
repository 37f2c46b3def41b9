//! Checks that git's configuration in a directory runs no program.
//!
//! This implements the requirement of the shell analysis by running git. Any failure counts as a
//! program.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use memchr::memmem;

use super::foreign_environment::pager_programs;
use super::git_layout::{ordinary_place, shows_another};
use crate::io::{CancelToken, is_of_process};
use crate::permission::normalised;
use crate::process::{
    Capture, Captured, Command, Ended, ExitStatus, Limits, Spawners, Stdin, Variables,
};
use crate::shell::{GitScope, GitUse, Requirement, may_verify_signatures};
use crate::tools::DecisionContext;
use crate::tools::child_environment::{cleaned, keep_git_from_writing};

/// Time limit for all git calls about one command line. A busy machine needs seconds; agents give a hook ten or more.
const DEADLINE: Duration = Duration::from_secs(4);

/// Maximum output of git, in bytes: an index of about 100,000 files.
const MAX_OUTPUT: usize = 8 * 1024 * 1024;

/// The hook that runs after the index is written.
const HOOK: &str = "hooks/post-index-change";

/// Files of a directory or one above it, except the home directory, that choose servers and programs for `cargo`,
/// `npm` and `pip`, or which of their versions runs.
const SERVER_SETTINGS: [&str; 10] = [
    ".cargo/config",
    ".cargo/config.toml",
    ".corepack.env",
    ".mise.toml",
    ".npmrc",
    ".tool-versions",
    "mise.toml",
    "pyvenv.cfg",
    "rust-toolchain",
    "rust-toolchain.toml",
];

const SUBMODULES: &str = "git may inspect submodules, which have separate settings";

/// Checks git's configuration for one command line.
#[derive(Debug)]
pub(super) struct GitProbe {
    spawners: Arc<Spawners>,
    environment: Variables,
    begun: Instant,
    /// Whether git may write its index and then run a hook, and may have a terminal and start a pager.
    is_foreign: bool,
    /// Whether the user's pager is no program of the workspace.
    pub(super) allows_pagers: bool,
    home: Option<PathBuf>,
    /// Directories where git looks for the user's settings.
    settings: Vec<PathBuf>,
    /// The directory of the calling shell as it names it, perhaps with links.
    shell_directory: Option<PathBuf>,
}

impl GitProbe {
    /// Creates a probe that runs git in the lane, like read-only calls: reading an index can touch
    /// files.
    pub(super) fn new(context: &DecisionContext) -> Self {
        let mut environment = cleaned(&context.environment, &context.kept_variables);
        keep_git_from_writing(&mut environment);
        let is_foreign = !context.shell.keeps_git_from_writing;
        // The shell of another agent has these settings.
        let settings = [
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_SYSTEM",
            "GIT_CONFIG_NOSYSTEM",
        ];
        let settings = settings.into_iter().filter(|_| is_foreign);
        environment.extend(settings.filter_map(|name| {
            let value = context.environment.get(name)?;
            Some((name.into(), value.to_owned()))
        }));
        Self {
            spawners: Arc::clone(&context.lane),
            environment: environment.into(),
            begun: Instant::now(),
            is_foreign,
            allows_pagers: true,
            home: context.environment.text("HOME").map(PathBuf::from),
            settings: ["HOME", "XDG_CONFIG_HOME"]
                .iter()
                .filter_map(|name| context.environment.text(name))
                .filter(|path| !path.is_empty())
                .map(PathBuf::from)
                .collect(),
            shell_directory: context.environment.text("PWD").map(PathBuf::from),
        }
    }

    /// Checks a requirement for a shell that starts in `directory`.
    ///
    /// # Errors
    /// The requirement does not hold, for this reason (one line).
    pub(super) fn settle(&self, requirement: &Requirement, directory: &Path) -> Result<(), String> {
        match requirement {
            Requirement::CleanGitConfig(place) => {
                if !self.leads_to_one(&place.steps, directory) {
                    return Err(
                        "`..` after a link leads to different directories in the shell and in git"
                            .to_owned(),
                    );
                }
                self.look(place, &place.directory(directory))
            }
        }
    }

    /// Whether changes of directory lead to the same place if `..` removes a name from the path, as `cd` does, and if
    /// it follows the link before it, as git does.
    fn leads_to_one(&self, steps: &[String], directory: &Path) -> bool {
        let Ok(start) = directory.canonicalize() else {
            return false;
        };
        let is_start = |path: &&PathBuf| path.canonicalize().is_ok_and(|real| real == start);
        let shell = self.shell_directory.as_ref().filter(is_start);
        let mut named = [directory, shell.unwrap_or(&start)].map(normalised);
        let mut real = start.clone();
        std::iter::once("")
            .chain(steps.iter().map(String::as_str))
            .all(|step| {
                named = named.clone().map(|path| normalised(&path.join(step)));
                // A missing directory stops `cd` and git.
                let Ok(reached) = real.join(step).canonicalize() else {
                    return named.iter().all(|path| !path.exists());
                };
                real = reached;
                let leads_there =
                    |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == real);
                named.iter().all(leads_there)
            })
    }

    fn look(&self, place: &GitUse, directory: &Path) -> Result<(), String> {
        let is_unclear = |path: &PathBuf| !path.is_absolute() || is_of_process(path);
        if self.settings.iter().any(is_unclear) {
            return Err("the directory of the user's settings differs by process".to_owned());
        }
        let directory = &ordinary_place(directory)
            .ok_or("git may find another repository or other settings than turnpipe does")?;
        let question = ["config", "--list", "-z", "--includes", "--show-scope"];
        let listed = self.git(&question, directory)?;
        let settings =
            String::from_utf8(listed).map_err(|_| "git's configuration is not UTF-8".to_owned())?;
        let mut fields = settings.split_terminator('\0');
        while let (Some(origin), Some(setting)) = (fields.next(), fields.next()) {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            let is_pager = self.is_foreign && (key == "core.pager" || key.starts_with("pager."));
            let is_trusted = matches!(origin, "system" | "global");
            let is_known_pager = self.allows_pagers && pager_programs(value).is_some();
            let is_trusted = is_trusted && (!is_pager || is_known_pager);
            let is_server = place.scope == GitScope::Network && chooses_server(key, value);
            let is_harmless = is_trusted || (is_known(key) && !is_pager && !is_server);
            if runs_something(key, value, place.scope) || !is_harmless {
                return Err(format!("git's configuration: `{key}` may run a program"));
            }
            if self.is_foreign && key == "core.worktree" {
                return Err("git may read another work tree".to_owned());
            }
        }
        if self.is_foreign && shows_another(directory) {
            return Err("git may read another repository".to_owned());
        }
        if self.is_foreign && self.may_renew_files(directory) {
            return Err("git may renew its shared or sparse index".to_owned());
        }
        if place.scope == GitScope::Network {
            let common = self.path(&["rev-parse", "--git-common-dir"], directory);
            let mut old = ["remotes", "branches"].iter();
            let has_entry = |path: PathBuf| {
                std::fs::read_dir(path).is_ok_and(|mut files| files.next().is_some())
            };
            if common.is_some_and(|common| old.any(|name| has_entry(common.join(name)))) {
                return Err("git may use the address of a remote in a file".to_owned());
            }
            let home = self.home.as_deref();
            let mut above = directory.ancestors().filter(|above| Some(*above) != home);
            let file = above.find_map(|above| {
                let mut files = SERVER_SETTINGS.iter();
                files.find(|file| above.join(file).symlink_metadata().is_ok())
            });
            if let Some(file) = file {
                return Err(format!("`{file}` may choose a server or a program"));
            }
        }
        if place.scope == GitScope::WorkTree {
            // Git inspects submodules by running itself there, with their configuration.
            if directory
                .ancestors()
                .any(|above| above.join(".gitmodules").exists())
            {
                return Err(SUBMODULES.to_owned());
            }
            // Git enters a nested repository if the index lists it.
            let index = self
                .git(
                    &["ls-files", "--stage", "--full-name", "-z", ":/"],
                    directory,
                )
                .map_err(|_| "git's index cannot be read".to_owned())?;
            if self.is_foreign {
                let path = self.path(&["rev-parse", "--git-path", HOOK], directory);
                if path.is_none_or(|path| path.symlink_metadata().is_ok()) {
                    return Err(format!("git may refresh its index and run `{HOOK}`"));
                }
            }
            let mut entries = index.split(|byte| *byte == 0);
            // Git masks the mode of a submodule, which may have other bits.
            let is_file = |entry: &[u8]| {
                let modes: [&[u8]; 3] = [b"100644 ", b"100755 ", b"120000 "];
                entry.is_empty() || modes.iter().any(|mode| entry.starts_with(mode))
            };
            if !entries.clone().all(is_file) {
                return Err(SUBMODULES.to_owned());
            }
            let leaves = |entry: &[u8]| {
                let name = entry
                    .splitn(2, |byte| *byte == b'\t')
                    .nth(1)
                    .unwrap_or_default();
                name.split(|byte| *byte == b'/').any(|part| part == b"..")
            };
            if self.is_foreign && entries.any(leaves) {
                return Err("git's index names files outside its work tree".to_owned());
            }
        }
        Ok(())
    }

    /// Whether the repository has parts of a split index, whose times git renews when it reads them, or a
    /// sparse index, for which it writes objects, whatever the settings are.
    fn may_renew_files(&self, directory: &Path) -> bool {
        let Some(path) = self.path(&["rev-parse", "--git-dir"], directory) else {
            return false;
        };
        let is_shared = |name: &[u8]| name.starts_with(b"sharedindex.");
        let mut entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
        // Git expands an index with an entry for a directory, whether or not its extension says so. It prints no
        // conflicts of most repositories, so that the output stays small.
        entries.any(|entry| is_shared(entry.file_name().as_bytes()))
            || path.join("index").symlink_metadata().is_ok() && {
                let read = self.run(&["ls-files", "--unmerged"], directory, Self::TRACED);
                let has = |trace: &[u8], name: &str| memmem::find(trace, name.as_bytes()).is_some();
                !read.is_ok_and(|(_, trace)| {
                    has(&trace, "\"event\":\"exit\"")
                        && !has(&trace, "ensure_full_index")
                        && !has(&trace, "expand_index")
                })
            }
    }

    /// Makes git describe its steps on its standard error.
    const TRACED: &[(&str, &str)] = &[("GIT_TRACE2_EVENT", "2")];

    /// Returns a path that git prints.
    fn path(&self, question: &[&str], directory: &Path) -> Option<PathBuf> {
        let path = self.git(question, directory).ok()?;
        let path = OsStr::from_bytes(path.strip_suffix(b"\n").unwrap_or(&path));
        Some(directory.join(path))
    }

    fn git(&self, arguments: &[&str], directory: &Path) -> Result<Vec<u8>, String> {
        self.run(arguments, directory, &[])
            .map(|(output, _)| output)
    }

    /// Runs git with variables; returns its output and its standard error.
    fn run(
        &self,
        arguments: &[&str],
        directory: &Path,
        set: &[(&str, &str)],
    ) -> Result<(Vec<u8>, Vec<u8>), String> {
        let set = set.iter().map(|(name, value)| (name.into(), value.into()));
        let environment = self.environment.iter().cloned().chain(set).collect();
        let left = DEADLINE
            .checked_sub(self.begun.elapsed())
            .ok_or("git's configuration could not be read in time")?;
        let finished = self
            .spawners
            .run(
                &Command {
                    program: "git".into(),
                    arguments: arguments.iter().map(OsString::from).collect(),
                    environment,
                    directory: directory.to_owned(),
                    stdin: Stdin::Null,
                    report: None,
                    capture: Capture {
                        memory_bytes: MAX_OUTPUT,
                        total_bytes: MAX_OUTPUT as u64,
                    },
                    limits: Limits {
                        grace: Duration::ZERO,
                        ..Limits::with_timeout(left)
                    },
                },
                &CancelToken::default(),
            )
            .map_err(|error| format!("git's configuration cannot be read: {error}"))?;
        let is_whole = finished.stdout.total_bytes <= MAX_OUTPUT as u64;
        if finished.ended != Ended::Exited || finished.status != ExitStatus::Code(0) || !is_whole {
            return Err("git's configuration cannot be read".to_owned());
        }
        let text = |captured: &Captured| {
            let text = captured.prefix(MAX_OUTPUT as u64);
            text.map_err(|error| format!("git's configuration cannot be read: {error}"))
        };
        Ok((text(&finished.stdout)?, text(&finished.stderr)?))
    }
}

/// Whether a setting of a repository chooses a server or a program for connections, except a usual address.
fn chooses_server(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    match (section, name) {
        ("remote", "fetch") => false,
        ("remote", "url") => {
            let mut usual = ["https://", "git@", "ssh://"].iter();
            !usual.any(|scheme| value.starts_with(scheme))
        }
        ("branch", "remote" | "pushremote") => value != "origin" && value != "upstream",
        ("core", name) => ["askpass", "gitproxy", "sshcommand"].contains(&name),
        ("credential" | "http" | "https" | "protocol" | "remote" | "ssh" | "url", _) => true,
        _ => false,
    }
}

/// Whether a section is documented by git 2.47, or belongs to a common extension. Settings of a repository in any
/// other section count as a program.
fn is_known(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    let mut known = include_str!("git_sections.txt").split_whitespace();
    known.any(|known| known.eq_ignore_ascii_case(section))
}

/// Whether a setting of `git_settings.txt` applies.
fn runs_something(key: &str, value: &str, scope: GitScope) -> bool {
    let key = key.to_ascii_lowercase();
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    // Aliases of formats may have any name.
    if section == "pretty" {
        return may_verify_signatures(value);
    }
    let value_of = |when| match when {
        // Also to the empty text: git asks whether the key exists.
        "set" => true,
        "signatures" => may_verify_signatures(value),
        _ => !["", "false", "no", "off", "0"].contains(&value.to_ascii_lowercase().as_str()),
    };
    include_str!("git_settings.txt").lines().any(|row| {
        let row: Vec<&str> = row.split_whitespace().collect();
        matches!(row[..], [place, known, last, when]
            if (known, last) == (section, name)
                && (place == "objects" || scope == GitScope::WorkTree)
                && value_of(when))
    })
}

#[cfg(test)]
#[path = "git_probe_tests.rs"]
mod tests;
