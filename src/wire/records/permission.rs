//! Who decided about a call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::always_true::True;

/// A decision, and what made it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Permission {
    /// What was decided.
    pub decision: Decision,
    /// What decided.
    pub by: DecidedBy,
}

/// What was decided about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DecidedBy {
    /// A rule.
    Rule {
        /// The rule as it was written, e.g. `Bash(git log:*)`.
        rule: String,
        /// What the rule says; absent where the decision says the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        behavior: Option<Decision>,
        /// Where the rule stands, e.g. `flag` or `settings.json`.
        source: String,
    },
    /// The mode.
    Mode {
        /// Its name, e.g. `acceptEdits`.
        mode: String,
    },
    /// A built-in rule.
    Builtin {
        /// Its name, e.g. `critical-path`.
        builtin: String,
    },
    /// Nothing matched.
    Default {
        /// Always true.
        default: True,
    },
}

impl DecidedBy {
    /// Nothing matched.
    pub fn default_decision() -> Self {
        Self::Default { default: True }
    }
}
