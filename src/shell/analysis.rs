//! The result of the analysis of a command line, and how it is reached.

use std::ops::Range;
use std::sync::Arc;

use super::effects::Effects;
use super::parts::CommandPart;
use super::refusal::{Refusal, excerpt};
use super::requirement::{GitScope, Requirement};
use super::syntax::{parse, screen, screen_strictly};
use super::walk::{CheckedLine, Walk};
use crate::text::terminal_safe_line;

/// What is known about a command line without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// Whether it only reads.
    pub verdict: Verdict,
    /// What decided, in one line: the construct or the word, and what is wrong with it.
    pub why: String,
    /// Where the deciding word stands, in bytes; nothing if no single word decided.
    pub span: Option<Range<usize>>,
    /// Whether the shell may end in another directory than it began in.
    pub changes_directory: bool,
    /// The names of the programs, each once; empty unless the verdict is read-only.
    pub programs: Vec<String>,
    /// The first command whose arguments are a language, such as `awk`. Such readings are only
    /// trusted where the kernel keeps the command from writing.
    pub language: Option<String>,
    /// Whether something could outlive it that waits for a file, such as a named pipe. Calls of a
    /// session end what they leave behind.
    pub may_leave_processes: bool,
    /// The commands that it consists of, however deep, in the order of the text; `None` if any of it
    /// is not understood.
    pub parts: Option<Arc<[CommandPart]>>,
}

/// Whether a command line only reads: no file changes, no network, no signals, no process left
/// behind, no program that data chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It only reads, if all requirements hold.
    ReadOnly {
        /// What cannot be seen in the text; empty for most commands.
        requires: Vec<Requirement>,
    },
    /// The text shows that it changes something.
    Writes,
    /// It is not understood well enough.
    Unknown,
}

impl Verdict {
    /// Whether it is read-only, given that every requirement holds.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Self::ReadOnly { .. })
    }
}

/// Decides from its text whether a command line only reads.
///
/// Assumes bash without start-up files, aliases and a terminal, and a scrubbed environment: no
/// exported functions, no variables that choose programs. Takes time that is linear in the length
/// of the text. Runs and opens nothing.
pub fn analyse(command: &str) -> Analysis {
    let (effects, parts) = match understand(command) {
        Ok(understood) => (understood.effects, Some(understood.parts.into())),
        Err(refusal) => (Err(refusal), None),
    };
    match effects.and_then(|effects| Ok((requirements(&effects)?, effects))) {
        Ok((requires, effects)) => Analysis {
            verdict: Verdict::ReadOnly { requires },
            why: harmless(&effects),
            span: None,
            changes_directory: effects.changes_directory(),
            programs: effects.programs(),
            may_leave_processes: effects.may_leave_processes,
            language: effects.language,
            parts,
        },
        Err(refusal) => Analysis {
            verdict: refusal.verdict,
            // Parts of the command are quoted in it.
            why: terminal_safe_line(&refusal.why),
            span: within(command, &refusal.span),
            changes_directory: true,
            programs: Vec::new(),
            language: None,
            may_leave_processes: false,
            parts,
        },
    }
}

fn understand(command: &str) -> Result<CheckedLine, Refusal> {
    screen(command)?;
    // The grammar parses pipelines six times as fast when a line end follows them.
    let text = format!("{command}\n");
    let tree = parse(&text)?;
    Walk::new(&text, tree.root_node(), screen_strictly(command).err()).run()
}

fn requirements(effects: &Effects) -> Result<Vec<Requirement>, Refusal> {
    let uses = effects.git_uses()?;
    Ok(uses.into_iter().map(Requirement::CleanGitConfig).collect())
}

fn harmless(effects: &Effects) -> String {
    /// More names would be no help.
    const NAMED: usize = 6;
    if effects.commands.is_empty() {
        return "nothing is run".to_owned();
    }
    let names: Vec<String> = effects
        .commands
        .iter()
        .take(NAMED)
        .map(|name| excerpt(name))
        .collect();
    let more = match effects.commands.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{}{more}: options within the accepted set",
        names.join(", ")
    )
}

/// A span on character boundaries, if it is one at all.
fn within(command: &str, span: &Range<usize>) -> Option<Range<usize>> {
    let end = span.end.min(command.len());
    let is_span =
        span.start < end && command.is_char_boundary(span.start) && command.is_char_boundary(end);
    is_span.then_some(span.start..end)
}

impl Analysis {
    /// What whoever runs it has to provide, as records name it; to be asked before requirements are
    /// settled. Calls of a session have all of it, but the enforcement where the kernel has none.
    pub fn conditions(&self) -> Vec<&'static str> {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return Vec::new();
        };
        let looks_at_files = requires.iter().any(|requirement| {
            let Requirement::CleanGitConfig(context) = requirement;
            context.scope == GitScope::WorkTree
        });
        let sorts = self.programs.iter().any(|program| program == "sort");
        [
            (self.language.is_some(), "kernel-enforcement"),
            // Git starts the pager of its configuration.
            (!requires.is_empty(), "no-terminal"),
            (looks_at_files, "no-index-refresh"),
            (sorts, "temporary-directory"),
            // Programs beyond the plain core may start others, and end before them.
            (
                self.may_leave_processes || self.language.is_some(),
                "no-leftovers",
            ),
        ]
        .into_iter()
        .filter_map(|(holds, name)| holds.then_some(name))
        .collect()
    }

    /// The verdict after checking every requirement: `holds` returns why one does not hold. The
    /// first such reason makes the verdict unknown.
    #[must_use]
    pub fn settled(self, mut holds: impl FnMut(&Requirement) -> Result<(), String>) -> Self {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return self;
        };
        match requires
            .iter()
            .find_map(|requirement| holds(requirement).err())
        {
            Some(why) => Self {
                verdict: Verdict::Unknown,
                why,
                ..self
            },
            None => Self {
                verdict: Verdict::ReadOnly {
                    requires: Vec::new(),
                },
                ..self
            },
        }
    }

    /// The verdict if nothing can be checked. Requirements about the directory where the shell
    /// starts stay for the caller to check. The caller cannot check other directories, so there
    /// git may only read history and settings.
    #[must_use]
    pub fn without_a_look(self) -> Self {
        let Verdict::ReadOnly { requires } = &self.verdict else {
            return self;
        };
        let elsewhere = requires.iter().find_map(|requirement| {
            let Requirement::CleanGitConfig(context) = requirement;
            (!context.is_here() && context.scope == GitScope::WorkTree)
                .then(|| context.steps.join("/"))
        });
        match elsewhere {
            Some(directory) => Self {
                verdict: Verdict::Unknown,
                why: format!(
                    "git in `{}`, whose configuration is not known",
                    terminal_safe_line(&directory)
                ),
                ..self
            },
            None => self,
        }
    }
}
