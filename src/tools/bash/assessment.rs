//! What a shell command touches.

use std::path::PathBuf;

use crate::io::Environment;
use crate::shell::{Analysis, Verdict};
use crate::tools::{Access, Assessment, GitProbe, ToolContext};

/// What a command line touches if it starts now: the analysis of its text, then what depends on
/// git's configuration and on `PATH`.
pub(super) fn assess(analysis: &Analysis, context: &ToolContext) -> Assessment {
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
