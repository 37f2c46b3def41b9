//! Permission decisions.

use schemars::JsonSchema;
use serde::Serialize;

use super::{BuiltinRule, Mode};

/// Permission decision for a call, ordered by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
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
