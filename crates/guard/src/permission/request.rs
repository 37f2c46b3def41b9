//! A call that rules decide on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::shell::CommandLine;

/// The action of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a shell command.
    Command {
        /// The command line.
        script: String,
        /// Its commands.
        line: Arc<CommandLine>,
        /// Whether the analysis found that it only reads.
        only_reads: bool,
        /// Whether a shell other than bash may run it and parse it differently.
        is_ambiguous: bool,
    },
    /// Reads and writes files; a directory includes everything below it. Paths are absolute,
    /// without `.` and `..`; links are not followed.
    Files {
        /// Files that it reads. A NUL character stands for any text.
        reads: Vec<PathBuf>,
        /// Files that it creates or changes.
        writes: Vec<PathBuf>,
    },
    /// Sends a request to a server.
    Fetch {
        /// The URL.
        url: String,
    },
    /// Does nothing that needs permission.
    Harmless,
    /// May do anything.
    Anything,
}

/// A call to decide on.
pub struct Request<'a> {
    /// The canonical name of the tool.
    pub tool: &'a str,
    /// Its arguments.
    pub input: &'a Map<String, Value>,
    /// Its action.
    pub action: &'a Action,
    /// The current directory of commands, and the base of relative paths.
    pub directory: &'a Path,
    /// The working directories; the session started in the first. Never empty.
    pub working_directories: &'a [PathBuf],
    /// Whether a command that only reads needs permission if it may read outside the working
    /// directories.
    pub confines_reads: bool,
    /// Whether the kernel confines the call to its working directories, without network, so that a call that no rule
    /// matches needs no approval.
    pub is_confined: bool,
    /// Whether the kernel masks the files that deny rules name for the call.
    pub masks_files: bool,
    /// The home directory.
    pub home: Option<&'a Path>,
    /// Resolves all links of an absolute path; `None` if it cannot be resolved.
    pub real_path: &'a dyn Fn(&Path) -> Option<PathBuf>,
    /// Lists the names of the symbolic links in a directory; `None` if they are not known.
    pub links: &'a dyn Fn(&Path) -> Option<Vec<String>>,
}
