//! A permission rule.

use std::sync::Arc;

use serde_json::Value;

use super::call::ParsedCall;
use super::command::Command;
use super::command_pattern::CommandPattern;
use super::domain::DomainPattern;
use super::effects::Effects;
use super::path_context::{PathContext, ResolvedPath};
use super::path_pattern::{PathPattern, RuleSource};
use super::pattern::Pattern;
use super::tool_name::{ToolName, canonical_tool};
use super::{Action, Behavior, Request};
use turnpipe_core::tool_facts::{Purpose, is_known, similar_tool, subagent_or_skill_name};

/// A permission rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The source text.
    pub text: String,
    /// The decision on matching calls.
    pub behavior: Behavior,
    /// The source, for messages and relative paths.
    pub source: Arc<RuleSource>,
    pub(super) tool: ToolName,
    pub(super) specifier: Specifier,
    /// The arguments of which a call must have at least one: the name of the agent or skill, and `name:value`.
    pub(super) arguments: Vec<Argument>,
}

/// The calls of a tool that a rule is about.
#[derive(Debug, Clone)]
pub(super) enum Specifier {
    /// All calls.
    Any,
    /// `Bash(…)`.
    Command(CommandPattern),
    /// `Read(…)` and `Edit(…)`.
    Files(FileUse, PathPattern),
    /// `WebFetch(…)`.
    Domain(DomainPattern),
    /// Access to files outside the working directories.
    Outside(OutsideAccess),
    /// Calls with one of the arguments of the rule.
    Argument,
    /// No calls: the specifier has a form that no call of the tool matches.
    Nothing,
}

/// The use of files that a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Reading. A rule that denies reading also denies changing.
    Reading,
    /// Changing.
    Changing,
}

/// Access to files outside the working directories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutsideAccess {
    /// Reading by tools.
    Reading,
    /// Changing by tools.
    Writing,
    /// Commands with a word that may name a file outside the working directories.
    Command,
}

/// An argument of a call that a rule is about.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// The name of the argument; `None` for the argument that names the agent or skill to start.
    pub(super) name: Option<String>,
    pub(super) value: Pattern,
}

impl Rule {
    /// Creates the rule of a setting for files outside the working directories. `text` is the setting.
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

    /// Whether a call matches or may match. A command line matches if one of its commands does.
    pub fn matches(&self, request: &Request<'_>) -> bool {
        let context = PathContext::new(request);
        let call = ParsedCall::new(&context);
        let is_unclear = |command: &Command<'_>| {
            !command.is_parsed() || self.may_restrict_evaluated(command, |_| false)
        };
        call.commands().iter().any(is_unclear) || self.restricts(&call)
    }

    /// Whether it matches a call, one of its commands or one of its effects.
    pub(super) fn restricts(&self, call: &ParsedCall<'_>) -> bool {
        let mut commands = call.commands().iter();
        self.is_about(call.context.request)
            || self.may_match_unknown_target(call.context.request)
            || commands.any(|command| self.restricts_command(command))
            || self.restricts_effects(&call.effects, call.context)
    }

    /// Whether it matches a call regardless of its effects.
    pub(super) fn is_about(&self, request: &Request<'_>) -> bool {
        let mut arguments = self.arguments.iter();
        (matches!(self.specifier, Specifier::Any)
            || arguments.any(|argument| self.has_argument(argument, request)))
            && (self.tool.covers(canonical_tool(request.tool)) || self.is_about_server(request))
    }

    /// Whether a call has an argument. A call that names no agent or skill has it for a deny or ask rule without other
    /// arguments, since it may start any.
    fn has_argument(&self, argument: &Argument, request: &Request<'_>) -> bool {
        let Some(name) = &argument.name else {
            let covers_unnamed = self.behavior != Behavior::Allow && self.arguments.len() == 1;
            let target = subagent_or_skill_name(request.tool, request.input);
            return target.map_or(covers_unnamed, |name| argument.value.covers(name));
        };
        match request.input.get(name) {
            Some(Value::String(text)) => argument.value.covers(text),
            Some(value @ (Value::Number(_) | Value::Bool(_))) => {
                argument.value.covers(&value.to_string())
            }
            _ => false,
        }
    }

    /// Whether it matches a call that reads a resource of an MCP server, or a call of an MCP tool as Cursor names it. A
    /// call that names no server may use any; only deny and ask rules match it.
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

    /// Whether it matches a command or one of its effects.
    pub(super) fn restricts_command(&self, command: &Command<'_>) -> bool {
        match &self.specifier {
            Specifier::Command(pattern) => command.matches(pattern),
            Specifier::Any => {
                self.tool.names("Edit") && command.effects().writes().next().is_some()
            }
            Specifier::Outside(access) => {
                *access == OutsideAccess::Command && command.names_outside()
            }
            _ => self.restricts_effects(command.effects(), command.context),
        }
    }

    /// Whether it matches one of the effects. A rule about reading also matches writing.
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

    /// Whether it may match a program that is known only at run time, or a text that a command evaluates: one known
    /// only at run time, or one that mentions the rule. Texts of programs that satisfy `is_trusted` do not count.
    pub(super) fn may_restrict_evaluated(
        &self,
        command: &Command<'_>,
        is_trusted: impl Fn(&str) -> bool,
    ) -> bool {
        match &self.specifier {
            Specifier::Command(pattern) => {
                command.may_run_unknown_program() || command.may_evaluate_match(pattern, is_trusted)
            }
            Specifier::Files(_, pattern) => {
                !command.context.request.masks_files && command.evaluates_file_name(pattern)
            }
            _ => false,
        }
    }

    /// Whether it is about commands that start with the program.
    pub(super) fn is_for(&self, program: &str) -> bool {
        matches!(&self.specifier, Specifier::Command(pattern) if pattern.is_for(program))
    }

    /// Whether it may match a call whose arguments were not understood, so that its target is unknown.
    fn may_match_unknown_target(&self, request: &Request<'_>) -> bool {
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

    /// Whether it covers changing a file.
    pub(super) fn allows_writing(&self, path: &ResolvedPath, context: &PathContext<'_>) -> bool {
        match &self.specifier {
            Specifier::Files(FileUse::Changing, pattern) => pattern.allows(path, context),
            Specifier::Any => self.tool.names("Edit"),
            _ => false,
        }
    }

    /// Whether it covers a command without its redirections.
    pub(super) fn allows_command(&self, command: &Command<'_>) -> bool {
        matches!(&self.specifier, Specifier::Command(pattern) if command.allowable.matches(pattern))
    }

    /// Whether its specifier is about files.
    pub(super) fn is_about_files(&self) -> bool {
        matches!(self.specifier, Specifier::Files(..) | Specifier::Outside(_))
    }

    /// Returns a warning if the rule can have no effect. `has_tool` is true of tools that are not those of a coding
    /// agent.
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
