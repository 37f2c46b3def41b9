//! Arguments that select sessions.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::agent::{NamedRoots, RootKind};
use crate::commands::session::agent_name::{AgentName, AgentNameParser};
use crate::commands::times::TimeArgument;
use crate::commands::{InputErrors, UsageError};
use crate::config::Config;
use crate::io::{Clock, Environment, Io};
use crate::jsonl::Mapping;
use crate::session::{
    Candidate, Depth, Listing, Root, Selection, Session, SessionFiles, count_processors,
    discover_names, discover_paths, discover_with, list, list_session_roots, split_ids,
};

/// Maximum number of files to read to explain why there are no sessions.
const MAX_REFUSED: usize = 16;

/// Number of sessions that wait for a model at once, unless `--jobs` is given.
const DEFAULT_WAITING_JOBS: usize = 4;

/// The directories to search for sessions, and filters that every command has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct SourceArguments {
    /// Search for sessions in this directory instead of the agents' own; repeatable
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    root: Vec<PathBuf>,
    /// Only sessions of this agent, e.g. `claude` or `codex`
    #[arg(long, value_parser = AgentNameParser, value_name = "NAME", hide_possible_values = true)]
    pub(crate) agent: Option<AgentName>,
    /// Only sessions that worked in or below this directory
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Read up to N files, or parts of a large one, at once [default: one per core, or 4 with a model]
    #[arg(short, long, value_name = "N", hide_short_help = true)]
    jobs: Option<NonZeroUsize>,
    /// Read files instead of mapping them into memory
    #[arg(long, hide_short_help = true)]
    no_mmap: bool,
    /// Only sessions in this home of their agent: a name of the configuration, or a directory
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    home: Option<String>,
    /// The directories that the configuration names.
    #[arg(skip)]
    pub(crate) named_roots: NamedRoots,
    /// The home directory of the user.
    #[arg(skip)]
    user_home: Option<PathBuf>,
}

/// Filters of commands that take several sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct FilterArguments {
    /// Only sessions active at this time or later (RFC 3339, a date, `today`, or an age like 2d)
    #[arg(long, value_name = "TIME")]
    since: Option<TimeArgument>,
    /// Only sessions that started before this time, or until the end of this day; with `--since`, those that overlap
    /// with the period
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    until: Option<TimeArgument>,
    /// Only sessions last active before this time
    #[arg(long, value_name = "TIME", hide_short_help = true)]
    before: Option<TimeArgument>,
    /// Only sessions without a title
    #[arg(long, hide_short_help = true)]
    untitled: bool,
    /// Only sessions whose title, or else first prompt, contains this text
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    title: Option<String>,
    /// Only sessions whose branch contains this text
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    branch: Option<String>,
    /// Only sessions whose first directory contains this text, or the directory or the name of its repository
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    project: Option<String>,
    /// Only sessions whose last model's name contains this text
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    last_model: Option<String>,
}

/// All arguments that select sessions, except a limit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
// Commands that ask a model have a `--model` of their own.
#[command(mut_arg("last_model", |argument| argument.alias("model")))]
pub(crate) struct MatchArguments {
    #[command(flatten)]
    pub(crate) source: SourceArguments,
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
}

/// The limit of commands that take several sessions.
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitArguments {
    /// At most N sessions, the most recently active ones
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Include sessions without a prompt, a title or a reply
    #[arg(long, hide_short_help = true)]
    all: bool,
}

impl SourceArguments {
    /// Adds the agents of the configuration, and checks the name of `--agent`.
    ///
    /// # Errors
    /// The configuration is invalid, or the agent is unknown.
    pub(crate) fn configure(&mut self, config: &Config) -> Result<(), UsageError> {
        let agents = config.agents().map_err(UsageError::reason)?;
        let homes = match self.root.as_slice() {
            [] => config.default_homes(),
            roots => roots.to_vec(),
        };
        self.named_roots = NamedRoots::new(agents, homes);
        self.user_home = config.user_home();
        self.check_home()?;
        match &mut self.agent {
            Some(agent) => agent.resolve(&self.named_roots),
            None => Ok(()),
        }
    }

    /// Checks the name of `--home`.
    fn check_home(&self) -> Result<(), UsageError> {
        let Some(home) = &self.home else {
            return Ok(());
        };
        let names = || self.named_roots.names(RootKind::Home);
        let at = self.named_roots.find_home(Path::new(home));
        if names().any(|name| name == home) || at.is_some_and(|at| at.name == *home) {
            return Ok(());
        }
        let mut known: Vec<&str> = names().collect();
        known.dedup();
        let hint = match known.as_slice() {
            [] => "`[agents.claude.homes]` in the configuration names homes".to_owned(),
            known => format!("homes: {}", known.join(", ")),
        };
        Err(UsageError::new(format!("unknown home `{home}`")).with_hint(hint))
    }

    /// Whether a directory or a filter is given.
    fn selects(&self) -> bool {
        !self.root.is_empty() || self.agent.is_some() || self.cwd.is_some() || self.home.is_some()
    }

    /// Whether files may be mapped.
    pub(crate) fn file_mapping(&self) -> Mapping {
        if self.no_mmap {
            Mapping::Refused
        } else {
            Mapping::Allowed
        }
    }

    /// Returns the files that may be sessions, the last changed first.
    pub(crate) fn candidates(&self, environment: &Environment) -> Vec<Candidate> {
        discover_with(self.jobs(), &self.roots(environment))
    }

    /// Like [`Self::candidates`], in any order, for a command that opens all files.
    pub(crate) fn files(&self, environment: &Environment) -> Vec<Candidate> {
        discover_names(self.jobs(), &self.roots(environment))
    }

    /// Returns the possible ids of the sessions of all agents, by the names of their files. A short id
    /// must not be ambiguous in commands without filters.
    pub(crate) fn all_ids(&self, environment: &Environment) -> Vec<String> {
        let files = discover_names(self.jobs(), &self.all_roots(environment));
        files
            .iter()
            .flat_map(|file| split_ids(&file.path))
            .collect()
    }

    fn all_roots(&self, environment: &Environment) -> Vec<Root> {
        if self.root.is_empty() {
            let roots = list_session_roots(environment).into_iter();
            return roots.chain(self.named_roots.roots()).collect();
        }
        let named = self.root.iter().cloned();
        named.map(|path| Root { agent: None, path }).collect()
    }

    /// Returns the directories to search.
    pub(crate) fn roots(&self, environment: &Environment) -> Vec<Root> {
        let mut roots = self.all_roots(environment);
        roots.retain(|root| {
            self.agent
                .as_ref()
                .is_none_or(|agent| agent.may_be_in(root, &self.named_roots))
                && self.may_be_at_home(root)
        });
        roots
    }

    /// Whether a directory to search may be in the home of `--home`. A directory of `--root` may contain that home.
    fn may_be_at_home(&self, root: &Root) -> bool {
        self.home.as_ref().is_none_or(|wanted| {
            let home = self.named_roots.find_home(&root.path);
            !self.root.is_empty() || home.is_some_and(|home| home.name == *wanted)
        })
    }

    /// Returns the settings of a listing without filters of commands.
    pub(crate) fn listing(&self, depth: Depth) -> Listing {
        Listing {
            selection: Selection {
                agent: self.agent.as_ref().and_then(AgentName::known_agent),
                written_by: self
                    .agent
                    .as_ref()
                    .and_then(|agent| agent.fork_name().map(str::to_owned)),
                cwd: self.cwd.as_deref().map(absolute),
                named_roots: self.named_roots.clone(),
                home: self.home.clone(),
                user_home: self.user_home.clone(),
                ..Selection::default()
            },
            depth,
            prices: None,
            mapping: self.file_mapping(),
            jobs: self.jobs(),
            examined: Arc::default(),
        }
    }

    /// Maximum number of sessions that wait for a model at once.
    pub(crate) fn waiting_jobs(&self) -> usize {
        self.jobs.map_or(DEFAULT_WAITING_JOBS, NonZeroUsize::get)
    }

    /// Maximum number of threads.
    pub(crate) fn jobs(&self) -> NonZeroUsize {
        self.jobs.unwrap_or_else(count_processors)
    }

    /// Reports that no session was found among `files` files.
    pub(crate) fn report_none_found(&self, files: usize, io: &Io) {
        io.messages.warn("no sessions found");
        if self.roots(&io.environment).is_empty() {
            io.messages
                .hint("HOME is not set; `--root DIR` names a directory");
        } else if let Some(reason) = self.refusal(io) {
            io.messages.hint(&reason);
        } else if files == 0 && self.root.is_empty() {
            io.messages
                .hint("`turnpipe doctor` shows the directories that are searched");
        }
    }

    /// Returns why the first unreadable file of a known agent cannot be read.
    fn refusal(&self, io: &Io) -> Option<String> {
        let files = self.files(&io.environment).into_iter().take(MAX_REFUSED);
        let errors =
            files.filter_map(|file| Session::open_with(&file.path, &self.named_roots).err());
        let mut reasons = errors.map(|error| error.to_string());
        reasons.find(|reason| reason.starts_with("sessions of "))
    }

    /// Reports unreadable roots. A root may be a directory, a single session file or a database.
    pub(crate) fn check_roots(&self, errors: &mut InputErrors) {
        for root in &self.root {
            let problem = if root.is_dir() {
                std::fs::read_dir(root).err().map(UsageError::reason)
            } else if discover_paths(std::iter::once(root.clone()))
                .iter()
                .any(|candidate| candidate.path != *root)
            {
                // The root is a database with sessions.
                None
            } else {
                Session::open_with(&absolute(root), &self.named_roots)
                    .err()
                    .map(UsageError::reason)
            };
            if let Some(problem) = problem {
                errors.report(root.display(), &problem);
            }
        }
    }
}

/// Returns the absolute path, with links resolved if it exists.
fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}

impl FilterArguments {
    /// Adds these filters to a selection.
    pub(crate) fn apply(&self, selection: &mut Selection, clock: &dyn Clock) {
        let zone = clock.time_zone();
        let (since, until) = self.period(clock.now(), &zone);
        selection.since = since;
        selection.until = until;
        let before = self
            .before
            .map(|moment| moment.to_timestamp(clock.now(), &zone));
        selection.before = before;
        selection.untitled = self.untitled;
        selection.title.clone_from(&self.title);
        selection.branch.clone_from(&self.branch);
        selection.project.clone_from(&self.project);
        selection.model.clone_from(&self.last_model);
    }

    /// Returns the times of `--since` and `--until`.
    pub(crate) fn period(
        &self,
        now: Timestamp,
        zone: &TimeZone,
    ) -> (Option<Timestamp>, Option<Timestamp>) {
        let since = self.since.map(|moment| moment.to_timestamp(now, zone));
        (
            since,
            self.until.map(|moment| moment.to_period_end(now, zone)),
        )
    }

    /// Whether sessions that continued later are selected too.
    pub(crate) fn has_later_activity(&self) -> bool {
        self.until.is_some()
    }

    /// Whether there is any filter.
    fn is_set(&self) -> bool {
        *self != Self::default()
    }
}

impl LimitArguments {
    /// Adds the limit to a selection.
    pub(crate) fn apply(&self, selection: &mut Selection) {
        selection.limit = self.limit;
        selection.without_empty = !self.all;
    }
}

impl MatchArguments {
    /// Whether no argument is given.
    pub(crate) fn is_default(&self) -> bool {
        let mut none = Self::default();
        none.source.named_roots = self.source.named_roots.clone();
        none.source.user_home.clone_from(&self.source.user_home);
        *self == none
    }

    /// Whether there is a filter besides the directories and the agent.
    pub(crate) fn is_restrictive(&self) -> bool {
        self.filter.is_set() || self.source.cwd.is_some() || self.source.home.is_some()
    }

    /// Returns the settings of a listing of the selected sessions, including empty sessions.
    pub(crate) fn listing(&self, depth: Depth, clock: &dyn Clock) -> Listing {
        let mut listing = self.source.listing(depth);
        self.filter.apply(&mut listing.selection, clock);
        listing
    }

    /// Returns the settings to list sessions whose calls are read, and the period of the calls.
    pub(crate) fn call_listing(&self, clock: &dyn Clock) -> (Listing, Range<Timestamp>) {
        let mut listing = self.listing(Depth::Ends, clock);
        let since = listing.selection.since.unwrap_or(Timestamp::MIN);
        let until = listing.selection.until.unwrap_or(Timestamp::MAX);
        listing.selection.with_subagents = true;
        (listing, since..until)
    }
}

/// Whether arguments select sessions without naming them.
pub(crate) fn selects(
    source: &SourceArguments,
    filter: &FilterArguments,
    limit: &LimitArguments,
) -> bool {
    source.selects() || filter.is_set() || limit.limit.is_some() || limit.all
}

/// All arguments that select sessions.
#[derive(Debug, Clone, Args)]
pub(crate) struct SelectionArguments {
    #[command(flatten)]
    pub(crate) matching: MatchArguments,
    #[command(flatten)]
    limit: LimitArguments,
}

impl SelectionArguments {
    /// Returns the settings of a listing of the selected sessions.
    pub(crate) fn listing(&self, depth: Depth, clock: &dyn Clock) -> Listing {
        let mut listing = self.matching.listing(depth, clock);
        self.limit.apply(&mut listing.selection);
        listing
    }
}

impl SourceArguments {
    /// Returns the files of the sessions that these filters select, the most recently active first.
    pub(crate) fn select_files(
        &self,
        filter: &FilterArguments,
        limit: &LimitArguments,
        io: &Io,
    ) -> Vec<SessionFiles> {
        let mut listing = self.listing(Depth::Ends);
        filter.apply(&mut listing.selection, io.clock.as_ref());
        limit.apply(&mut listing.selection);
        self.sessions(&listing, io)
    }

    /// Returns the files of the sessions of a listing, then the unreadable files.
    pub(crate) fn sessions(&self, listing: &Listing, io: &Io) -> Vec<SessionFiles> {
        let (listed, failed) = list(&self.candidates(&io.environment), listing);
        let failed = failed.into_iter().map(|(path, _)| path.into());
        let listed = listed.iter().map(|session| session.files());
        listed.chain(failed).collect()
    }
}
