//! Whether git's configuration in a directory runs no program.
//!
//! The analysis of a command line only says that it must not; here one looks. Whatever cannot be
//! found out counts as a program.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::ToolContext;
use super::child_environment::{child_environment, keep_git_from_writing, scrubbed};
use crate::io::Environment;
use crate::process::{
    CancelToken, Capture, Command, Ended, ExitStatus, Limits, Spawners, Stdin, Variables,
};
use crate::shell::{GitScope, GitUse, Requirement, may_verify_signatures};

/// How long all looks for one command line may take.
const DEADLINE: Duration = Duration::from_secs(1);

/// The largest output of git that is read, in bytes: an index of about 100,000 files.
const LARGEST: usize = 8 * 1024 * 1024;

const SUBMODULES: &str = "git may look into submodules, which have settings of their own";

/// Looks for one command line.
#[derive(Debug)]
pub struct GitProbe {
    spawners: Arc<Spawners>,
    environment: Variables,
    begun: Instant,
}

impl GitProbe {
    /// A probe that starts git as the session's calls do.
    pub fn new(context: &ToolContext) -> Self {
        let environment = child_environment(context).to_vec();
        Self::with(Arc::clone(&context.spawners), environment)
    }

    /// A probe without a session: with the scrubbed environment, and children started by
    /// `spawners`.
    pub fn outside_of_a_session(spawners: Arc<Spawners>, environment: &Environment) -> Self {
        Self::with(spawners, scrubbed(environment))
    }

    fn with(spawners: Arc<Spawners>, mut environment: Vec<(OsString, OsString)>) -> Self {
        keep_git_from_writing(&mut environment);
        Self {
            spawners,
            environment: environment.into(),
            begun: Instant::now(),
        }
    }

    /// Whether a requirement holds for a shell that starts in `directory`.
    ///
    /// # Errors
    /// Why it does not, in one line.
    pub fn settle(&self, requirement: &Requirement, directory: &Path) -> Result<(), String> {
        match requirement {
            Requirement::CleanGitConfig(place) => self.look(place, &place.directory(directory)),
        }
    }

    fn look(&self, place: &GitUse, directory: &Path) -> Result<(), String> {
        let listed = self.git(&["config", "--list", "-z", "--includes"], directory)?;
        let settings =
            String::from_utf8(listed).map_err(|_| "git's configuration is not UTF-8".to_owned())?;
        for setting in settings.split_terminator('\0') {
            let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
            if runs_something(key, value, place.scope) {
                return Err(format!("git's configuration: `{key}` may run a program"));
            }
        }
        if place.scope == GitScope::WorkTree {
            // Git looks into submodules by starting itself there, with their configuration.
            if directory
                .ancestors()
                .any(|above| above.join(".gitmodules").exists())
            {
                return Err(SUBMODULES.to_owned());
            }
            // A repository inside of another one is entered if the index lists it.
            let index = self
                .git(&["ls-files", "--stage", "-z", ":/"], directory)
                .map_err(|_| "git's index cannot be read".to_owned())?;
            let mut entries = index.split(|byte| *byte == 0);
            if entries.any(|entry| entry.starts_with(b"160000 ")) {
                return Err(SUBMODULES.to_owned());
            }
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str], directory: &Path) -> Result<Vec<u8>, String> {
        let left = DEADLINE
            .checked_sub(self.begun.elapsed())
            .ok_or("git's configuration could not be read in time")?;
        let finished = self
            .spawners
            .run(
                &Command {
                    program: "git".into(),
                    arguments: arguments.iter().map(OsString::from).collect(),
                    environment: Arc::clone(&self.environment),
                    directory: directory.to_owned(),
                    stdin: Stdin::Null,
                    capture: Capture {
                        memory_bytes: LARGEST,
                        total_bytes: LARGEST as u64,
                    },
                    limits: Limits {
                        grace: Duration::ZERO,
                        ..Limits::with_timeout(left)
                    },
                },
                &CancelToken::default(),
            )
            .map_err(|error| format!("git's configuration cannot be read: {error}"))?;
        let is_whole = finished.stdout.total_bytes <= LARGEST as u64;
        if finished.ended != Ended::Exited || finished.status != ExitStatus::Code(0) || !is_whole {
            return Err("git's configuration cannot be read".to_owned());
        }
        finished
            .stdout
            .prefix(LARGEST as u64)
            .map_err(|error| format!("git's configuration cannot be read: {error}"))
    }
}

/// When a setting lets git start a program or reach a server in one of its reading forms. Pagers
/// need a terminal, hooks a change, editors a question: none of these is in reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// If it is set to anything.
    Set,
    /// Unless it is switched off.
    NotOff,
    /// If the value asks for signatures.
    Signatures,
}

/// A kind of setting: the section and the last part of the key, in lower case; what stands between
/// them may be anything.
struct Setting {
    section: &'static str,
    name: &'static str,
    scope: GitScope,
    when: When,
}

const fn setting(
    section: &'static str,
    name: &'static str,
    scope: GitScope,
    when: When,
) -> Setting {
    Setting {
        section,
        name,
        scope,
        when,
    }
}

const SETTINGS: &[Setting] = &[
    // Signatures are verified by another program.
    setting("log", "showsignature", GitScope::Objects, When::NotOff),
    setting("format", "pretty", GitScope::Objects, When::Signatures),
    setting("branch", "sort", GitScope::Objects, When::Signatures),
    setting("tag", "sort", GitScope::Objects, When::Signatures),
    // Missing objects are fetched.
    setting("extensions", "partialclone", GitScope::Objects, When::Set),
    setting("remote", "promisor", GitScope::Objects, When::NotOff),
    setting("remote", "partialclonefilter", GitScope::Objects, When::Set),
    setting("core", "fsmonitor", GitScope::WorkTree, When::NotOff),
    // Merges are merged again, which writes objects and starts merge drivers.
    setting("log", "diffmerges", GitScope::WorkTree, When::Set),
    setting("diff", "external", GitScope::WorkTree, When::Set),
    setting("diff", "command", GitScope::WorkTree, When::Set),
    setting("diff", "textconv", GitScope::WorkTree, When::Set),
    setting("filter", "clean", GitScope::WorkTree, When::Set),
    setting("filter", "smudge", GitScope::WorkTree, When::Set),
    setting("filter", "process", GitScope::WorkTree, When::Set),
    setting("submodule", "url", GitScope::WorkTree, When::Set),
    setting("submodule", "active", GitScope::WorkTree, When::Set),
    setting("submodule", "ignore", GitScope::WorkTree, When::Set),
    setting("diff", "submodule", GitScope::WorkTree, When::Set),
    setting(
        "status",
        "submodulesummary",
        GitScope::WorkTree,
        When::NotOff,
    ),
];

fn runs_something(key: &str, value: &str, scope: GitScope) -> bool {
    let section = key
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let name = key
        .rsplit('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_off = matches!(
        value.to_ascii_lowercase().as_str(),
        "" | "false" | "no" | "off" | "0"
    );
    // Aliases of formats may have any name.
    if section == "pretty" {
        return may_verify_signatures(value);
    }
    SETTINGS.iter().any(|setting| {
        setting.section == section
            && setting.name == name
            && (setting.scope == GitScope::Objects || scope == GitScope::WorkTree)
            && match setting.when {
                When::Set => !value.is_empty(),
                When::NotOff => !is_off,
                When::Signatures => may_verify_signatures(value),
            }
    })
}

#[cfg(test)]
#[path = "git_probe_tests.rs"]
mod tests;
