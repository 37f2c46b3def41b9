//! The files of a session, and the directories of an agent.

use std::path::{Path, PathBuf};

use super::content::{COMPRESSED, home_dir, session_stem};
use turnpipe_core::io::Environment;

/// The place of the records of subagents.
#[derive(Debug, Clone, Copy)]
pub enum Subagents {
    /// The agent has no subagents.
    None,
    /// In the file of the session. A record about the start of one contains one of these words.
    InSession(&'static [&'static str]),
    /// In sessions of their own that name the session that started them.
    Sessions,
    /// In files that belong to a session.
    Files(SubagentFiles),
}

/// The files of the subagents of a session.
#[derive(Debug, Clone, Copy)]
pub struct SubagentFiles {
    /// The directory with them, or with a directory for each.
    pub directory: fn(&Path) -> Option<PathBuf>,
    /// Whether a file there belongs to a subagent, by its path. Files that do not contain JSON lines never do.
    pub is_file: fn(&Path) -> bool,
    /// Returns the id of the subagent with this file.
    pub id: fn(&Path) -> Option<String>,
    /// Whether files with such paths are never sessions of their own, wherever they are.
    pub is_reserved: bool,
}

impl SubagentFiles {
    /// Whether a file in the directory belongs to a subagent.
    pub fn contains(&self, path: &Path) -> bool {
        let has_extension = |path: &Path, end| path.extension().is_some_and(|found| found == end);
        let is_packed = has_extension(path, COMPRESSED)
            && (path.file_stem()).is_some_and(|stem| has_extension(Path::new(stem), "jsonl"));
        let is_lines = is_packed || has_extension(path, "jsonl");
        is_lines && (self.is_file)(path)
    }
}

/// Returns the name of a file without `agent-` and its extensions.
pub(super) fn parse_subagent_id(path: &Path) -> Option<String> {
    let stem = session_stem(path)?.to_string_lossy();
    Some(stem.strip_prefix("agent-").unwrap_or(&stem).to_owned())
}

/// Whether the name of a file starts with `start`.
pub(super) fn has_name_prefix(path: &Path, start: &str) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(start.as_bytes())
}

/// The directories and files of an agent. All functions return paths whether or not they exist.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The environment variables that name the agent's directory.
    pub home_variables: &'static [&'static str],
    /// The default of that directory, below the user's home directory.
    pub(super) home: &'static str,
    /// The directories with sessions in it.
    pub(super) session_dirs: &'static [&'static str],
    /// Returns the directories with sessions in this environment.
    pub(super) roots: fn(&Self, &Environment) -> Vec<PathBuf>,
    /// Records derived from files next to a session file, or from its name.
    pub side_rows: fn(&Path) -> Vec<String>,
    /// The subagents.
    pub subagents: Subagents,
    /// The files and directories that belong only to the session with this file and this id. They are removed with it.
    pub belongings: fn(&Path, &str) -> Vec<PathBuf>,
    /// The files that reading a session requires and that other sessions share.
    pub shared_files: fn(&Path) -> Vec<PathBuf>,
    /// The setting with the number of days after which the agent deletes sessions, and its default.
    pub retention: Option<(&'static str, u64)>,
    /// The shell command that resumes the session with this id in this file.
    pub(super) resume: fn(&str, &Path) -> Option<String>,
}

impl Layout {
    /// Files that are found only if they are named.
    pub(super) const NONE: Self = Self {
        home_variables: &[],
        home: "",
        session_dirs: &[],
        roots: Self::usual_roots,
        side_rows: |_| Vec::new(),
        subagents: Subagents::None,
        belongings: |_, _| Vec::new(),
        shared_files: |_| Vec::new(),
        retention: None,
        resume: |_, _| None,
    };

    pub(super) fn usual_roots(&self, environment: &Environment) -> Vec<PathBuf> {
        let home = home_dir(environment, self.home_variables, self.home);
        let dirs = home
            .iter()
            .flat_map(|home| self.session_dirs.iter().map(|dir| home.join(dir)));
        dirs.collect()
    }

    /// Whether subagents are sessions of their own.
    pub fn has_subagent_sessions(&self) -> bool {
        matches!(self.subagents, Subagents::Sessions)
    }

    /// Returns the words of records about the start of a subagent in the file of the session.
    pub fn subagent_words(&self) -> &'static [&'static str] {
        match self.subagents {
            Subagents::InSession(words) => words,
            Subagents::None | Subagents::Sessions | Subagents::Files(_) => &[],
        }
    }

    /// Returns the files of subagents, if they have some that belong to a session.
    pub fn subagent_files(&self) -> Option<&SubagentFiles> {
        match &self.subagents {
            Subagents::Files(files) => Some(files),
            Subagents::None | Subagents::InSession(_) | Subagents::Sessions => None,
        }
    }
}
