//! Whether a call may run, until the permission rules exist: what only reads may, the rest only
//! when the user said so.

use crate::tools::Access;

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

/// A decision and what decided it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// Runs, because it only reads.
    ReadOnly,
    /// Runs, because the mode lets everything run.
    Bypassed,
    /// Does not run.
    Denied,
}

impl PermissionMode {
    /// The name in records and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// Decides on a call that touches `access`.
    pub fn admits(self, access: &Access) -> Admission {
        match (access.is_read_only(), self) {
            (true, _) => Admission::ReadOnly,
            (false, Self::BypassPermissions) => Admission::Bypassed,
            (false, Self::Default) => Admission::Denied,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reading_needs_no_permission() {
        let mode = PermissionMode::Default;
        assert_eq!(mode.admits(&Access::reads("/a")), Admission::ReadOnly);
        assert_eq!(mode.admits(&Access::writes("/a")), Admission::Denied);
        let bypass = PermissionMode::BypassPermissions;
        assert_eq!(bypass.admits(&Access::world()), Admission::Bypassed);
    }
}
