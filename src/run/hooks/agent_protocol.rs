//! The protocol of agents' hooks, with this program as the hook: the input that agents write, and the responses that
//! they understand. See `docs/permissions.md`, The hook for other agents.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, list_session_roots};
use crate::io::Environment;
use crate::message::{BuiltinRule, DecidedBy, Decision};
use crate::permission::{Action, Decided, Mode};
use crate::records::HookDecisionRecord;
use crate::session::describe_input;
use crate::tool_facts::mcp_prefix;

/// The input of a hook about a call.
#[derive(Debug)]
pub struct AgentHookInput {
    /// The name of the event.
    pub(super) event: String,
    pub(super) kind: EventKind,
    /// The agent, if the input shows it.
    agent: Option<Agent>,
    /// The name of the tool.
    pub tool_name: String,
    /// The arguments of the call, or why they cannot be read: a call that the agent can read must not pass because they
    /// are nested too deeply here.
    pub tool_input: Result<Map<String, Value>, String>,
    /// The working directory of the agent, absolute.
    pub cwd: PathBuf,
    /// The input as the agent wrote it.
    pub(super) text: String,
    members: Members,
}

/// An input that cannot be judged.
#[derive(Debug)]
pub struct UnjudgedInput {
    /// The reason.
    pub problem: String,
    /// Whether a call may run now. If not, the input is about something else.
    pub is_call: bool,
    /// Whether the input has another event than those about calls.
    pub has_other_event: bool,
}

/// The decisions that a response can express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    /// Allow or deny a call, or ask about it.
    Call,
    /// Allow or deny a call that the user is asked about.
    Request,
    /// Allow or deny a call that no user is asked about.
    Access,
}

use EventKind::{Access, Call, Request};

const CURSOR: Option<Agent> = Some(Agent::Cursor);

/// The events about calls: the name, the agent if only one has it, and the tool if the event is about one.
const EVENTS: [(&str, Option<Agent>, EventKind, Option<&str>); 10] = [
    ("PreToolUse", None, Call, None),
    ("PermissionRequest", None, Request, None),
    ("BeforeTool", Some(Agent::Gemini), Call, None),
    ("preToolUse", CURSOR, Call, None),
    ("permissionRequest", Some(Agent::Copilot), Request, None),
    ("beforeShellExecution", CURSOR, Call, Some("Shell")),
    ("beforeMCPExecution", CURSOR, Call, None),
    ("beforeReadFile", CURSOR, Access, Some("Read")),
    ("beforeTabFileRead", CURSOR, Access, Some("TabRead")),
    ("subagentStart", CURSOR, Access, Some("Task")),
];

/// Members of events about one tool that are its arguments.
const OWN_ARGUMENTS: [&str; 4] = ["command", "file_path", "attachments", "subagent_type"];

const NAME: [&str; 2] = ["tool_name", "toolName"];
const ARGUMENTS: [&str; 3] = ["tool_input", "toolArgs", "toolInput"];

/// The members of an input. Those that are not needed may have any form.
#[derive(Debug, Deserialize)]
struct Members(HashMap<String, Box<RawValue>>);

impl Members {
    /// Returns the first of these members that is not null.
    fn get(&self, names: &[&str]) -> Option<&str> {
        let mut members = names.iter().filter_map(|name| self.0.get(*name));
        members.find_map(|member| Some(member.get()).filter(|json| *json != "null"))
    }

    fn has(&self, names: &[&str]) -> bool {
        self.get(names).is_some()
    }

    fn value(&self, names: &[&str]) -> Value {
        let value = self.get(names).map(serde_json::from_str);
        value.and_then(Result::ok).unwrap_or_default()
    }

    fn text(&self, names: &[&str]) -> Option<String> {
        self.value(names).as_str().map(str::to_owned)
    }

    /// Returns the arguments, an object or the text of one.
    fn arguments(&self) -> Result<Map<String, Value>, String> {
        let json = self.get(&ARGUMENTS).unwrap_or("{}");
        let value = match serde_json::from_str(json) {
            Ok(Value::String(text)) if text.trim_start().starts_with('{') => {
                serde_json::from_str(&text)
            }
            // Copilot CLI's `apply_patch`
            Ok(Value::String(text)) => Ok(json!({ "input": text })),
            value => value,
        };
        value
            .and_then(Map::deserialize)
            .map_err(|error| error.to_string())
    }

    /// Returns the name of the tool; for a tool of an MCP server as Claude Code writes it, if the server is known.
    fn tool_name(&self, event: &str) -> Option<String> {
        let name = self.text(&NAME)?;
        let context = self.value(&["mcp_context"]);
        let server = self.text(&["mcp_server_name"]);
        let tool = context["tool_name"].as_str().unwrap_or(&name);
        let tool = tool.trim_start_matches("MCP:");
        let server = server.as_deref().or(context["server_name"].as_str());
        Some(match server {
            Some(server) if !name.starts_with("mcp__") => mcp_prefix(server) + tool,
            None if event == "beforeMCPExecution" => format!("MCP:{tool}"),
            _ => name,
        })
    }
}

impl AgentHookInput {
    /// Parses an input. Its working directory is `directory`, which is absolute, unless it names one.
    ///
    /// # Errors
    /// The input is malformed, or its event is not about a call.
    pub fn parse(text: &str, directory: &Path) -> Result<Self, UnjudgedInput> {
        let unjudged = |problem: String, is_call| UnjudgedInput {
            problem,
            is_call,
            has_other_event: false,
        };
        // Cursor writes one or two byte order marks on Windows.
        let is_blank = |letter: char| letter == '\u{feff}' || letter.is_whitespace();
        let members: Members = serde_json::from_str(text.trim_start_matches(is_blank))
            .map_err(|error| unjudged(error.to_string(), true))?;
        // Events of Copilot CLI have no name.
        let is_copilot = members.has(&["toolName"]);
        let name = match is_copilot {
            false => "PreToolUse",
            true if members.has(&["toolResult", "error"]) => "postToolUse",
            true if members.has(&["toolInput"]) => "permissionRequest",
            true => "preToolUse",
        };
        let event = members
            .text(&["hook_event_name", "hookEventName"])
            .unwrap_or_else(|| name.to_owned());
        let found = EVENTS.iter().find(|(name, ..)| *name == event);
        let Some((_, agent, kind, tool)) = found.copied() else {
            let mut later_prefixes = ["Post", "post", "After", "after"].iter();
            let is_call = members.has(&[&NAME[..], &ARGUMENTS, &OWN_ARGUMENTS].concat());
            return Err(UnjudgedInput {
                is_call: is_call && !later_prefixes.any(|start| event.starts_with(start)),
                problem: format!("unsupported event `{event}`"),
                has_other_event: true,
            });
        };
        let agent = match agent {
            CURSOR if is_copilot => Some(Agent::Copilot),
            None if members.has(&["turn_id"]) => Some(Agent::Codex),
            None if members.has(&["cursor_version"]) => CURSOR,
            agent => agent,
        };
        let (tool_name, tool_input) = if let Some(tool) = tool {
            let arguments = OWN_ARGUMENTS.map(|name| (name.to_owned(), members.value(&[name])));
            let present = arguments.into_iter().filter(|(_, value)| !value.is_null());
            (tool.to_owned(), Ok(present.collect()))
        } else {
            let name = members.tool_name(&event);
            let missing = || unjudged(format!("`{event}` without a tool"), true);
            (name.ok_or_else(missing)?, members.arguments())
        };
        let roots = members.value(&["workspace_roots", "workspaceRoots"]);
        let root = roots[0].as_str().map(Path::new);
        let base = root.filter(|root| root.is_absolute()).unwrap_or(directory);
        let cwd = members.text(&["cwd"]).filter(|cwd| !cwd.is_empty());
        Ok(Self {
            cwd: cwd.map_or_else(|| base.to_owned(), |cwd| base.join(cwd)),
            event,
            kind,
            agent,
            tool_name,
            tool_input,
            text: text.to_owned(),
            members,
        })
    }

    /// Returns the names of the events about calls.
    pub fn events() -> String {
        EVENTS.map(|(name, ..)| name).join(", ")
    }

    /// Whether the agent asks the user about the call, so that a failure needs no denial.
    pub fn asks_user(&self) -> bool {
        self.kind == Request && self.agent != Some(Agent::Copilot)
    }

    /// Returns the mode in which rules decide, if the agent reports its own: plan mode, or the default one instead of
    /// those that the agent applies itself to calls without a response.
    pub fn mode(&self) -> Option<Mode> {
        let name = self.members.text(&["permission_mode"])?;
        Some(if name == Mode::Plan.name() {
            Mode::Plan
        } else {
            Mode::Default
        })
    }

    /// Whether the input may be from this agent.
    pub(super) fn may_be_of(&self, agent: Agent) -> bool {
        self.agent.map_or_else(
            || {
                let has_timestamp = matches!(agent, Agent::Qwen | Agent::Copilot);
                let is_identified = matches!(agent, Agent::Codex | Agent::Gemini | Agent::Cursor);
                !is_identified && self.members.has(&["timestamp"]) == has_timestamp
            },
            |known| known == agent,
        )
    }

    /// Returns the type of the subagent that makes the call, empty if it is not known. `None` for the main agent.
    pub fn subagent(&self) -> Option<String> {
        let id = self.members.has(&["agent_id"]).then(String::new);
        self.members.text(&["agent_type"]).or(id)
    }

    /// Whether the agent runs commands with bash, if known: Qwen Code, Gemini CLI, Copilot CLI and pi do, and
    /// others use the user's shell.
    pub fn runs_bash(&self, agent: Option<Agent>, environment: &Environment) -> bool {
        // Claude Code prefers the first: https://code.claude.com/docs/en/env-vars
        let shells = ["CLAUDE_CODE_SHELL", "SHELL"].iter();
        let mut shells = shells.filter_map(|name| environment.text(name)).peekable();
        let is_user_shell_bash =
            shells.peek().is_some() && shells.all(|shell| Path::new(shell).ends_with("bash"));
        let agent = self.agent.or(agent);
        let has_bash = matches!(agent, Some(Agent::Copilot | Agent::Pi));
        let is_codex = agent == Some(Agent::Codex);
        has_bash || self.tool_name == "run_shell_command" || (!is_codex && is_user_shell_bash)
    }

    /// Returns the response for the decision about a call with this action. With
    /// `denies_instead_of_asking`, a call that needs approval is denied. `None` if the decision is left
    /// to the agent, else the decision in the response and the response.
    pub fn response(
        &self,
        decided: &Decided,
        action: &Action,
        denies_instead_of_asking: bool,
    ) -> Option<(Decision, Value)> {
        let decision = match (self.kind, response_decision(decided, action)) {
            (_, Some(Decision::Ask)) if denies_instead_of_asking => Decision::Deny,
            (Access, Some(Decision::Ask)) => Decision::Deny,
            (Access, None) => Decision::Allow,
            // Some versions block a call after an empty response.
            (_, None) if self.agent == CURSOR => decided.decision,
            (_, decision) => decision?,
        };
        let response = self.decision_response(decision, &reason_text(decided))?;
        Some((decision, response))
    }

    /// Whether the agent runs a command that a response with this decision changes. `agent` is the agent if it is known.
    /// Claude Code does in every response, and Qwen Code only if it allows the call that its user is asked about.
    pub fn accepts_changes(&self, agent: Option<Agent>, decision: Option<Decision>) -> bool {
        let has_time = self.members.has(&["timestamp"]);
        let writer = match (self.agent, &*self.tool_name) {
            (None, "Bash" | "Monitor") if !has_time => Agent::Claude,
            (None, "run_shell_command") if has_time => Agent::Qwen,
            _ => return false,
        };
        agent.is_none_or(|agent| agent == writer)
            && match self.kind {
                Call => writer == Agent::Claude && self.members.has(&["tool_use_id"]),
                Request => decision == Some(Decision::Allow),
                Access => false,
            }
    }

    /// Returns a response, or one without a decision, with another input of the call.
    pub fn with_input(&self, response: Option<Value>, input: Map<String, Value>) -> Value {
        let undecided = || json!({ "hookSpecificOutput": { "hookEventName": self.event } });
        let mut response = response.unwrap_or_else(undecided);
        let specific = &mut response["hookSpecificOutput"];
        let object = match self.kind {
            Request => &mut specific["decision"],
            Call | Access => specific,
        };
        object["updatedInput"] = input.into();
        response
    }

    /// Returns the response that denies the call for this reason.
    pub fn denial(&self, reason: &str) -> Option<(Decision, Value)> {
        let response = self.decision_response(Decision::Deny, reason)?;
        Some((Decision::Deny, response))
    }

    /// Returns the record of the decision that was made `now`, or of the reason why none could be made.
    /// `agent` is the agent if it is known, and `answer` the decision in the response.
    pub fn record(
        &self,
        agent: Option<Agent>,
        decided: Result<&Decided, &str>,
        answer: Option<Decision>,
        environment: &Environment,
        now: Timestamp,
    ) -> HookDecisionRecord {
        let text = |names: &[&str]| self.members.text(names);
        let transcript = PathBuf::from(text(&["transcript_path"]).unwrap_or_default());
        let mut roots = list_session_roots(environment).into_iter();
        let root = roots.find(|root| transcript.starts_with(&root.path));
        let decided_by_rules = decided.ok();
        let decision = decided_by_rules.map_or(Decision::Ask, |decided| decided.decision);
        let hints = decided_by_rules.and_then(Decided::hints);
        HookDecisionRecord {
            timestamp: format!("{now:.3}"),
            agent: (self.agent.or(agent))
                .or_else(|| root?.agent)
                .map(|agent| agent.name().to_owned()),
            session_id: text(&["session_id", "sessionId", "conversation_id"]),
            agent_id: text(&["agent_id", "subagent_id"]),
            agent_type: text(&["agent_type", "subagent_type"]),
            cwd: self.cwd.display().to_string(),
            event: self.event.clone(),
            tool: self.tool_name.clone(),
            about: (self.tool_input.as_ref())
                .map(|input| describe_input(input, self.cwd.to_str()))
                .unwrap_or_default(),
            decision: answer.unwrap_or(decision),
            answered: answer.is_some(),
            by: decided_by_rules.map(|decided| decided.by.clone()),
            reason: decided.map_or_else(str::to_owned, reason_text),
            hints: hints
                .unwrap_or_default()
                .into_iter()
                .map(|hint| hint.rule.clone())
                .collect(),
        }
    }

    /// Returns the response with this decision; `None` if the agent is better left to itself.
    fn decision_response(&self, decision: Decision, reason: &str) -> Option<Value> {
        let call_decision = json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        });
        let behavior = match decision {
            Decision::Deny => json!({ "behavior": "deny", "message": reason }),
            Decision::Allow | Decision::Ask => json!({ "behavior": "allow" }),
        };
        Some(match (self.agent, self.kind, decision) {
            // Gemini CLI would wait for a terminal, and Codex reports these responses as errors.
            (_, Request, Decision::Ask)
            | (Some(Agent::Gemini), _, Decision::Ask)
            | (Some(Agent::Codex), Call, Decision::Ask | Decision::Allow) => return None,
            (Some(Agent::Gemini), ..) => json!({ "decision": decision, "reason": reason }),
            (CURSOR, _, Decision::Allow) => json!({ "permission": decision }),
            (CURSOR, ..) => json!({
                "permission": decision, "user_message": reason, "agent_message": reason,
            }),
            (Some(Agent::Copilot), Request, _) => behavior,
            (Some(Agent::Copilot), ..) => call_decision,
            (_, Request, _) => json!({ "hookSpecificOutput": {
                "hookEventName": "PermissionRequest",
                "decision": behavior,
            }}),
            _ => json!({ "hookSpecificOutput": call_decision }),
        })
    }
}

/// Returns the decision for the response; `None` if it is left to the agent.
fn response_decision(decided: &Decided, action: &Action) -> Option<Decision> {
    let is_answered = match decided.decision {
        Decision::Deny => true,
        Decision::Ask => matches!(decided.by, DecidedBy::Rule { .. }),
        // The agent decides which files may be read without asking.
        Decision::Allow => {
            let is_command = matches!(action, Action::Command { .. });
            is_command || !matches!(decided.by, DecidedBy::Builtin { .. })
        }
    };
    is_answered.then_some(decided.decision)
}

/// Returns the reason for the user or the model.
fn reason_text(decided: &Decided) -> String {
    let verb = match decided.decision {
        Decision::Allow => "allowed",
        Decision::Ask => "flagged for approval",
        Decision::Deny => "denied",
    };
    let why = match &decided.by {
        DecidedBy::Rule { rule, source, .. } => format!("{verb} by the rule `{rule}` of {source}"),
        DecidedBy::Mode { mode } => format!("{verb} in the mode `{}`", mode.name()),
        DecidedBy::Builtin {
            builtin: BuiltinRule::ReadOnly,
        } => return "it only reads".to_owned(),
        DecidedBy::Builtin { builtin } => format!("{verb}, since it {}", builtin.effect()),
        DecidedBy::Default { .. } | DecidedBy::Hook { .. } | DecidedBy::Prompt { .. } => {
            "no rule allows it".to_owned()
        }
    };
    let mut parts = decided.parts.iter();
    let deciding = parts.find(|part| part.decision == decided.decision && part.by == decided.by);
    match deciding {
        Some(part) => format!("`{}`: {why}", part.command),
        None => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(event: &str, more: &Value) -> AgentHookInput {
        let mut input = json!({
            "hook_event_name": event, "tool_name": "Bash", "tool_input": {"command": "ls"},
            "cwd": "/",
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            input[name] = value.clone();
        }
        AgentHookInput::parse(&input.to_string(), Path::new("/")).unwrap()
    }

    #[test]
    fn each_agent_gets_responses_that_it_understands() {
        let codex = json!({"turn_id": "1"});
        let responses = |event, more: &Value| {
            [Decision::Allow, Decision::Ask, Decision::Deny].map(|decision| {
                let response = input(event, more).decision_response(decision, "why");
                response.is_some()
            })
        };
        assert_eq!(responses("PreToolUse", &Value::Null), [true, true, true]);
        assert_eq!(responses("PreToolUse", &codex), [false, false, true]);
        assert_eq!(responses("BeforeTool", &Value::Null), [true, false, true]);
        assert_eq!(responses("preToolUse", &Value::Null), [true, true, true]);
        assert_eq!(responses("PermissionRequest", &codex), [true, false, true]);
    }

    #[test]
    fn only_the_plan_mode_of_an_agent_counts() {
        let mode = |mode| input("PreToolUse", &json!({"permission_mode": mode})).mode();
        assert_eq!(mode("plan"), Some(Mode::Plan));
        assert_eq!(mode("bypassPermissions"), Some(Mode::Default));
        assert_eq!(mode("other"), Some(Mode::Default));
        assert_eq!(input("PreToolUse", &Value::Null).mode(), None);
    }
}
