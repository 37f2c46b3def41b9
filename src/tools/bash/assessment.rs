//! What a shell command touches.

use std::path::PathBuf;

use crate::shell::{Verdict, analyse};
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
        Verdict::ReadOnly { .. } => match from_the_workspace(&analysis.programs, context) {
            Some(program) => format!("`{program}` is a program of the workspace"),
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

/// The first of the programs that the shell would find in a directory that the session may write.
fn from_the_workspace<'names>(
    programs: &'names [String],
    context: &ToolContext,
) -> Option<&'names str> {
    let path = context.environment.get("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(path)
        .filter(|directory| directory.is_absolute())
        .filter(|directory| {
            // A link may lead there.
            let real = directory.canonicalize().ok();
            context.allowed_directories.iter().any(|allowed| {
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

#[cfg(test)]
#[path = "assessment_tests.rs"]
mod tests;
