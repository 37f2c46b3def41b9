//! What a shell command touches.

use std::cell::LazyCell;
use std::path::PathBuf;

use super::GitProbe;
use crate::permission::Action;
use crate::shell::{Analysis, Verdict};
use crate::tools::child_environment::search_path;
use crate::tools::{Access, Assessment, DecisionContext};

/// What a command line touches if it starts now.
pub(super) fn assess(
    command: &str,
    analysis: &Analysis,
    context: &DecisionContext,
) -> Assessment {
    let settled = settled(analysis.clone(), context);
    let access = match (settled.verdict.is_read_only(), settled.changes_directory) {
        (false, _) => Access::world(),
        (true, true) => Access::moves(),
        (true, false) => Access::reads_world(),
    };
    let action = Action::Command {
        script: command.to_owned(),
        parts: analysis.parts.clone(),
        only_reads: access.is_read_only(),
    };
    Assessment {
        access,
        why: settled.why,
        action,
    }
}

/// The analysis of a command line after a check of what its text cannot say: the shell of `context`
/// keeps a language from writing, no program that the command line runs, the shell included, is one of
/// a directory where the session may write, and every requirement holds.
pub fn settled(mut analysis: Analysis, context: &DecisionContext) -> Analysis {
    if !analysis.verdict.is_read_only() {
        return analysis;
    }
    // Before git is asked anything, since that may be a program of the workspace.
    let refusal = match &analysis.language {
        Some(name) if !context.is_protected() => Some(format!(
            "`{name}` only counts as reading where the kernel enforces it"
        )),
        _ => {
            let programs = analysis.programs.iter().map(String::as_str);
            workspace_program(["bash"].into_iter().chain(programs), context)
                .map(|program| format!("`{program}` is a program of the workspace"))
        }
    };
    if let Some(why) = refusal {
        analysis.why = why;
        analysis.verdict = Verdict::Unknown;
        analysis.programs.clear();
        return analysis;
    }
    let probe = LazyCell::new(|| GitProbe::new(context));
    analysis.settled(|requirement| probe.settle(requirement, &context.directory))
}

/// The first of the programs that the shell would find in one of the directories in which the session
/// may write.
fn workspace_program<'names>(
    mut programs: impl Iterator<Item = &'names str>,
    context: &DecisionContext,
) -> Option<&'names str> {
    let directories: Vec<PathBuf> = std::env::split_paths(&search_path(&context.environment))
        .filter(|directory| {
            // A link may lead there.
            let real = directory.canonicalize().ok();
            let mut workspace = context.allowed_directories.iter().chain([&context.directory]);
            workspace.any(|allowed| {
                directory.starts_with(allowed)
                    || real.as_ref().is_some_and(|real| real.starts_with(allowed))
            })
        })
        .collect();
    programs.find(|program| {
        directories
            .iter()
            .any(|directory| directory.join(program).exists())
    })
}

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
