//! A permission rule.

use std::sync::Arc;

use serde_json::Value;

use super::call::ParsedCall;
use super::command::Command;
use super::command_pattern::{CommandPattern, ToolName, canonical_tool};
use super::domain::DomainPattern;
use super::effects::Effects;
use super::path_context::{PathContext, ResolvedPath};
use super::path_pattern::{PathPattern, RuleSource};
use super::pattern::Pattern;
use super::{Action, Behavior, Request};
use turnpipe_core::tool_facts::{Purpose, is_known, similar_tool, subagent_or_skill_name};

/// One rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The source text.
    pub text: String,
    /// Its effect on matching calls.
    pub behavior: Behavior,
    /// Its source.
    pub source: Arc<RuleSource>,
    pub(super) tool: ToolName,
    pub(super) specifier: Specifier,
    /// Arguments of which calls must have one: the name of the agent or skill, and one in a specifier `name:value`.
    pub(super) arguments: Vec<Argument>,
}

/// The calls of a tool that a rule matches.
#[derive(Debug, Clone)]
pub(super) enum Specifier {
    /// All calls.
    Any,
    /// `Bash(…)`
    Command(CommandPattern),
    /// `Read(…)` and `Edit(…)`
    Files(FileUse, PathPattern),
    /// `WebFetch(…)`
    Domain(DomainPattern),
    /// Access to files outside the working directories.
    Outside(OutsideAccess),
    /// Calls with an argument.
    Argument,
    /// No calls: a call of the tool has nothing in this form.
    Nothing,
}

/// The use of a file that a rule denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Reading it, and changing it.
    Reading,
    /// Changing it.
    Changing,
}

/// Access to files outside the working directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideAccess {
    /// Tools that read files.
    Reading,
    /// Tools that change files.
    Writing,
    /// Commands with a word that may name such a file.
    Command,
}

/// An argument that a call must have.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// `None` is the name of the agent or skill that the call starts.
    pub(super) name: Option<String>,
    pub(super) value: Pattern,
}

impl Rule {
    /// Returns the rule of a setting, `text`, for files outside the working directories.
    pub fn outside(
        text: &str,
        access: OutsideAccess,
        behavior: Behavior,
        source: &Arc<RuleSource>,
    ) -> Self {
        Self {
            text: text.to_owned(),
            behavior,
            source: Arc::clone(source),
            tool: ToolName::parse("Read"),
            arguments: Vec::new(),
            specifier: Specifier::Outside(access),
        }
    }

    /// Whether a call matches or may match. A command line matches if any of its commands does.
    pub fn matches(&self, request: &Request<'_>) -> bool {
        let context = PathContext::new(request);
        let call = ParsedCall::new(&context);
        let is_unclear = |command: &Command<'_>| {
            !command.is_understood() || self.may_restrict_evaluated(command, |_| false)
        };
        call.commands().iter().any(is_unclear) || self.restricts(&call)
    }

    /// Whether it restricts a call or a part of it.
    pub(super) fn restricts(&self, call: &ParsedCall<'_>) -> bool {
        let mut commands = call.commands().iter();
        self.is_about(call.context.request)
            || self.may_be_about_unknown(call.context.request)
            || commands.any(|command| self.restricts_command(command))
            || self.restricts_effects(&call.effects, call.context)
    }

    /// Whether it matches a call regardless of its effects.
    pub(super) fn is_about(&self, request: &Request<'_>) -> bool {
        let mut arguments = self.arguments.iter();
        (matches!(self.specifier, Specifier::Any)
            || arguments.any(|argument| self.is_given(argument, request)))
            && (self.tool.covers(canonical_tool(request.tool)) || self.is_about_server(request))
    }

    /// Whether a call has an argument. A call that names no agent or skill may start any.
    fn is_given(&self, argument: &Argument, request: &Request<'_>) -> bool {
        let Some(name) = &argument.name else {
            let may_be_any = self.behavior != Behavior::Allow && self.arguments.len() == 1;
            let started = subagent_or_skill_name(request.tool, request.input);
            return started.map_or(may_be_any, |name| argument.value.covers(name));
        };
        match request.input.get(name) {
            Some(Value::String(text)) => argument.value.covers(text),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                argument.value.covers(&value.to_string())
            }
            _ => false,
        }
    }

    /// Whether it matches a call that reads resources of an MCP server, or a call of one of its tools as Cursor names
    /// it. If it names no server, it may be any.
    fn is_about_server(&self, request: &Request<'_>) -> bool {
        let (server, tool) = match request.tool.strip_prefix("MCP:") {
            Some(tool) => (None, tool),
            None if Purpose::from_tool(request.tool) == Purpose::McpResource => {
                (request.input.get("server").and_then(Value::as_str), "")
            }
            None => return false,
        };
        (server.is_some() || self.behavior != Behavior::Allow) && self.tool.covers_on(server, tool)
    }

    /// Whether it is about a host that a call connects to.
    pub(super) fn is_about_host(&self, effects: &Effects) -> bool {
        let Specifier::Domain(domain) = &self.specifier else {
            return false;
        };
        effects.hosts.iter().any(|host| domain.covers(host))
    }

    pub(super) fn restricts_command(&self, command: &Command<'_>) -> bool {
        match &self.specifier {
            Specifier::Command(pattern) => command.runs(pattern),
            Specifier::Any => self.tool.is("Edit") && command.effects().writes().next().is_some(),
            Specifier::Outside(access) => {
                *access == OutsideAccess::Command && command.names_outside()
            }
            _ => self.restricts_effects(command.effects(), command.context),
        }
    }

    /// Whether it is about a file or a host. A rule that denies reading also denies writing.
    pub(super) fn restricts_effects(&self, effects: &Effects, context: &PathContext<'_>) -> bool {
        let is_outside = |file: &ResolvedPath| !context.is_inside(file);
        let mut reads = effects.reads.iter();
        let mut writes = effects.writes();
        match &self.specifier {
            Specifier::Files(FileUse::Reading, pattern) => reads
                .chain(writes)
                .any(|file| pattern.restricts(file, context)),
            Specifier::Files(FileUse::Changing, pattern) => {
                writes.any(|file| pattern.restricts(file, context))
            }
            Specifier::Outside(OutsideAccess::Reading) => reads.any(is_outside),
            Specifier::Outside(OutsideAccess::Writing) => writes.any(is_outside),
            Specifier::Domain(_) => self.is_about_host(effects),
            _ => false,
        }
    }

    /// Whether it may restrict what a command evaluates: a program known only at run time, a text that is not literal,
    /// or one that mentions it. `is_trusted` knows the programs whose text an allow rule trusts.
    pub(super) fn may_restrict_evaluated(
        &self,
        command: &Command<'_>,
        is_trusted: impl Fn(&str) -> bool,
    ) -> bool {
        match &self.specifier {
            Specifier::Command(pattern) => {
                command.runs_unknown() || command.evaluates(pattern, is_trusted)
            }
            Specifier::Files(_, pattern) => {
                !command.context.request.masks_files && command.evaluates_name(pattern)
            }
            _ => false,
        }
    }

    /// Whether it is about the commands of an interpreter.
    pub(super) fn starts(&self, program: &str) -> bool {
        matches!(&self.specifier, Specifier::Command(pattern) if pattern.starts(program))
    }

    /// Whether it matches the tool, in a call whose arguments do not name its target.
    fn may_be_about_unknown(&self, request: &Request<'_>) -> bool {
        let purpose = Purpose::from_tool(request.tool);
        let is_command = purpose == Purpose::Shell;
        *request.action == Action::Anything
            && match self.specifier {
                Specifier::Command(_) => is_command,
                Specifier::Files(FileUse::Reading, _)
                | Specifier::Outside(OutsideAccess::Reading) => {
                    is_command || purpose.reads_files() || purpose.writes_files()
                }
                Specifier::Files(FileUse::Changing, _)
                | Specifier::Outside(OutsideAccess::Writing) => {
                    is_command || purpose.writes_files()
                }
                Specifier::Domain(_) => purpose == Purpose::Fetch,
                _ => false,
            }
    }

    /// Whether it allows changing a file.
    pub(super) fn allows_writing(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        match &self.specifier {
            Specifier::Files(FileUse::Changing, pattern) => pattern.allows(path, context),
            Specifier::Any => self.tool.is("Edit"),
            _ => false,
        }
    }

    /// Whether it allows a command without its redirections.
    pub(super) fn allows_command(&self, command: &Command<'_>) -> bool {
        matches!(&self.specifier, Specifier::Command(pattern) if command.allowable.is(pattern))
    }

    /// Whether it is a deny rule on files.
    pub(super) fn denies_files(&self) -> bool {
        matches!(self.specifier, Specifier::Files(..) | Specifier::Outside(_))
    }

    /// Returns a warning about a well-formed rule that can have no effect. `has_tool` knows the names of further
    /// tools.
    pub(super) fn warning(&self, has_tool: &dyn Fn(&str) -> bool) -> Option<String> {
        let problem = match (&self.tool, &self.specifier) {
            (ToolName::Exact(name), _) if !is_known(name) && !has_tool(name) => {
                let similar = similar_tool(name);
                let hint = similar.map(|similar| format!("; did you mean `{similar}`?"));
                format!("names an unknown tool{}", hint.unwrap_or_default())
            }
            (_, Specifier::Nothing) => "never matches; the commands of a line are matched one by \
                one, paths by `Read(…)` and `Edit(…)`, hosts by `WebFetch(domain:…)`, and \
                arguments by rules that deny or ask"
                .to_owned(),
            _ => return None,
        };
        let Self { source, text, .. } = self;
        Some(format!("{}: the rule `{text}` {problem}", source.name))
    }
}
