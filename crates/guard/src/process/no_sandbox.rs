//! Replaces the sandbox on systems that have none: its types have no values.

use std::io;
use std::sync::Arc;

use rustix::process::Pid;

use super::LaneOptions;
use super::confinement::{Confinement, FileRulesEnforced};
use super::posix_spawn::spawn;
use super::start::Start;

/// The sandbox of a run.
#[derive(Debug)]
pub enum Sandbox {}

impl Sandbox {
    /// Returns the path outside a workspace of a temporary file in it.
    pub fn private_path(&self, _: &std::path::Path) -> Option<std::path::PathBuf> {
        match *self {}
    }

    /// Whether a call in the sandbox needs no approval.
    pub fn needs_no_approval(&self) -> bool {
        match *self {}
    }

    /// Returns the files and directories that cannot be changed or read.
    pub fn protected_files(&self) -> Vec<std::path::PathBuf> {
        match *self {}
    }

    /// Returns new files in the sandbox that determine what programs run.
    pub fn new_protected(&self) -> Vec<std::path::PathBuf> {
        match *self {}
    }
}

/// Returns the message about a new file that determines what programs run.
pub fn new_file_message(path: &std::path::Path) -> String {
    path.display().to_string()
}

/// Starts children in a sandbox.
#[derive(Debug)]
pub(super) struct SandboxSpawner {
    sandbox: Arc<Sandbox>,
    pub(super) confinement: Option<Confinement>,
}

/// Starts a child of the lane.
///
/// # Errors
/// As [`spawn`].
pub(super) fn start_in_lane(start: &Start) -> io::Result<Pid> {
    spawn(start)
}

impl SandboxSpawner {
    pub(super) fn for_calls(sandbox: &Arc<Sandbox>) -> Self {
        match **sandbox {}
    }

    pub(super) fn for_lane(sandbox: &Arc<Sandbox>, _: &LaneOptions) -> Self {
        match **sandbox {}
    }

    pub(super) fn start(&self, _: Start) -> io::Result<Pid> {
        match *self.sandbox {}
    }

    pub(super) fn file_rules(&self) -> FileRulesEnforced {
        match *self.sandbox {}
    }
}
