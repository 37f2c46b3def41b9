//! Permission decisions, modes, and the built-in rules that apply where no configured rule does.

use schemars::JsonSchema;
use serde::Serialize;

/// Permission decision for a call, ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The user must approve the call.
    Ask,
    /// The call must not run.
    Deny,
}

/// Origin of a permission decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DecidedBy {
    /// The permission mode.
    Mode {
        /// The mode, e.g. `acceptEdits`.
        #[schemars(with = "String")]
        mode: Mode,
    },
    /// A built-in rule.
    Builtin {
        /// The rule, e.g. `critical-path`.
        #[schemars(with = "String")]
        builtin: BuiltinRule,
    },
    /// A configured rule.
    Rule {
        /// The rule, as written.
        rule: String,
        /// Decision for matching calls.
        behavior: Decision,
        /// The option or file that contains the rule.
        source: String,
    },
    /// A hook.
    Hook {
        /// The hook event.
        hook: String,
    },
    /// A permission prompt.
    Prompt {
        /// Kind of prompt: `tty`, `stdio`, or the name of a tool.
        prompt: String,
    },
    /// Nothing matched.
    Default {
        /// Always `true`.
        default: bool,
    },
}

/// The permission mode (`--permission-mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Read-only calls run; all others need approval.
    #[default]
    #[cfg_attr(feature = "cli", value(alias = "manual"))]
    Default,
    /// Changes to files in the working directories run as well.
    #[cfg_attr(feature = "cli", value(
        name = "acceptEdits",
        aliases = ["accept-edits", "auto-edit", "auto_edit"]
    ))]
    AcceptEdits,
    /// Read-only calls run; all others need approval, even if a rule allows them.
    Plan,
    /// A model decides about calls that no rule decides.
    Auto,
    /// Calls that no rule decides are denied.
    #[cfg_attr(feature = "cli", value(name = "dontAsk", alias = "dont-ask"))]
    DontAsk,
    /// All calls run, except those that no mode allows.
    #[cfg_attr(feature = "cli", value(name = "bypassPermissions", aliases = ["bypass-permissions", "yolo"]))]
    BypassPermissions,
}

impl Mode {
    /// Returns the name of the mode in settings and records.
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
    /// Read-only calls are allowed.
    ReadOnly,
    /// Removing critical paths outside the project needs approval.
    CriticalPath,
    /// Changing files that determine which programs run needs approval.
    Protected,
    /// A command line that cannot be parsed needs approval.
    Unparsable,
    /// A command needs approval if its program or paths are known only at run time and a rule restricts
    /// some of them.
    Unresolved,
}

impl BuiltinRule {
    /// Returns the effect of a call that triggers the rule, as a verb phrase.
    pub fn effect(self) -> &'static str {
        match self {
            Self::ReadOnly => "only reads",
            Self::CriticalPath => "removes a critical path",
            Self::Protected => "changes a file that determines which programs run",
            Self::Unparsable => "cannot be parsed",
            Self::Unresolved => {
                "may do something that a rule denies, which is known only at run time"
            }
        }
    }
}
