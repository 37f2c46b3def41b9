//! Stands for the sandbox on systems that have none: there are no values of its types.

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
    /// Returns the path outside of a workspace for a temporary file in it.
    pub fn private_path(&self, _: &std::path::Path) -> Option<std::path::PathBuf> {
        match *self {}
    }

    /// Whether a call in it needs no approval.
    pub fn needs_no_approval(&self) -> bool {
        match *self {}
    }

    /// Returns the files and directories that masks are over.
    pub fn protected_files(&self) -> Vec<std::path::PathBuf> {
        match *self {}
    }

    /// Returns the files that tell programs what to run and that have been made in it.
    pub fn new_protected(&self) -> Vec<std::path::PathBuf> {
        match *self {}
    }
}

/// Returns the message about a new file that tells programs what to run.
pub fn new_file_message(path: &std::path::Path) -> String {
    path.display().to_string()
}

#[derive(Debug)]
pub(super) struct Entrance {
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

impl Entrance {
    pub(super) fn of_calls(sandbox: &Arc<Sandbox>) -> Self {
        match **sandbox {}
    }

    pub(super) fn of_lane(sandbox: &Arc<Sandbox>, _: &LaneOptions) -> Self {
        match **sandbox {}
    }

    pub(super) fn start(&self, _: Start) -> io::Result<Pid> {
        match *self.sandbox {}
    }

    pub(super) fn file_rules(&self) -> FileRulesEnforced {
        match *self.sandbox {}
    }
}
