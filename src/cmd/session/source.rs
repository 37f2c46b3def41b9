//! Where sessions are looked for, and which of them are wanted.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::cmd::inputs::InputErrors;
use crate::cmd::times::Moment;
use crate::cmd::{Globals, UsageError};
use crate::io::{Clock, Environment, Io};
use crate::jsonl::Mapping;
use crate::message::SessionId;
use crate::records::AboutSession;
use crate::session::session_roots;
use crate::session::{
    Agent, Candidate, Depth, Facts, Filter, Found, Listing, Root, Session, discover,
    discover_names, discover_with,
};

/// How many sessions wait for a model at once, unless `--jobs` is given.
const WAITING_JOBS: usize = 4;

/// Where sessions are looked for.
#[derive(Debug, Clone, Args)]
pub(crate) struct SourceArguments {
    /// Look for sessions in this folder instead of the agents' own; repeatable
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Only sessions of this agent
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) agent: Option<Agent>,
    /// Only sessions that worked in this directory, or below it
    #[arg(long, value_name = "DIR", overrides_with = "all")]
    cwd: Option<PathBuf>,
    /// Sessions of all directories (the default)
    #[arg(long, overrides_with = "cwd")]
    all: bool,
    /// How many files, or parts of a large one, to read at once [default: one per core, or 4 if each
    /// waits for a model]
    #[arg(short, long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Read files instead of mapping them into memory
    #[arg(long)]
    no_mmap: bool,
}

/// Filters of commands that look at many sessions.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArguments {
    /// Only sessions active at this time or later (RFC 3339, a date, `yesterday`, or an age like
    /// 2d)
    #[arg(long, value_name = "TIME")]
    since: Option<Moment>,
    /// Only sessions last active before this time
    #[arg(long, alias = "until", value_name = "TIME")]
    before: Option<Moment>,
    /// Only sessions without a title
    #[arg(long)]
    untitled: bool,
    /// Only sessions whose title, or else first prompt, contains this text
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Only sessions whose branch contains this text
    #[arg(long, value_name = "TEXT")]
    branch: Option<String>,
    /// Only sessions whose last model contains this text
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,
    /// Only sessions whose first directory contains this text
    #[arg(long, value_name = "TEXT")]
    project: Option<String>,
}

/// How many processors this process may use. Quotas are left out: reading them takes longer than
/// looking up a title.
#[cfg(target_os = "linux")]
fn processors() -> NonZeroUsize {
    let allowed = rustix::thread::sched_getaffinity(None).map(|set| set.count());
    let allowed = allowed.ok().and_then(|count| usize::try_from(count).ok());
    allowed
        .and_then(NonZeroUsize::new)
        .unwrap_or(NonZeroUsize::MIN)
}

#[cfg(not(target_os = "linux"))]
fn processors() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

impl SourceArguments {
    /// Whether files may be mapped.
    pub(crate) fn mapping(&self) -> Mapping {
        if self.no_mmap {
            Mapping::Refused
        } else {
            Mapping::Allowed
        }
    }

    /// The files that may be sessions, the last changed first.
    pub(crate) fn candidates(&self, environment: &Environment) -> Vec<Candidate> {
        discover_with(self.jobs(), &self.roots(environment))
    }

    /// The same files in any order, for a command that opens all of them.
    pub(crate) fn files(&self, environment: &Environment) -> Vec<Found> {
        discover_names(self.jobs(), &self.roots(environment))
    }

    fn roots(&self, environment: &Environment) -> Vec<Root> {
        let wanted = self.agent;
        let mut roots = if self.root.is_empty() {
            session_roots(environment)
        } else {
            let named = self.root.iter().cloned();
            named.map(|path| Root { agent: None, path }).collect()
        };
        roots.retain(|root| wanted.is_none() || root.agent.is_none() || root.agent == wanted);
        roots
    }

    /// How the files are read for a list.
    pub(crate) fn listing(&self, depth: Depth) -> Listing {
        Listing {
            filter: Filter {
                agent: self.agent,
                cwd: self.cwd.as_deref().map(absolute),
                ..Filter::default()
            },
            depth,
            prices: None,
            mapping: self.mapping(),
            jobs: self.jobs(),
            examined: Arc::default(),
        }
    }

    /// How many sessions may wait for a model at once.
    pub(crate) fn waiting_jobs(&self) -> usize {
        self.jobs.map_or(WAITING_JOBS, NonZeroUsize::get)
    }

    /// How many threads may read.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(processors)
    }

    /// Says to people that no session was found among this many files.
    pub(crate) fn note_none(&self, files: usize, globals: &Globals, io: &Io) {
        if globals.quiet {
            return;
        }
        io.messages.note("no sessions found");
        if self.roots(&io.environment).is_empty() {
            io.messages
                .hint("HOME is not set; `--root DIR` names a folder");
        } else if files == 0 && self.root.is_empty() {
            io.messages
                .hint("`turnpipe doctor` shows where sessions are looked for");
        }
    }

    /// Reports the folders that were named and cannot be read. A single session may stand for one.
    pub(crate) fn check_roots(&self, errors: &mut InputErrors) {
        for root in &self.root {
            let problem = if root.is_dir() {
                std::fs::read_dir(root).err().map(UsageError::reason)
            } else {
                Session::open(&absolute(root)).err().map(UsageError::reason)
            };
            if let Some(problem) = problem {
                errors.report(root.display(), &problem);
            }
        }
    }
}

/// The absolute path, links resolved where it exists.
fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

/// The files that were named.
pub(crate) fn candidates_at(paths: impl Iterator<Item = PathBuf>) -> Vec<Candidate> {
    let roots: Vec<Root> = paths.map(|path| Root { agent: None, path }).collect();
    discover(&roots)
}

/// A session's members in records.
pub(crate) fn about(path: PathBuf, agent: Agent, facts: Facts) -> AboutSession {
    let current = facts
        .cwd
        .filter(|cwd| Some(cwd) != facts.first_cwd.as_ref());
    let id = facts.session_id.as_deref().filter(|_| !facts.is_subagent);
    let resume = id.and_then(|id| agent.resume_command(id, &path));
    let (title, source) = facts.title.map(|title| (title.text, title.source)).unzip();
    let path = path.into_os_string().into_string();
    AboutSession {
        session_id: facts.session_id.map(SessionId),
        agent: agent.name().to_owned(),
        path: path.unwrap_or_else(|path| path.to_string_lossy().into_owned()),
        title,
        title_source: source.map(|source| source.name().to_owned()),
        first_prompt: facts.first_prompt,
        cwd: facts.first_cwd,
        current_cwd: current,
        git_branch: facts.branch,
        model: facts.model,
        fork_parent: facts.forked_from.map(SessionId),
        resume,
    }
}

impl FilterArguments {
    /// Narrows a filter.
    pub(crate) fn apply(&self, filter: &mut Filter, clock: &dyn Clock) {
        let time = |moment: Moment| moment.time(clock.now(), &clock.time_zone());
        filter.since = self.since.map(time);
        filter.before = self.before.map(time);
        filter.untitled = self.untitled;
        filter.title.clone_from(&self.title);
        filter.branch.clone_from(&self.branch);
        filter.model.clone_from(&self.model);
        filter.project.clone_from(&self.project);
    }
}
