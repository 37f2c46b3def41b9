//! The format of permissions in settings files and the configuration file, and restrictions of agents other than
//! rules.
//!
//! An unknown restriction is an error unless the user chose to ignore it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::permission::{Behavior, Mode, OutsideAccess, Rule, RuleSource};

/// The restriction of a key.
pub(super) enum Restriction {
    /// No restriction.
    None,
    /// Deny rules.
    Rules(Vec<Rule>),
    /// Calls that would need approval are denied.
    DenyInsteadOfAsking,
    /// A forbidden mode, and the key that forbids it.
    Forbids(Mode, String),
    /// The key may restrict calls in an unknown way.
    Unknown(String),
    /// A key with an invalid value, and the reason.
    Invalid(String, String),
    /// The key would lift restrictions, and is not applied.
    Weakens(String),
}

/// Keys with restrictions that turnpipe does not implement: allow lists, sandboxes of other agents than Claude Code, and
/// settings that only administrators may override.
const UNKNOWN: &[&str] = &[
    "allowManagedHooksOnly",
    "allowManagedPermissionRulesOnly",
    "allowMCPServers",
    "allowedMcpServers",
    "coreTools",
    "mcp.allowed",
    "sandbox",
    "tools.core",
    "tools.sandbox",
];

/// Parses a key of `permissions`.
pub(super) fn parse_permission_key(
    key: &str,
    value: &Value,
    source: &Arc<RuleSource>,
) -> Restriction {
    let outside_rule = |access, behavior| Rule::outside(key, access, behavior, source);
    let name = || format!("permissions.{key}");
    match (key, value) {
        ("blockReadsOutsideWorkingDirectories", Value::Bool(true)) => Restriction::Rules(vec![
            outside_rule(OutsideAccess::Reading, Behavior::Deny),
            outside_rule(OutsideAccess::Command, Behavior::Ask),
        ]),
        ("blockWritesOutsideWorkingDirectories", Value::Bool(true)) => {
            Restriction::Rules(vec![outside_rule(OutsideAccess::Writing, Behavior::Deny)])
        }
        ("denyInsteadOfPrompting", Value::Bool(true)) => Restriction::DenyInsteadOfAsking,
        (
            "blockReadsOutsideWorkingDirectories"
            | "blockWritesOutsideWorkingDirectories"
            | "denyInsteadOfPrompting",
            Value::Bool(false),
        ) => Restriction::None,
        ("disableBypassPermissionsMode", Value::String(text)) if text == "disable" => {
            Restriction::Forbids(Mode::BypassPermissions, name())
        }
        ("disableAutoMode", Value::String(text)) if text == "disable" => {
            Restriction::Forbids(Mode::Auto, name())
        }
        // A comment, such as `_comment` or `$schema`.
        _ if !key.starts_with(char::is_alphabetic) => Restriction::None,
        _ => Restriction::Unknown(name()),
    }
}

/// Parses a key of a settings file of Claude Code, Qwen Code or Gemini CLI.
pub(super) fn parse_file_key(
    key: &str,
    value: &Value,
    source: &Arc<RuleSource>,
) -> Vec<Restriction> {
    if let ("tools" | "mcp" | "security", Value::Object(members)) = (key, value) {
        let parse = |(member, value): (&String, &Value)| {
            parse_key(&format!("{key}.{member}"), value, source)
        };
        return members.iter().map(parse).collect();
    }
    vec![parse_key(key, value, source)]
}

fn parse_key(key: &str, value: &Value, source: &Arc<RuleSource>) -> Restriction {
    match key {
        "tools.exclude" | "excludeTools" => parse_deny_rules(key, value, source, excluded_tool),
        "mcp.excluded" | "excludeMCPServers" | "disabledMcpjsonServers" => {
            parse_deny_rules(key, value, source, |server| {
                Some(format!("mcp__{}", server.as_str()?))
            })
        }
        "deniedMcpServers" => parse_deny_rules(key, value, source, |server| {
            let name = server.get("serverName")?.as_str()?;
            Some(format!("mcp__{name}"))
        }),
        "security.disableYoloMode" | "disableYoloMode" if value == true => {
            Restriction::Forbids(Mode::BypassPermissions, key.to_owned())
        }
        _ if UNKNOWN.contains(&key) && is_restriction(value) => {
            Restriction::Unknown(key.to_owned())
        }
        _ => Restriction::None,
    }
}

/// Whether a value enables an unknown restriction. In a table, only `enabled` counts.
fn is_restriction(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !matches!(text.as_str(), "" | "false"),
        Value::Object(members) => members.get("enabled").is_none_or(|on| *on != false),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    }
}

/// Returns deny rules for the elements of a list; unknown if an element cannot be parsed.
fn parse_deny_rules(
    key: &str,
    value: &Value,
    source: &Arc<RuleSource>,
    to_rule_text: impl Fn(&Value) -> Option<String>,
) -> Restriction {
    let parse = |element: &Value| Rule::parse(&to_rule_text(element)?, Behavior::Deny, source).ok();
    let elements = value
        .as_array()
        .map(|elements| elements.iter().map(parse).collect());
    match elements {
        Some(Some(rules)) => Restriction::Rules(rules),
        _ => Restriction::Unknown(key.to_owned()),
    }
}

/// Returns the rule for an element of `tools.exclude`: a name, or a name with a command prefix.
fn excluded_tool(element: &Value) -> Option<String> {
    let text = element.as_str()?;
    let tool = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        Some((tool, command)) => {
            let command = command.trim_end_matches(['*', ':', ' ']);
            return Some(format!("{}({command}:*)", tool_of_class(tool)));
        }
        None => text,
    };
    Some(tool_of_class(tool).to_owned())
}

/// Returns the name of the tool with this class name, which older settings contain; other names unchanged.
fn tool_of_class(tool: &str) -> &str {
    match tool {
        "ShellTool" => "Bash",
        "ReadFileTool" => "Read",
        "WriteFileTool" => "Write",
        "EditTool" => "Edit",
        "WebFetchTool" => "WebFetch",
        tool => tool,
    }
}

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
    /// Returns the mode of Qwen Code and Gemini CLI, if stricter than the default.
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
    expecting = "a rule is a string, or an object with `rule`, `subagent`, `match` and `not_match`"
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
    /// The type of the subagents whose calls the rule is about; all subagents if it is `*`. As in Gemini CLI's policies.
    subagent: Option<String>,
    #[serde(default, rename = "match")]
    pub(super) matching: Vec<String>,
    #[serde(default)]
    pub(super) not_match: Vec<String>,
}

impl TestedRule {
    /// Whether the rule applies to a caller: the type of a subagent, empty if unknown, or `None` for the main agent.
    /// Every rule that restricts calls applies to a subagent of unknown type.
    pub(super) fn applies_to(&self, caller: Option<&str>, behavior: Behavior) -> bool {
        let Some(subagent) = &self.subagent else {
            return true;
        };
        caller.is_some_and(|caller| {
            let may_be_any = caller.is_empty() && behavior != Behavior::Allow;
            may_be_any || subagent == "*" || subagent == caller
        })
    }
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
