//! The way of children into the sandbox of a run.

use std::io;
use std::sync::{Arc, LazyLock};

use rustix::process::Pid;

use super::child::spawn_restricted;
use super::privilege::Privilege;
use super::restrictions::{Restrictions, landlock_version};
use super::space::Sandbox;
use crate::process::LaneOptions;
use crate::process::confinement::{Confinement, Enforcement, FileRulesEnforced};
use crate::process::start::Start;

/// A sandbox with the restrictions that each child in it takes upon itself.
#[derive(Debug)]
pub(in crate::process) struct Entrance {
    sandbox: Arc<Sandbox>,
    restrictions: Restrictions,
    /// The confinement of the children: `None` outside a lane.
    pub(in crate::process) confinement: Option<Confinement>,
}

/// Starts a child of a thread that has the restrictions of the lane. It gets a Landlock domain apart from other
/// children, and writes no core file.
///
/// # Errors
/// The directory cannot be entered, the program cannot be executed, or resources are exhausted.
pub(in crate::process) fn start_in_lane(start: &Start) -> io::Result<Pid> {
    static ADDED: LazyLock<Restrictions> = LazyLock::new(Restrictions::of_lane_child);
    spawn_restricted(None, Some(&ADDED), start)
}

impl Entrance {
    /// Returns the way of children that may write.
    pub(in crate::process) fn of_calls(sandbox: &Arc<Sandbox>) -> Self {
        Self {
            sandbox: Arc::clone(sandbox),
            restrictions: Restrictions::of_sandbox(Privilege::from_process()),
            confinement: None,
        }
    }

    /// Returns the way of children of the lane. Without Landlock they have the restrictions of other children.
    pub(in crate::process) fn of_lane(sandbox: &Arc<Sandbox>, options: &LaneOptions) -> Self {
        let restrictions = match options.enforcement {
            Enforcement::Off => Err("switched off".to_owned()),
            Enforcement::Auto | Enforcement::Require => {
                Restrictions::of_lane(options.temporary.as_deref())
            }
        };
        match restrictions {
            Ok(restrictions) => Self {
                sandbox: Arc::clone(sandbox),
                restrictions,
                confinement: Some(Confinement::complete(landlock_version())),
            },
            Err(reason) => Self {
                confinement: Some(Confinement::nothing(&reason)),
                ..Self::of_calls(sandbox)
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

    /// Returns what the kernel enforces by masks.
    pub(in crate::process) fn file_rules(&self) -> FileRulesEnforced {
        FileRulesEnforced {
            isolates_calls: self.restrictions.has_domain(),
            workspace: self.sandbox.workspace_enforced(),
        }
    }
}
