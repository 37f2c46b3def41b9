//! What a shell command touches.

use std::cell::LazyCell;
use std::path::PathBuf;

use crate::io::Environment;
use crate::permission::Action;
use crate::shell::{Analysis, Requirement, Verdict};
use crate::tools::child_environment::search_path;
use crate::tools::{Access, Assessment, GitProbe, ToolContext};

/// What a command line touches if it starts now.
pub(super) fn assess(command: &str, analysis: &Analysis, context: &ToolContext) -> Assessment {
    let (access, why) = assess_where(analysis, context, || context.lane.is_enforced());
    let action = Action::Command {
        script: command.to_owned(),
        parts: analysis.parts.clone(),
        only_reads: access.is_read_only(),
    };
    Assessment {
        access,
        why,
        action,
    }
}

/// The same, where the kernel enforces the lane or does not.
fn assess_where(
    analysis: &Analysis,
    context: &ToolContext,
    is_enforced: impl FnOnce() -> bool,
) -> (Access, String) {
    // Before git is asked anything.
    if let Some(name) = &analysis.language
        && !is_enforced()
    {
        let why = format!("`{name}` only counts as reading where the kernel enforces it");
        return (Access::world(), why);
    }
    let probe = LazyCell::new(|| GitProbe::new(context));
    let analysis = settled(
        analysis.clone(),
        &context.environment,
        &context.allowed_directories,
        |requirement| probe.settle(requirement, &context.directory),
    );
    if !analysis.verdict.is_read_only() {
        return (Access::world(), analysis.why);
    }
    let access = if analysis.changes_directory {
        Access::moves()
    } else {
        Access::reads_world()
    };
    (access, analysis.why)
}

/// The analysis of a command line after a look at what its text cannot say: no program that it runs,
/// the shell included, is one of a directory where the session may write, and every requirement
/// `holds`.
pub fn settled(
    mut analysis: Analysis,
    environment: &Environment,
    allowed_directories: &[PathBuf],
    holds: impl FnMut(&Requirement) -> Result<(), String>,
) -> Analysis {
    if !analysis.verdict.is_read_only() {
        return analysis;
    }
    // Before git is asked anything, since that may be such a program.
    let programs = ["bash"]
        .into_iter()
        .chain(analysis.programs.iter().map(String::as_str));
    if let Some(program) = workspace_program(programs, environment, allowed_directories) {
        analysis.why = format!("`{program}` is a program of the workspace");
        analysis.verdict = Verdict::Unknown;
        analysis.programs.clear();
        return analysis;
    }
    analysis.settled(holds)
}

/// The first of the programs that a shell with this `environment` would find in one of the
/// directories in which a session may write.
fn workspace_program<'names>(
    mut programs: impl Iterator<Item = &'names str>,
    environment: &Environment,
    allowed_directories: &[PathBuf],
) -> Option<&'names str> {
    let directories: Vec<PathBuf> = std::env::split_paths(&search_path(environment))
        .filter(|directory| {
            // A link may lead there.
            let real = directory.canonicalize().ok();
            allowed_directories.iter().any(|allowed| {
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
