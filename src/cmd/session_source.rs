//! Which sessions a command is about.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::UsageError;
use crate::config::session_roots;
use crate::io::Io;
use crate::jsonl::Mapping;
use crate::session::{
    Agent, Candidate, Depth, Facts, Filter, FindError, Found, Listing, Root, Session, SessionError,
    discover, discover_names, discover_with, find,
};
use crate::wire::SessionId;
use crate::wire::records::AboutSession;

/// How many things are done at once that wait for others, unless somebody says otherwise.
const WAITING_JOBS: usize = 4;

/// Forks of forks are followed so far.
const MOST_ANCESTORS: usize = 16;

/// Where sessions are looked for.
#[derive(Debug, Clone, Args)]
pub(super) struct SourceArguments {
    /// Look in this folder instead of the agents' own; repeatable
    #[arg(long, value_name = "DIR")]
    root: Vec<PathBuf>,
    /// Only sessions of this agent
    #[arg(long, value_enum, value_name = "NAME")]
    agent: Option<AgentName>,
    /// Only sessions that worked in this directory, or below it
    #[arg(long, value_name = "DIR", overrides_with = "all")]
    cwd: Option<PathBuf>,
    /// Sessions of all directories, which is the default
    #[arg(long, overrides_with = "cwd")]
    all: bool,
    /// How many threads read: many files at once, or parts of a large one [default: one a core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Read files instead of mapping them into memory
    #[arg(long)]
    no_mmap: bool,
}

/// An agent, on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AgentName {
    /// Claude Code
    Claude,
    /// Qwen Code
    Qwen,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// pi
    Pi,
}

impl AgentName {
    fn agent(self) -> Agent {
        match self {
            Self::Claude => Agent::Claude,
            Self::Qwen => Agent::Qwen,
            Self::Codex => Agent::Codex,
            Self::Gemini => Agent::Gemini,
            Self::Pi => Agent::Pi,
        }
    }
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ListForm {
    /// For people
    Text,
    /// Records
    Jsonl,
}

impl ListForm {
    /// The form that was asked for, else text on a terminal.
    pub(super) fn or_usual(form: Option<Self>, io: &Io) -> Self {
        match form {
            Some(form) => form,
            None if io.terminal.stdout => Self::Text,
            None => Self::Jsonl,
        }
    }
}

/// How many processors this process may use. Quotas are not asked for, which takes longer than
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
    pub(super) fn mapping(&self) -> Mapping {
        if self.no_mmap {
            Mapping::Refused
        } else {
            Mapping::Allowed
        }
    }

    /// The files that may be sessions, the last changed first.
    pub(super) fn candidates(&self, io: &Io) -> Vec<Candidate> {
        discover_with(self.jobs(), &self.roots(io))
    }

    /// The same files in no order, for those who open all of them.
    pub(super) fn files(&self, io: &Io) -> Vec<Found> {
        discover_names(self.jobs(), &self.roots(io))
    }

    fn roots(&self, io: &Io) -> Vec<Root> {
        let wanted = self.agent.map(AgentName::agent);
        let mut roots = if self.root.is_empty() {
            session_roots(&io.environment)
        } else {
            let named = self.root.iter().cloned();
            named.map(|path| Root { agent: None, path }).collect()
        };
        roots.retain(|root| wanted.is_none() || root.agent.is_none() || root.agent == wanted);
        roots
    }

    /// How the files are looked at.
    pub(super) fn listing(&self, depth: Depth) -> Listing {
        Listing {
            filter: Filter {
                agent: self.agent.map(AgentName::agent),
                cwd: self.cwd.as_deref().map(absolute),
                ..Filter::default()
            },
            depth,
            mapping: self.mapping(),
            jobs: self.jobs(),
        }
    }

    /// How many things are done at once that wait for others rather than for this machine.
    pub(super) fn waiting_jobs(&self) -> usize {
        self.jobs.map_or(WAITING_JOBS, NonZeroUsize::get)
    }

    /// How many threads may read.
    pub(super) fn jobs(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(processors)
    }

    /// The file that somebody means.
    ///
    /// # Errors
    /// None, or more than one.
    pub(super) fn find(&self, name: &str, io: &Io) -> Result<PathBuf, FindError> {
        if name.contains('/') || Path::new(name).is_file() {
            return Ok(name.into());
        }
        find(name, &self.candidates(io), &self.listing(Depth::Ends))
    }

    /// The sessions in whose files this one begins, the oldest first. One that is not found is left
    /// out with a message.
    pub(super) fn ancestors(&self, session: &Session, facts: &Facts, io: &Io) -> Vec<Session> {
        let mut ancestors = Vec::new();
        let mut history = facts.history.clone();
        let mut beside = session.file.path.clone();
        while let Some(base) = history.take()
            && ancestors.len() < MOST_ANCESTORS
        {
            let mut candidates = self.candidates(io);
            candidates.extend(discover(&[Root {
                agent: None,
                path: beside.parent().unwrap_or(Path::new(".")).to_owned(),
            }]));
            candidates.dedup_by(|one, other| one.path == other.path);
            let listing = Listing {
                filter: Filter::default(),
                ..self.listing(Depth::Ends)
            };
            let found = candidates.iter().find_map(|candidate| {
                find(&base.session_id, std::slice::from_ref(candidate), &listing).ok()
            });
            let opened = found.and_then(|path| Session::open(&path).ok());
            let Some(parent) = opened.map(|parent| parent.up_to(base.end)) else {
                io.messages.note(&format!(
                    "{}: begins in session {}, which is not found",
                    session.file.path.display(),
                    base.session_id
                ));
                break;
            };
            beside.clone_from(&parent.file.path);
            history = parent
                .summary(self.mapping())
                .ok()
                .and_then(|facts| facts.history);
            ancestors.push(parent);
        }
        ancestors.reverse();
        ancestors
    }

    /// The session that somebody means, opened.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub(super) fn open(&self, name: &str, io: &Io) -> anyhow::Result<Session> {
        let path = self
            .find(name, io)
            .map_err(|error| not_found(name, &error))?;
        Session::open(&path).map_err(|error| unreadable(&path, error))
    }
}

/// No session has that name.
pub(super) fn not_found(name: &str, error: &FindError) -> anyhow::Error {
    UsageError::new(format!("session {name}: {error}"))
        .with_hint("`turnpipe session list` shows what there is")
        .into()
}

/// A session that cannot be read: the caller's fault, or the system's.
pub(super) fn unreadable(path: &Path, error: SessionError) -> anyhow::Error {
    match error {
        SessionError::Read(error) => {
            anyhow::Error::new(error).context(format!("cannot read {}", path.display()))
        }
        SessionError::Open(_) | SessionError::Unknown => {
            UsageError::new(format!("{}: {error}", path.display())).into()
        }
    }
}

/// The absolute path, links resolved where it exists.
fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

/// Who a session is, as records tell it.
pub(super) fn about(path: PathBuf, agent: Agent, facts: Facts) -> AboutSession {
    let current = facts
        .cwd
        .filter(|cwd| Some(cwd) != facts.first_cwd.as_ref());
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
    }
}
