//! Whether a call may run, until the permission rules exist: what only reads may, the rest only
//! when the user said so.

use crate::tools::Access;
use crate::wire::records::{DecidedBy, Decision, Permission};

/// The permission mode (`--permission-mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum PermissionMode {
    /// Calls that only read run; the others are denied.
    #[default]
    Default,
    /// Every call runs.
    #[value(name = "bypassPermissions", alias = "bypass-permissions")]
    BypassPermissions,
}

impl PermissionMode {
    /// Decides on a call that touches `access`.
    pub(super) fn decide(self, access: &Access) -> Permission {
        let builtin = || "read-only".to_owned();
        let mode = || "bypassPermissions".to_owned();
        let (decision, by) = match (access.is_read_only(), self) {
            (true, _) => (Decision::Allow, DecidedBy::Builtin { builtin: builtin() }),
            (false, Self::BypassPermissions) => (Decision::Allow, DecidedBy::Mode { mode: mode() }),
            (false, Self::Default) => (Decision::Deny, DecidedBy::Default { default: true }),
        };
        Permission { decision, by }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reading_needs_no_permission() {
        let decision = |mode: PermissionMode, access| mode.decide(&access).decision;
        let mode = PermissionMode::Default;
        assert_eq!(decision(mode, Access::reads("/a")), Decision::Allow);
        assert_eq!(decision(mode, Access::writes("/a")), Decision::Deny);
        let bypass = PermissionMode::BypassPermissions;
        assert_eq!(decision(bypass, Access::world()), Decision::Allow);
    }
}
