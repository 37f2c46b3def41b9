//! The permission mode and the built-in rules, which decide where no written rule does.

use serde::Serialize;

/// The permission mode (`--permission-mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Calls that only read run; permission is asked for all others.
    #[default]
    #[cfg_attr(feature = "cli", value(alias = "manual"))]
    Default,
    /// Changes to files in the working directories run as well.
    #[cfg_attr(feature = "cli", value(
        name = "acceptEdits",
        aliases = ["accept-edits", "auto-edit", "auto_edit"]
    ))]
    AcceptEdits,
    /// Calls that only read run; permission is asked for all others, even if a rule allows them.
    Plan,
    /// A model decides what rules leave open.
    Auto,
    /// What rules leave open is denied.
    #[cfg_attr(feature = "cli", value(name = "dontAsk", alias = "dont-ask"))]
    DontAsk,
    /// Every call runs, except what no mode allows.
    #[cfg_attr(feature = "cli", value(name = "bypassPermissions", aliases = ["bypass-permissions", "yolo"]))]
    BypassPermissions,
}

impl Mode {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}

/// A built-in rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BuiltinRule {
    /// Calls that only read are allowed.
    ReadOnly,
    /// Removing what is needed beyond the project needs approval.
    CriticalPath,
    /// Changing files that decide what programs run needs approval.
    Protected,
    /// A command line that is not understood needs approval.
    Unparsable,
    /// A command needs approval if what it runs or names is only known when it runs, and a rule
    /// restricts some of that.
    Unresolved,
}

impl BuiltinRule {
    /// The effect of a call that it is about: a verb phrase.
    pub fn effect(self) -> &'static str {
        match self {
            Self::ReadOnly => "only reads",
            Self::CriticalPath => "removes what is never removed without approval",
            Self::Protected => "changes a file that decides what programs run",
            Self::Unparsable => "is not understood",
            Self::Unresolved => "may do what a rule denies, which is only known when it runs",
        }
    }
}
