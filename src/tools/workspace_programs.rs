//! Programs that a command line would take from the workspace, by their plain names: not the ones
//! that the shell analysis has in its tables.

use std::path::PathBuf;

use crate::io::Environment;

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
