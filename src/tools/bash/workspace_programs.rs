//! Programs in directories where the session may write.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::permission::is_of_system;
use crate::tools::DecisionContext;
use crate::tools::child_environment::search_path;

/// Finds programs in directories where the session may write, by the search of the shell.
pub(super) struct WorkspacePrograms {
    /// The directories where the session may write, as they are named and without links.
    workspace: Vec<PathBuf>,
    /// Directories of `PATH`, and whether the session may write to each.
    directories: Vec<(PathBuf, bool)>,
    known: HashMap<String, bool>,
}

impl WorkspacePrograms {
    pub(super) fn new(context: &DecisionContext) -> Self {
        let named = context.allowed_directories.iter();
        let named = named
            .chain([&context.directory])
            .chain(&context.own_directory);
        let real = named.clone().filter_map(|path| path.canonicalize().ok());
        let workspace: Vec<PathBuf> = named.cloned().chain(real).collect();
        let path = search_path(&context.environment);
        let directories = std::env::split_paths(&path).map(|path| {
            // The directory may be a link to the workspace.
            let real = path.canonicalize();
            let is_inside = real.is_ok_and(|real| is_in_workspace(&real, &workspace));
            (path, is_inside)
        });
        Self {
            directories: directories.collect(),
            workspace,
            known: HashMap::new(),
        }
    }

    /// Returns the first such program, starting with the shells.
    pub(super) fn find<'names>(
        &mut self,
        names: impl Iterator<Item = &'names str>,
    ) -> Option<&'names str> {
        ["bash", "sh", "zsh", "dash"]
            .into_iter()
            .chain(names)
            .find(|name| self.contains(name))
    }

    /// Whether a directory of `PATH` is one where the session may write.
    pub(super) fn is_in_path(&self) -> bool {
        self.directories.iter().any(|(_, is_inside)| *is_inside)
    }

    /// Whether a path leads to a place where the session may write.
    pub(super) fn has_file(&self, path: &Path) -> bool {
        let real = path.canonicalize();
        is_in_workspace(path, &self.workspace)
            || real.is_ok_and(|real| is_in_workspace(&real, &self.workspace))
    }

    /// Whether a program of `PATH` is a script, which another program reads.
    pub(super) fn has_script(&self, program: &str) -> bool {
        let mut directories = self.directories.iter();
        directories.any(|(directory, _)| is_script(&directory.join(program)))
    }

    fn contains(&mut self, program: &str) -> bool {
        if let Some(known) = self.known.get(program) {
            return *known;
        }
        let has_own = self.is_in_path();
        let found = self.directories.iter().any(|(directory, is_inside)| {
            let path = directory.join(program);
            // The program may be a link to the workspace.
            let is_own = *is_inside || has_own && is_script(&path);
            path.exists() && (is_own || self.has_file(&path))
        });
        self.known.insert(program.to_owned(), found);
        found
    }
}

/// Whether a program is a script, which may start other programs of `PATH`: `#!/usr/bin/env python3`.
fn is_script(program: &Path) -> bool {
    // Opening a pipe would wait for its writer.
    if !program.is_file() {
        return false;
    }
    let mut beginning = [0; 2];
    let read = File::open(program).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == *b"#!"
}

/// Whether the session may write to a program without approval. System programs need approval even
/// if a working directory, such as `/`, contains them.
fn is_in_workspace(program: &Path, workspace: &[PathBuf]) -> bool {
    let mut workspace = workspace.iter();
    workspace.any(|allowed| {
        program.starts_with(allowed) && (is_of_system(allowed) || !is_of_system(program))
    })
}
