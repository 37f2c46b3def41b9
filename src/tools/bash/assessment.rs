//! What a shell command touches.

use crate::shell::{Verdict, analyse};
use crate::tools::workspace_programs::{from_the_workspace, workspace_program};
use crate::tools::{Access, Assessment, GitProbe, ToolContext};

/// What a command line touches if it starts now: the analysis of its text, then what only a look at
/// the surroundings can tell.
pub(super) fn assess(command: &str, context: &ToolContext) -> Assessment {
    let mut analysis = analyse(command);
    if matches!(&analysis.verdict, Verdict::ReadOnly { requires } if !requires.is_empty()) {
        let probe = GitProbe::new(context);
        analysis = analysis.settled(|requirement| probe.settle(requirement, &context.directory));
    }
    let why = match &analysis.verdict {
        Verdict::Writes | Verdict::Unknown => analysis.why,
        Verdict::ReadOnly { .. } => match workspace_program(
            &analysis.programs,
            &context.environment,
            &context.allowed_directories,
        ) {
            Some(program) => from_the_workspace(program),
            None if analysis.changes_directory => {
                "the next call may begin in another directory".to_owned()
            }
            None => {
                return Assessment {
                    access: Access::reads_world(),
                    why: analysis.why,
                };
            }
        },
    };
    Assessment {
        access: Access::world(),
        why,
    }
}

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
