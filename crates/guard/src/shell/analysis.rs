//! The analysis of a command line.

use std::ops::Range;
use std::sync::Arc;

use super::commands::CheckedCommand;
use super::line::{CommandLine, Unread};
use super::parts::{CommandPart, MAX_LENGTH};
use super::reader::read_command_line;
use super::table::COMMANDS;
use super::verdict::{GitScope, GitUse, Refusal, Verdict, excerpt};
use turnpipe_core::text::terminal_safe_line;

/// Maximum number of commands and redirections. A shell that fails to start a process, or to open a file, may abandon a
/// pipeline that is partly started.
const MAX_COMMANDS: usize = 64;

/// The result of an analysis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason for the verdict, on one line.
    pub why: String,
    /// Byte range of the word that the reason is about, if it is about a single word.
    pub span: Option<Range<usize>>,
    /// Whether the shell may end in a different directory.
    pub changes_directory: bool,
    /// Names of the programs, without duplicates; empty unless the verdict is read-only.
    pub programs: Vec<String>,
    /// The first command whose arguments are a language, such as `awk`. With one, the verdict holds only if the kernel
    /// prevents the command from writing.
    pub language: Option<String>,
    /// The parsed command line.
    pub line: Arc<CommandLine>,
}

/// Decides from its text whether a command line is read-only.
///
/// Assumes bash without start-up files, aliases and a terminal, and a cleaned environment: no
/// exported functions, no variables that choose programs. Takes linear time and has no side
/// effects.
pub fn analyse(script: &str) -> Analysis {
    let mut line = read_command_line(script);
    if script.len() > MAX_LENGTH {
        let why = "the command exceeds 16 KiB, the limit of the analysis";
        return refuse(Refusal::new(0..0, why), line);
    }
    let mut checks: Vec<_> = line.commands.iter().map(CheckedCommand::new).collect();
    let in_commands = checks.iter_mut().filter_map(|check| check.refusal.take());
    let outside = std::mem::take(&mut line.refusals).into_iter();
    let first_refusal = outside
        .chain(in_commands)
        .min_by_key(|refusal| refusal.span.start);
    let pairs = line.commands.iter().zip(&checks);
    let changes: Vec<_> = pairs.filter(|(_, check)| check.changes_directory).collect();
    let mut contexts = changes.iter().map(|(command, _)| command.context);
    let changes_directory = contexts.any(|context| !context.is_in_subshell);
    let starts = possible_starts(&changes);
    let requires = mark_reading_commands(&mut line, &checks, &starts);
    let secret = line.secrets.iter().find(|name| !line.may_set(name));
    let mut revealing = checks.iter().filter_map(|check| check.reveals.clone());
    line.reveals = revealing.next().or(secret.map(|name| format!("${name}")));
    let commands = line.commands.iter();
    let sizes = commands.map(|command| 1 + command.redirections.len());
    let mut git_calls = checks.iter().filter_map(|check| check.git.as_ref());
    let refusal = if sizes.sum::<usize>() > MAX_COMMANDS {
        Some(Refusal::new(0..0, "too many commands"))
    } else if first_refusal.is_some() {
        first_refusal
    } else if script.trim_ascii().is_empty() {
        Some(Refusal::new(0..0, "the command is empty"))
    } else if let Some(unread) = &line.unread {
        Some(unread.refusal.clone())
    } else {
        let call = git_calls.next().filter(|_| starts.is_empty());
        call.map(|call| Refusal::new(call.span.clone(), "git in an unknown directory"))
    };
    if let Some(refusal) = refusal {
        return refuse(refusal, line);
    }
    let names = deduplicate(checks.iter().flat_map(|check| &check.names));
    Analysis {
        why: explain_acceptance(&names),
        verdict: Verdict::ReadOnly {
            requires: deduplicate(requires),
        },
        span: None,
        changes_directory,
        programs: list_programs(names.into_iter().map(String::as_str)),
        language: checks.iter().find_map(|check| check.language.clone()),
        line: Arc::new(line),
    }
}

/// Returns the directories in which a command of the line may start, each as successive changes from the start of the
/// shell; empty if they are unknown. A change may fail, be skipped, come later or affect only a subshell.
fn possible_starts(changes: &[(&CommandPart, &CheckedCommand)]) -> Vec<Vec<String>> {
    match changes {
        [] => vec![Vec::new()],
        [(command, check)] if !command.context.is_repeated => check
            .target
            .iter()
            .flat_map(|target| [Vec::new(), vec![target.clone()]])
            .collect(),
        _ => Vec::new(),
    }
}

/// Sets the verdicts of the commands that only read. Returns all uses of git.
fn mark_reading_commands(
    line: &mut CommandLine,
    checks: &[CheckedCommand],
    starts: &[Vec<String>],
) -> Vec<GitUse> {
    let mut is_clean = line.unread.is_none();
    let mut all_requires: Vec<GitUse> = Vec::new();
    for (command, check) in line.commands.iter_mut().zip(checks) {
        let requires = check.git_uses(starts);
        all_requires.extend(requires.iter().cloned());
        // In an unknown directory, git does not only read; earlier commands could change the configuration.
        let may_require = is_clean && !command.context.is_repeated && !requires.is_empty();
        if check.only_reads && (check.git.is_none() || may_require) {
            command.verdict = Verdict::ReadOnly { requires };
        }
        is_clean &= command.verdict.is_read_only() && command.output_targets().next().is_none();
    }
    all_requires
}

/// Parses a command line, in linear time and without side effects.
pub fn parse(script: &str) -> CommandLine {
    // The analysis sets the verdicts of the commands.
    Arc::unwrap_or_clone(analyse(script).line)
}

impl CommandLine {
    /// Parses a line that may mean something else where it is run, so that all of it counts as not read.
    pub fn parse_uncertain(script: &str) -> Self {
        let refusal = Refusal::new(0..0, "it is not known how it is read");
        Self {
            unread: Some(Unread { start: 0, refusal }),
            ..parse(script)
        }
    }
}

/// Returns the analysis of a command line that is not known to be read-only.
fn refuse(refusal: Refusal, line: CommandLine) -> Analysis {
    Analysis {
        // The reason quotes parts of the command.
        why: terminal_safe_line(&refusal.why),
        span: Some(refusal.span).filter(|span| !span.is_empty()),
        changes_directory: true,
        line: Arc::new(line),
        ..Analysis::default()
    }
}

/// Returns the reason for accepting commands.
fn explain_acceptance(names: &[&String]) -> String {
    /// Maximum number of names in the reason.
    const MAX_NAMES: usize = 6;
    if names.is_empty() {
        return "nothing is run".to_owned();
    }
    let first = names.iter().take(MAX_NAMES).map(|name| excerpt(name));
    let ellipsis = (names.len() > MAX_NAMES).then(|| "…".to_owned());
    let listed: Vec<String> = first.chain(ellipsis).collect();
    format!("{}: options within the accepted set", listed.join(", "))
}

/// Returns the names of programs, without subcommands, and of the programs that they start by name, without duplicates.
fn list_programs<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let programs = names.filter_map(|name| name.split(' ').next());
    let commands = programs.clone().filter_map(|name| COMMANDS.get(name));
    let started = commands.flat_map(|command| command.starts.iter().copied());
    deduplicate(programs.chain(started).map(str::to_owned))
}

fn deduplicate<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut unique = Vec::new();
    for item in items {
        if !unique.contains(&item) {
            unique.push(item);
        }
    }
    unique
}

impl Analysis {
    /// Returns the conditions that the caller must provide, as named in records; call it before
    /// [`Self::check_requirements`]. Sessions provide all of them, except enforcement if the kernel cannot.
    pub fn conditions(&self) -> Vec<&'static str> {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return Vec::new();
        };
        let mut uses = requires.iter();
        let reads_work_tree = uses.any(|git| git.scope == GitScope::WorkTree);
        let starts_processes = |command: &CommandPart| {
            command.context.is_substituted || command.inner_command().is_some()
        };
        let sorts = self.programs.iter().any(|program| program == "sort");
        [
            (self.language.is_some(), "kernel-enforcement"),
            // Git starts the pager of its configuration.
            (!requires.is_empty(), "no-terminal"),
            (reads_work_tree, "no-index-refresh"),
            (sorts, "temporary-directory"),
            // A process that waits for a file, such as a named pipe, may outlive the one that started it.
            (
                self.line.commands.iter().any(starts_processes) || self.language.is_some(),
                "no-leftovers",
            ),
            (self.line.reveals.is_some(), "clean-environment"),
        ]
        .into_iter()
        .filter_map(|(holds, name)| holds.then_some(name))
        .collect()
    }

    /// Returns the analysis of one command of the line on its own.
    #[must_use]
    pub fn for_command(&self, command: &CommandPart) -> Self {
        let levels = command.levels();
        Self {
            verdict: command.verdict.clone(),
            programs: list_programs(levels.iter().filter_map(CommandPart::program)),
            language: None,
            ..self.clone()
        }
    }

    /// Returns the analysis with an unknown verdict for a reason.
    #[must_use]
    pub fn with_refusal(self, why: String) -> Self {
        Self {
            verdict: Verdict::Unknown,
            why,
            programs: Vec::new(),
            ..self
        }
    }

    /// Returns the analysis after checking every requirement with `holds`. The first error makes the verdict unknown
    /// and is its reason.
    #[must_use]
    pub fn check_requirements(mut self, holds: impl FnMut(&GitUse) -> Result<(), String>) -> Self {
        let Verdict::ReadOnly { requires } = &mut self.verdict else {
            return self;
        };
        match std::mem::take(requires).iter().try_for_each(holds) {
            Err(why) => self.with_refusal(why),
            Ok(()) => self,
        }
    }

    /// Returns the analysis for callers that check requirements only in the directory where the shell starts. In other
    /// directories, git may only read history and settings, else the verdict is unknown.
    #[must_use]
    pub fn restrict_to_start(self) -> Self {
        let restricted = self.clone().check_requirements(|git| {
            let directory = terminal_safe_line(&git.steps.join("/"));
            let is_known = git.steps.is_empty() || git.scope == GitScope::Objects;
            let unknown = || format!("git in `{directory}`, whose configuration is unknown");
            is_known.then_some(()).ok_or_else(unknown)
        });
        if restricted.verdict.is_read_only() {
            return self;
        }
        restricted
    }
}
