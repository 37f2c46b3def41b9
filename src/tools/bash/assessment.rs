//! What a shell command touches.

use std::path::PathBuf;

use crate::io::Environment;
use crate::shell::{Analysis, Verdict};
use crate::tools::{Access, Assessment, GitProbe, ToolContext};

/// What a command line touches if it starts now: the analysis of its text, then what depends on
/// git's configuration, on `PATH`, and on what the kernel enforces.
pub(super) fn assess(analysis: &Analysis, context: &ToolContext) -> Assessment {
    assess_where(analysis, context, || context.lane.is_enforced())
}

/// The same, where the kernel enforces the lane or does not.
fn assess_where(
    analysis: &Analysis,
    context: &ToolContext,
    is_enforced: impl FnOnce() -> bool,
) -> Assessment {
    let mut analysis = analysis.clone();
    if matches!(&analysis.verdict, Verdict::ReadOnly { requires } if !requires.is_empty()) {
        let probe = GitProbe::new(context);
        analysis = analysis.settled(|requirement| probe.settle(requirement, &context.directory));
    }
    let program = workspace_program(
        &analysis.programs,
        &context.environment,
        &context.allowed_directories,
    );
    let (access, why) = if !analysis.verdict.is_read_only() {
        (Access::world(), analysis.why)
    } else if let Some(program) = program {
        (Access::world(), from_the_workspace(program))
    } else if let Some(name) = analysis.language.filter(|_| !is_enforced()) {
        let why = format!("`{name}` only counts as reading where the kernel enforces it");
        (Access::world(), why)
    } else if analysis.changes_directory {
        let why = "the next call may begin in another directory";
        (Access::world(), why.to_owned())
    } else {
        (Access::reads_world(), analysis.why)
    };
    Assessment { access, why }
}

/// The first of the programs that a shell with this `environment` would find in one of the
/// directories in which a session may write.
pub fn workspace_program<'names>(
    programs: &'names [String],
    environment: &Environment,
    allowed_directories: &[PathBuf],
) -> Option<&'names str> {
    let path = environment.get("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .filter(|directory| {
            // A link may lead there.
            let real = directory.canonicalize().ok();
            allowed_directories.iter().any(|allowed| {
                directory.starts_with(allowed)
                    || real.as_ref().is_some_and(|real| real.starts_with(allowed))
            })
        })
        .collect();
    programs
        .iter()
        .find(|program| {
            directories
                .iter()
                .any(|directory| directory.join(program).exists())
        })
        .map(String::as_str)
}

/// Why such a program decides against a command.
pub fn from_the_workspace(program: &str) -> String {
    format!("`{program}` is a program of the workspace")
}

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
