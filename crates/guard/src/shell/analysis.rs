//! The analysis of a command line.

use std::ops::Range;
use std::sync::Arc;

use super::commands::CheckedCommand;
use super::line::{CommandLine, Unread};
use super::parts::{CommandPart, MAX_LENGTH};
use super::reader::read;
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
    /// The first command whose arguments are a language, such as `awk`. Such an analysis is trusted
    /// only if the kernel prevents the command from writing.
    pub language: Option<String>,
    /// Its commands.
    pub line: Arc<CommandLine>,
}

/// Decides from its text whether a command line is read-only.
///
/// Assumes bash without start-up files, aliases and a terminal, and a cleaned environment: no
/// exported functions, no variables that choose programs. Takes linear time and has no side
/// effects.
pub fn analyse(script: &str) -> Analysis {
    let mut line = read(script);
    if script.len() > MAX_LENGTH {
        let why = "the command exceeds 16 KiB, the limit of the analysis";
        return refuse(Refusal::new(0..0, why), line);
    }
    let mut checked: Vec<_> = line.commands.iter().map(CheckedCommand::of).collect();
    let own = checked.iter_mut().filter_map(|found| found.refusal.take());
    let refusals = std::mem::take(&mut line.refusals).into_iter().chain(own);
    let first_refusal = refusals.min_by_key(|refusal| refusal.span.start);
    let moves = line.commands.iter().zip(&checked);
    let moves: Vec<_> = moves.filter(|(_, found)| found.changes_directory).collect();
    let mut contexts = moves.iter().map(|(command, _)| command.context);
    let changes_directory = contexts.any(|context| !context.is_in_subshell);
    // The change may fail, be skipped, come later or affect only a subshell.
    let starts = match moves.as_slice() {
        [] => vec![Vec::new()],
        [(command, found)] if !command.context.is_repeated => {
            let target = found.target.iter();
            target
                .flat_map(|target| [Vec::new(), vec![target.clone()]])
                .collect()
        }
        _ => Vec::new(),
    };
    let mut is_clean = line.unread.is_none();
    let mut all_requires: Vec<GitUse> = Vec::new();
    for (command, found) in line.commands.iter_mut().zip(&checked) {
        let requires = found.git_uses(&starts);
        all_requires.extend(requires.iter().cloned());
        // In an unknown directory, git does not only read; earlier commands could change the configuration.
        let may_require = is_clean && !command.context.is_repeated && !requires.is_empty();
        if found.only_reads && (found.git.is_none() || may_require) {
            command.verdict = Verdict::ReadOnly { requires };
        }
        is_clean &= command.verdict.is_read_only() && command.writes().next().is_none();
    }
    let secret = line.secrets.iter().find(|name| !line.sets(name));
    let mut revealing = checked.iter().filter_map(|found| found.reveals.clone());
    line.reveals = revealing.next().or(secret.map(|name| format!("${name}")));
    let sizes = line.commands.iter();
    let sizes = sizes.map(|command| 1 + command.redirections.len());
    let mut git = checked.iter().filter_map(|found| found.git.as_ref());
    let refusal = if sizes.sum::<usize>() > MAX_COMMANDS {
        Some(Refusal::new(0..0, "too many commands"))
    } else if first_refusal.is_some() {
        first_refusal
    } else if script.trim_ascii().is_empty() {
        Some(Refusal::new(0..0, "the command is empty"))
    } else if let Some(unread) = &line.unread {
        Some(unread.refusal.clone())
    } else {
        let call = git.next().filter(|_| starts.is_empty());
        call.map(|call| Refusal::new(call.span.clone(), "git in an unknown directory"))
    };
    if let Some(refusal) = refusal {
        return refuse(refusal, line);
    }
    let names = distinct(checked.iter().flat_map(|found| &found.names));
    Analysis {
        why: acceptance(&names),
        verdict: Verdict::ReadOnly {
            requires: distinct(all_requires),
        },
        span: None,
        changes_directory,
        programs: programs(names.into_iter().map(String::as_str)),
        language: checked.iter().find_map(|found| found.language.clone()),
        line: Arc::new(line),
    }
}

/// Reads a command line, in linear time and without side effects.
pub fn parse(script: &str) -> CommandLine {
    // The analysis marks the commands that only read.
    Arc::unwrap_or_clone(analyse(script).line)
}

impl CommandLine {
    /// Reads a line that may mean something else where it is run: all of it counts as not read.
    pub fn guess(script: &str) -> Self {
        let refusal = Refusal::new(0..0, "it is not known how it is read");
        Self {
            unread: Some(Unread { start: 0, refusal }),
            ..parse(script)
        }
    }
}

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
fn acceptance(names: &[&String]) -> String {
    /// Maximum number of names in the reason.
    const NAMED: usize = 6;
    if names.is_empty() {
        return "nothing is run".to_owned();
    }
    let mut shown: Vec<String> = names.iter().take(NAMED).map(|name| excerpt(name)).collect();
    shown.extend((names.len() > NAMED).then(|| "…".to_owned()));
    format!("{}: options within the accepted set", shown.join(", "))
}

/// Returns the names of programs, without subcommands, and of programs that they start.
fn programs<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Vec<String> {
    let names = names.filter_map(|name| name.split(' ').next());
    let started = names.clone().filter_map(|name| COMMANDS.get(name));
    let started = started.flat_map(|command| command.starts.iter().copied());
    distinct(names.chain(started).map(str::to_owned))
}

fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}

impl Analysis {
    /// Returns the conditions that the caller must provide, as named in records; call it before
    /// `check_requirements`. Calls of a session provide all of them, except enforcement if the kernel has
    /// none.
    pub fn conditions(&self) -> Vec<&'static str> {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return Vec::new();
        };
        let mut uses = requires.iter();
        let looks_at_files = uses.any(|git| git.scope == GitScope::WorkTree);
        let starts_others = |command: &CommandPart| {
            command.context.is_substituted || command.inner_command().is_some()
        };
        let sorts = self.programs.iter().any(|program| program == "sort");
        [
            (self.language.is_some(), "kernel-enforcement"),
            // Git starts the pager of its configuration.
            (!requires.is_empty(), "no-terminal"),
            (looks_at_files, "no-index-refresh"),
            (sorts, "temporary-directory"),
            // A process that waits for a file, such as a named pipe, may outlive the one that started it.
            (
                self.line.commands.iter().any(starts_others) || self.language.is_some(),
                "no-leftovers",
            ),
            (self.line.reveals.is_some(), "clean-environment"),
        ]
        .into_iter()
        .filter_map(|(holds, name)| holds.then_some(name))
        .collect()
    }

    /// Returns the verdict on a command of the line on its own, with its programs.
    #[must_use]
    pub fn of_command(&self, command: &CommandPart) -> Self {
        let levels = command.levels();
        Self {
            verdict: command.verdict.clone(),
            programs: programs(levels.iter().filter_map(CommandPart::program)),
            language: None,
            ..self.clone()
        }
    }

    /// Returns the analysis of a line that may do more than read, for this reason.
    #[must_use]
    pub fn with_refusal(self, why: String) -> Self {
        Self {
            verdict: Verdict::Unknown,
            why,
            programs: Vec::new(),
            ..self
        }
    }

    /// Returns the analysis after checking every requirement with `holds`. The first error makes
    /// the verdict unknown.
    #[must_use]
    pub fn settle(mut self, holds: impl FnMut(&GitUse) -> Result<(), String>) -> Self {
        let Verdict::ReadOnly { requires } = &mut self.verdict else {
            return self;
        };
        match std::mem::take(requires).iter().try_for_each(holds) {
            Err(why) => self.with_refusal(why),
            Ok(()) => self,
        }
    }

    /// Returns the analysis for callers that can only check the directory where the shell starts.
    /// Its requirements remain. In other directories git may only read history and settings.
    #[must_use]
    pub fn without_a_look(self) -> Self {
        let settled = self.clone().settle(|git| {
            let directory = terminal_safe_line(&git.steps.join("/"));
            let is_known = git.steps.is_empty() || git.scope == GitScope::Objects;
            let unknown = || format!("git in `{directory}`, whose configuration is unknown");
            is_known.then_some(()).ok_or_else(unknown)
        });
        if settled.verdict.is_read_only() {
            return self;
        }
        settled
    }
}
