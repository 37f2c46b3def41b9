//! The `hooks` of a settings file.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::permission::{Behavior, InvalidRule, Request, Rule, RuleSource};
use crate::text::names;

/// Timeouts of at least this number are in milliseconds: Qwen Code reads them as such, Claude Code as seconds.
const MIN_MILLISECONDS: f64 = 10_000.0;

/// Timeout of a hook that sets none.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);

/// The event that a hook runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    /// Before a call.
    PreToolUse,
    /// Before the user is asked about a call.
    PermissionRequest,
    /// After a call that succeeded.
    PostToolUse,
    /// After a call that failed.
    PostToolUseFailure,
    /// After the last call of a turn.
    PostToolBatch,
    /// After a reply without calls.
    Stop,
}

impl HookEvent {
    /// Whether hooks on this event decide about a call.
    pub(super) fn can_deny(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PermissionRequest)
    }
}

names! {
    HookEvent: PreToolUse = "PreToolUse", PermissionRequest = "PermissionRequest",
    PostToolUse = "PostToolUse", PostToolUseFailure = "PostToolUseFailure",
    PostToolBatch = "PostToolBatch", Stop = "Stop",
}

/// The hooks of a run, in the order of their files and lines.
#[derive(Debug, Default)]
pub struct Hooks {
    handlers: Vec<Handler>,
}

/// One hook.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) event: HookEvent,
    matcher: Matcher,
    /// The calls it applies to; all if `None`.
    condition: Option<Rule>,
    pub(super) action: Action,
    pub(super) timeout: Duration,
    /// Whether the run does not wait for it.
    pub(super) is_in_background: bool,
    /// Whether a failure of the hook blocks the call.
    pub(super) blocks_on_failure: bool,
}

/// The action of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Runs a command line with `sh`.
    Shell(String),
    /// Runs a program.
    Program {
        program: String,
        arguments: Vec<String>,
    },
    /// Posts to a server.
    Http {
        url: String,
        headers: BTreeMap<String, String>,
        /// The variables that headers may contain.
        variables: Vec<String>,
    },
    /// Blocks the call, since the type of the hook is not one of the above.
    Unsupported { kind: String },
}

/// Malformed hooks.
#[derive(Debug, thiserror::Error)]
#[error("{file}: hooks.{event}: {problem}")]
pub struct InvalidHooks {
    file: String,
    event: String,
    problem: String,
}

#[derive(Deserialize)]
struct Group {
    #[serde(default)]
    matcher: Value,
    hooks: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HandlerEntry {
    r#type: String,
    command: Option<String>,
    args: Option<Vec<String>>,
    shell: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    allowed_env_vars: Vec<String>,
    timeout: Option<f64>,
    r#if: Option<String>,
    #[serde(default)]
    r#async: bool,
    on_failure: Option<OnFailure>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnFailure {
    Continue,
    Block,
}

impl Hooks {
    /// Adds the `hooks` of a settings file. Returns a warning for each hook of an unsupported type. Other
    /// events are ignored: they belong to the agent.
    ///
    /// # Errors
    /// The hooks are malformed; some may have been added.
    pub fn add(
        &mut self,
        hooks: &Map<String, Value>,
        source: &Arc<RuleSource>,
    ) -> Result<Vec<String>, InvalidHooks> {
        let mut warnings = Vec::new();
        for event in HookEvent::ALL {
            let Some(groups) = hooks.get(event.name()) else {
                continue;
            };
            let invalid = |problem: String| InvalidHooks {
                file: source.name.clone(),
                event: event.name().to_owned(),
                problem,
            };
            let groups = Vec::<Group>::deserialize(groups);
            for group in groups.map_err(|error| invalid(error.to_string()))? {
                let matcher = Matcher::parse(group.matcher.as_str().unwrap_or_default())
                    .map_err(|error| invalid(format!("matcher: {error}")))?;
                for hook in group.hooks {
                    let entry = HandlerEntry::deserialize(&hook)
                        .map_err(|error| invalid(error.to_string()))?;
                    let handler = entry
                        .into_handler(event, matcher.clone(), source)
                        .map_err(invalid)?;
                    if let Action::Unsupported { kind } = &handler.action {
                        let effect = if handler.can_deny() {
                            "cannot run, and block the calls that they match"
                        } else {
                            "are not run"
                        };
                        warnings.push(format!(
                            "{}: hooks.{}: hooks of the type `{kind}` {effect}",
                            source.name,
                            event.name()
                        ));
                    }
                    if !matches!(handler.action, Action::Unsupported { .. }) || handler.can_deny() {
                        self.handlers.push(handler);
                    }
                }
            }
        }
        Ok(warnings)
    }

    /// Whether there are no hooks.
    pub fn is_empty(&self) -> bool {
        self.handlers.is_empty()
    }

    /// Whether an event has hooks.
    pub fn has(&self, event: HookEvent) -> bool {
        self.handlers.iter().any(|handler| handler.event == event)
    }

    /// Returns the hooks that an event fires. `names` are the names of the tool, its own and as the model
    /// called it; they are empty if the event has no tool. `request` is the call as rules see it.
    pub(super) fn hooks_of(
        &self,
        event: HookEvent,
        names: &[&str],
        request: Option<&Request<'_>>,
    ) -> Vec<&Handler> {
        let is_due = |handler: &&Handler| {
            handler.event == event
                && (names.is_empty() || names.iter().any(|name| handler.matcher.matches(name)))
                && match (&handler.condition, request) {
                    (Some(rule), Some(request)) => rule.matches(request),
                    (Some(_), None) => false,
                    (None, _) => true,
                }
        };
        let mut fired: Vec<&Handler> = Vec::new();
        for handler in self.handlers.iter().filter(is_due) {
            // The same hook may have several matchers and be in several files.
            if !fired.iter().any(|other| other.has_same_effect(handler)) {
                fired.push(handler);
            }
        }
        fired
    }
}

impl Handler {
    /// Whether its output decides about a call.
    fn can_deny(&self) -> bool {
        self.event.can_deny() && !self.is_in_background
    }

    fn has_same_effect(&self, other: &Self) -> bool {
        let effect = |handler: &Self| (handler.is_in_background, handler.blocks_on_failure);
        self.action == other.action && effect(self) == effect(other)
    }

    /// Returns the name in records: the command, the address, or the unsupported type.
    pub(super) fn name(&self) -> &str {
        match &self.action {
            Action::Shell(command) => command,
            Action::Program { program, .. } => program,
            Action::Http { url, .. } => url,
            Action::Unsupported { kind } => kind,
        }
    }
}

impl HandlerEntry {
    fn into_handler(
        self,
        event: HookEvent,
        matcher: Matcher,
        source: &Arc<RuleSource>,
    ) -> Result<Handler, String> {
        let missing = |member: &str| format!("`{member}` is missing");
        let mut shells = self.shell.iter().filter(|_| self.args.is_none());
        let other_shell = shells.find(|shell| !["bash", "sh"].contains(&shell.as_str()));
        let action = match (self.r#type.as_str(), other_shell) {
            ("command", Some(shell)) => Action::Unsupported {
                kind: format!("command in {shell}"),
            },
            ("command", None) => {
                let command = self.command.ok_or_else(|| missing("command"))?;
                match self.args {
                    None => Action::Shell(command),
                    Some(arguments) => Action::Program {
                        program: command,
                        arguments,
                    },
                }
            }
            ("http", _) => Action::Http {
                url: self.url.ok_or_else(|| missing("url"))?,
                headers: self.headers,
                variables: self.allowed_env_vars,
            },
            _ => Action::Unsupported { kind: self.r#type },
        };
        let timeout = match self.timeout {
            None => DEFAULT_TIMEOUT,
            Some(number) => {
                let is_in_milliseconds = number >= MIN_MILLISECONDS;
                let seconds = if is_in_milliseconds {
                    number / 1000.0
                } else {
                    number
                };
                Duration::try_from_secs_f64(seconds).map_err(|_| {
                    format!("`timeout`: expected a number of seconds, found `{number}`")
                })?
            }
        };
        let condition = self
            .r#if
            .map(|rule| Rule::parse(&rule, Behavior::Ask, source))
            .transpose()
            .map_err(|error: InvalidRule| error.to_string())?;
        Ok(Handler {
            event,
            matcher,
            condition,
            action,
            timeout,
            is_in_background: self.r#async,
            blocks_on_failure: self.on_failure == Some(OnFailure::Block)
                && !self.r#async
                && event != HookEvent::Stop,
        })
    }
}

/// The matcher of a group of hooks.
#[derive(Debug, Clone)]
pub(super) enum Matcher {
    /// Every tool.
    Any,
    /// Tools with these names.
    Names(Vec<String>),
    /// Tools whose name matches.
    Pattern(Regex),
}

impl Matcher {
    /// Parses a matcher: empty or `*` for all tools, names separated by `|` or `,`, or a regular expression.
    pub(super) fn parse(text: &str) -> Result<Self, regex::Error> {
        if text.is_empty() || text == "*" {
            return Ok(Self::Any);
        }
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_- ,|".contains(letter);
        if text.chars().all(is_plain) {
            let names = text.split(['|', ',']).map(|name| name.trim().to_owned());
            return Ok(Self::Names(names.filter(|name| !name.is_empty()).collect()));
        }
        Regex::new(text).map(Self::Pattern)
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Names(names) => names.iter().any(|known| known == name),
            Self::Pattern(pattern) => pattern.is_match(name),
        }
    }
}

#[cfg(test)]
mod matcher_tests {
    use super::*;

    #[test]
    fn names_lists_and_patterns_match() {
        let table = [
            ("", "Bash", true),
            ("*", "Bash", true),
            (".*", "Bash", true),
            ("Bash", "Bash", true),
            ("Bash", "BashOutput", false),
            ("bash", "Bash", false),
            ("Edit|Write", "Write", true),
            ("Edit, Write", "Write", true),
            ("Edit|Write", "MultiEdit", false),
            ("mcp__memory", "mcp__memory__add", false),
            ("mcp__memory__.*", "mcp__memory__add", true),
            ("^Note", "NotebookEdit", true),
            ("Edit.?", "NotebookEdit", true),
        ];
        for (text, name, expected) in table {
            let matcher = Matcher::parse(text).unwrap();
            assert_eq!(matcher.matches(name), expected, "{text}: {name}");
        }
        assert!(Matcher::parse("(").is_err());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_timeout_is_in_milliseconds() {
        for (number, seconds) in [(30.0, 30), (3_600.0, 3_600), (10_000.0, 10), (60_000.0, 60)] {
            let settings = serde_json::json!({"PreToolUse": [{"hooks": [
                {"type": "command", "command": "true", "timeout": number}]}]});
            let mut hooks = Hooks::default();
            let source = Arc::new(RuleSource {
                name: "settings.json".into(),
                anchor: "/".into(),
            });
            hooks.add(settings.as_object().unwrap(), &source).unwrap();
            assert_eq!(hooks.handlers[0].timeout, Duration::from_secs(seconds));
        }
    }
}
