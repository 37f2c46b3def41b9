//! Starts children in the sandbox of a run.

use std::io;
use std::sync::{Arc, LazyLock};

use rustix::process::Pid;

use super::child::spawn_restricted;
use super::privilege::Privilege;
use super::restrictions::{Restrictions, landlock_version};
use super::run_sandbox::Sandbox;
use crate::process::LaneOptions;
use crate::process::confinement::{Confinement, Enforcement, FileRulesEnforced};
use crate::process::start::Start;

/// A sandbox, and the restrictions that each child applies to itself in it.
#[derive(Debug)]
pub(in crate::process) struct SandboxSpawner {
    sandbox: Arc<Sandbox>,
    restrictions: Restrictions,
    /// The confinement of the children; `None` outside a lane.
    pub(in crate::process) confinement: Option<Confinement>,
}

/// Starts a child on a thread that has the restrictions of the lane. The child gets a Landlock domain of its own, and
/// writes no core file.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or resources are exhausted.
pub(in crate::process) fn start_in_lane(start: &Start) -> io::Result<Pid> {
    static CHILD_RESTRICTIONS: LazyLock<Restrictions> = LazyLock::new(Restrictions::for_lane_child);
    spawn_restricted(None, Some(&CHILD_RESTRICTIONS), start)
}

impl SandboxSpawner {
    /// Creates a spawner of children that may write.
    pub(in crate::process) fn for_calls(sandbox: &Arc<Sandbox>) -> Self {
        Self {
            sandbox: Arc::clone(sandbox),
            restrictions: Restrictions::for_sandbox(Privilege::from_process()),
            confinement: None,
        }
    }

    /// Creates a spawner of children of the lane. Without Landlock, they have the restrictions of other children.
    pub(in crate::process) fn for_lane(sandbox: &Arc<Sandbox>, options: &LaneOptions) -> Self {
        let restrictions = match options.enforcement {
            Enforcement::Off => Err("switched off".to_owned()),
            Enforcement::Auto | Enforcement::Require => {
                Restrictions::for_lane(options.temporary.as_deref())
            }
        };
        match restrictions {
            Ok(restrictions) => Self {
                sandbox: Arc::clone(sandbox),
                restrictions,
                confinement: Some(Confinement::complete(landlock_version())),
            },
            Err(reason) => Self {
                confinement: Some(Confinement::unconfined(&reason)),
                ..Self::for_calls(sandbox)
            },
        }
    }

    /// Starts a child.
    ///
    /// # Errors
    /// The sandbox cannot be entered, or the program cannot be executed.
    pub(in crate::process) fn start(&self, start: Start) -> io::Result<Pid> {
        if self.confinement.is_none() && self.sandbox.has_workspace() {
            return self.sandbox.start_in_workspace(start);
        }
        self.sandbox.start(&self.restrictions, start)
    }

    /// Returns the enforcement of file rules.
    pub(in crate::process) fn file_rules(&self) -> FileRulesEnforced {
        FileRulesEnforced {
            isolates_calls: self.restrictions.has_domain(),
            workspace: self.sandbox.workspace_enforced(),
        }
    }
}
