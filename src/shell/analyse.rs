//! From a command line to what is known about it.

use super::analysis::{Analysis, Requirement, Verdict};
use super::effects::Effects;
use super::refusal::{Refusal, RefusalKind};
use super::screen::screen;
use super::syntax::{excerpt, parse};
use super::walk::Walk;
use crate::text::terminal_safe_line;

/// Whether a command line only reads, as far as its text tells.
///
/// The environment is taken to be scrubbed (no exported functions, no variables that choose
/// programs), the shell to be bash without start-up files, aliases and a terminal. Linear in the
/// length of the text; nothing is run or opened.
pub fn analyse(command: &str) -> Analysis {
    match examine(command) {
        Ok((effects, requires)) => Analysis {
            verdict: Verdict::ReadOnly { requires },
            why: harmless(&effects),
            span: None,
            changes_directory: effects.changes_directory(),
            programs: effects.programs(),
        },
        Err(refusal) => Analysis {
            verdict: match refusal.kind {
                RefusalKind::Writes => Verdict::Writes,
                RefusalKind::Unknown => Verdict::Unknown,
            },
            // Parts of the command are quoted in it.
            why: terminal_safe_line(&refusal.why),
            span: within(command, &refusal.span),
            changes_directory: true,
            programs: Vec::new(),
        },
    }
}

fn examine(command: &str) -> Result<(Effects, Vec<Requirement>), Refusal> {
    screen(command)?;
    if command.trim_matches([' ', '\t', '\n']).is_empty() {
        return Err(Refusal::unknown(0..0, "the command is empty"));
    }
    // The grammar tells pipelines apart six times as fast when it sees a line end behind them.
    let command = format!("{command}\n");
    let tree = parse(&command)?;
    let effects = Walk::new(&command, tree.root_node()).run()?;
    let uses = effects.git_uses()?;
    let requires = uses.into_iter().map(Requirement::CleanGitConfig).collect();
    Ok((effects, requires))
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
fn within(command: &str, span: &std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let end = span.end.min(command.len());
    let is_span =
        span.start < end && command.is_char_boundary(span.start) && command.is_char_boundary(end);
    is_span.then_some(span.start..end)
}
