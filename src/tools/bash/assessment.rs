//! What a shell command touches.

use crate::shell::{Analysis, Verdict};
use crate::tools::workspace_programs::{from_the_workspace, workspace_program};
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

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
