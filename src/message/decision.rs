//! Decisions about calls.

use schemars::JsonSchema;
use serde::Serialize;

use super::{BuiltinRule, Mode};

/// What was decided about a call; stricter ones come later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person must say.
    Ask,
    /// It must not run.
    Deny,
}

/// What decided about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DecidedBy {
    /// The mode.
    Mode {
        /// Its name, e.g. `acceptEdits`.
        #[schemars(with = "String")]
        mode: Mode,
    },
    /// A built-in rule.
    Builtin {
        /// Its name, e.g. `critical-path`.
        #[schemars(with = "String")]
        builtin: BuiltinRule,
    },
    /// A rule.
    Rule {
        /// As it is written.
        rule: String,
        /// What it does with calls.
        behavior: Decision,
        /// The flag or file that it is written in.
        source: String,
    },
    /// A hook.
    Hook {
        /// The event.
        hook: String,
    },
    /// Somebody who was asked.
    Prompt {
        /// How: `tty`, `stdio`, or the name of a tool.
        prompt: String,
    },
    /// Nothing matched.
    Default {
        /// Always true.
        default: bool,
    },
}
