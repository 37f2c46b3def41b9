//! The format of permissions in settings files and the configuration file.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::permission::{Behavior, Mode};

/// A settings file of an agent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SettingsFile {
    pub(super) permissions: PermissionTable,
    pub(super) hooks: Map<String, Value>,
    pub(super) env: BTreeMap<String, String>,
    #[serde(rename = "disableAllHooks")]
    pub(super) disable_all_hooks: bool,
    /// The other keys.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

impl SettingsFile {
    /// The mode of Qwen Code and Gemini CLI, if stricter than the default.
    pub(super) fn approval_mode(&self) -> Option<Mode> {
        let tools = self
            .others
            .get("tools")
            .and_then(|tools| tools.get("approvalMode"));
        let mode = tools.or_else(|| self.others.get("approvalMode"))?;
        (mode == "plan").then_some(Mode::Plan)
    }
}

/// `permissions` of a settings file, and `[permissions]` of the configuration file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct PermissionTable {
    allow: Vec<WrittenRule>,
    ask: Vec<WrittenRule>,
    deny: Vec<WrittenRule>,
    #[serde(alias = "default_mode")]
    default_mode: Option<ModeName>,
    #[serde(alias = "additional_directories")]
    pub(super) additional_directories: Vec<String>,
    /// The other keys.
    #[serde(flatten)]
    pub(super) others: BTreeMap<String, Value>,
}

/// The name of a mode.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ModeName(Mode);

impl<'de> Deserialize<'de> for ModeName {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        <Mode as clap::ValueEnum>::from_str(&name, false)
            .map(Self)
            .map_err(|_| serde::de::Error::custom(format!("unknown permission mode `{name}`")))
    }
}

/// A rule, alone or with examples.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a rule is a string, or an object with `rule`, `match` and `not_match`"
)]
pub(super) enum WrittenRule {
    Alone(String),
    Tested(TestedRule),
}

/// A rule with calls that it must match and calls that it must not match.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestedRule {
    pub(super) rule: String,
    #[serde(default, rename = "match")]
    pub(super) matching: Vec<String>,
    #[serde(default)]
    pub(super) not_match: Vec<String>,
}

impl PermissionTable {
    pub(super) fn mode(&self) -> Option<Mode> {
        self.default_mode.map(|name| name.0)
    }

    pub(super) fn rules(&self) -> impl Iterator<Item = (&WrittenRule, Behavior)> {
        [
            (&self.deny, Behavior::Deny),
            (&self.ask, Behavior::Ask),
            (&self.allow, Behavior::Allow),
        ]
        .into_iter()
        .flat_map(|(rules, behavior)| rules.iter().map(move |rule| (rule, behavior)))
    }
}
