//! A call as the rules see it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::shell::CommandPart;

/// What a call does, as far as permission is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a shell command.
    Command {
        /// The command line.
        script: String,
        /// Its commands; `None` if it is not understood.
        parts: Option<Arc<[CommandPart]>>,
        /// Whether the analysis found that it changes nothing.
        only_reads: bool,
        /// Whether a shell other than bash may run it, and read it differently.
        is_ambiguous: bool,
    },
    /// Reads and writes files, and does nothing else; of a directory, all that is below it. The paths
    /// are absolute and have no `.` and `..`; links in them are not followed.
    Files {
        /// What it reads. A NUL character stands for any others, or none.
        reads: Vec<PathBuf>,
        /// What it creates or changes.
        writes: Vec<PathBuf>,
    },
    /// Asks a server.
    Fetch {
        /// Where.
        url: String,
    },
    /// Nothing that needs permission.
    Harmless,
    /// Anything.
    Anything,
}

/// A call about which is to be decided.
pub struct Request<'a> {
    /// The tool's own name, not an alias.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Map<String, Value>,
    /// What it does.
    pub action: &'a Action,
    /// Where commands run, and relative paths begin.
    pub directory: &'a Path,
    /// The directories that the session works in; the first one is where it began. Never empty.
    pub working_directories: &'a [PathBuf],
    /// Whether a command that only reads needs permission if it may read outside of the working
    /// directories.
    pub confines_reads: bool,
    /// The home directory, if there is one.
    pub home: Option<&'a Path>,
    /// Where an absolute path leads when all links are followed; `None` if that cannot be told.
    pub real_path: &'a dyn Fn(&Path) -> Option<PathBuf>,
}
