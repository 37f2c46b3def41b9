//! The sandbox of shell calls, and the exceptions from it.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use crate::message::DecidedBy;
use crate::permission::{Behavior, Mode, Request, Rules};
use crate::process::{Sandbox, Spawners};

/// The sandbox of the shell calls of a run.
#[derive(Debug)]
pub struct CallSandbox {
    pub sandbox: Arc<Sandbox>,
    /// Starts the children of calls that run outside the sandbox.
    pub outside: Spawners,
    /// Whether calls in the sandbox need approval like other calls.
    pub needs_approval: bool,
    /// Whether calls cannot request to run outside.
    pub forbids_leaving: bool,
    /// Allow rules for the commands that run outside.
    pub excluded: Rules,
}

impl CallSandbox {
    /// Whether a call runs outside, because it requests that or all of its commands are excluded. This does not permit
    /// the call.
    pub fn runs_outside(&self, request: &Request<'_>) -> bool {
        if request.tool == "Bash" && is_leave_requested(request) && !self.forbids_leaving {
            return true;
        }
        let decided = self.excluded.decide(Mode::Default, request);
        let is_excluded = |by: &DecidedBy| matches!(by, DecidedBy::Rule { .. });
        decided.decision == Behavior::Allow
            && is_excluded(&decided.by)
            && decided.parts.iter().all(|part| is_excluded(&part.by))
    }

    /// Whether the kernel keeps a call in its workspace, so that it needs no approval.
    pub(super) fn confines(&self, request: &Request<'_>) -> bool {
        !self.needs_approval
            && !is_leave_requested(request)
            && !self.runs_outside(request)
            && self.sandbox.needs_no_approval()
    }

    /// Returns at most five files that the sandbox protects and whose names are in the output of a call.
    pub fn protected_files_in(&self, output: &str) -> Vec<PathBuf> {
        const MAX_FILES: usize = 5;
        let is_named = |path: &PathBuf| {
            let name = path.file_name().map(OsStr::to_string_lossy);
            name.is_some_and(|name| output.contains(&*name))
        };
        let files = self.sandbox.protected_files().into_iter();
        files.filter(is_named).take(MAX_FILES).collect()
    }
}

/// Whether a call requests to run outside the sandbox.
fn is_leave_requested(request: &Request<'_>) -> bool {
    request.input.get("dangerouslyDisableSandbox") == Some(&Value::Bool(true))
}
