//! The analysis of a command line.

use std::ops::Range;
use std::sync::Arc;

use super::call::Effects;
use super::check::check;
use super::line::CommandLine;
use super::parts::CommandPart;
use super::reader::read;
use super::verdict::{GitScope, GitUse, Verdict, excerpt};
use turnpipe_core::text::terminal_safe_line;

/// The result of an analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
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
pub fn analyse(command: &str) -> Analysis {
    let mut reading = read(command);
    let effects = check(command, &mut reading);
    let line = Arc::new(CommandLine::new(reading));
    match effects.and_then(|effects| Ok((effects.git_uses(&effects.moves)?, effects))) {
        Ok((requires, effects)) => Analysis {
            why: harmless(&effects),
            verdict: Verdict::ReadOnly { requires },
            span: None,
            changes_directory: effects.changes_directory(),
            programs: effects.programs(),
            language: effects.language,
            line,
        },
        Err(refusal) => Analysis {
            verdict: refusal.verdict,
            // The reason quotes parts of the command.
            why: terminal_safe_line(&refusal.why),
            span: Some(refusal.span).filter(|span| !span.is_empty()),
            changes_directory: true,
            programs: Vec::new(),
            language: None,
            line,
        },
    }
}

fn harmless(effects: &Effects) -> String {
    /// Maximum number of names in the reason.
    const NAMED: usize = 6;
    if effects.commands.is_empty() {
        return "nothing is run".to_owned();
    }
    let names = effects.commands.iter().take(NAMED);
    let mut names: Vec<String> = names.map(|name| excerpt(name)).collect();
    if effects.commands.len() > NAMED {
        names.push("…".to_owned());
    }
    format!("{}: options within the accepted set", names.join(", "))
}

impl Analysis {
    /// Returns the conditions that the caller must provide, as named in records; call it before
    /// `settled`. Calls of a session provide all of them, except enforcement if the kernel has
    /// none.
    pub fn conditions(&self) -> Vec<&'static str> {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return Vec::new();
        };
        let mut uses = requires.iter();
        let looks_at_files = uses.any(|git| git.scope == GitScope::WorkTree);
        let starts_others =
            |command: &CommandPart| command.is_substituted || command.unwrapped().is_some();
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

    /// Returns the analysis of a command of the line that only reads, on its own.
    #[must_use]
    pub fn of_command(&self, command: &CommandPart) -> Self {
        let mut effects = Effects::default();
        for program in command.levels().iter().filter_map(CommandPart::program) {
            effects.ran(program);
        }
        Self {
            verdict: Verdict::ReadOnly {
                requires: command.requires.clone(),
            },
            why: harmless(&effects),
            span: Some(command.span.clone()),
            changes_directory: self.changes_directory,
            programs: effects.programs(),
            language: None,
            line: Arc::clone(&self.line),
        }
    }

    /// Returns the analysis after checking every requirement with `holds`. The first error makes
    /// the verdict unknown.
    #[must_use]
    pub fn settled(self, holds: impl FnMut(&GitUse) -> Result<(), String>) -> Self {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return self;
        };
        match requires.iter().try_for_each(holds) {
            Err(why) => Self {
                verdict: Verdict::Unknown,
                why,
                ..self
            },
            Ok(()) => Self {
                verdict: Verdict::ReadOnly {
                    requires: Vec::new(),
                },
                ..self
            },
        }
    }

    /// Returns the analysis for callers that can only check the directory where the shell starts.
    /// Its requirements remain. In other directories git may only read history and settings.
    #[must_use]
    pub fn without_a_look(self) -> Self {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return self;
        };
        let mut uses = requires.iter();
        let elsewhere = uses.find(|git| !git.steps.is_empty() && git.scope != GitScope::Objects);
        let Some(git) = elsewhere else {
            return self;
        };
        let directory = terminal_safe_line(&git.steps.join("/"));
        Self {
            verdict: Verdict::Unknown,
            why: format!("git in `{directory}`, whose configuration is unknown"),
            ..self
        }
    }
}
