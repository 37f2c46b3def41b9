//! The text of a rule, such as `Bash(npm run *)`.

use std::sync::Arc;

use super::Behavior;
use super::command_pattern::CommandPattern;
use super::domain::DomainPattern;
use super::path_pattern::{PathPattern, RuleSource};
use super::pattern::Pattern;
use super::rule::{Argument, FileUse, Rule, Specifier};
use super::tool_name::{ToolName, canonical_tool};
use crate::shell::{CommandPart, is_identifier, is_one_of, parse};
use turnpipe_core::tool_facts::Purpose;

/// The text of a rule is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: `{text}` is not a permission rule: {problem}")]
pub struct InvalidRule {
    source_name: String,
    text: String,
    problem: String,
}

impl Rule {
    /// Parses a rule such as `Bash(npm run *)`.
    ///
    /// # Errors
    /// The rule is malformed.
    pub fn parse(
        text: &str,
        behavior: Behavior,
        source: &Arc<RuleSource>,
    ) -> Result<Self, InvalidRule> {
        let invalid = |problem: String| InvalidRule {
            source_name: source.name.clone(),
            text: text.to_owned(),
            problem,
        };
        let (name, specifier) =
            split_rule(text.trim()).map_err(|problem| invalid(problem.to_owned()))?;
        if behavior == Behavior::Allow && name.contains('*') && !starts_with_server(name) {
            let problem = "an allow rule can have `*` in the tool name only after `mcp__SERVER__`";
            return Err(invalid(problem.to_owned()));
        }
        let parse_path = |pattern| PathPattern::parse(pattern, behavior, source).map_err(invalid);
        let argument = (behavior != Behavior::Allow).then(|| parse_argument(&specifier));
        let mut arguments: Vec<Argument> = argument.flatten().into_iter().collect();
        let tool = canonical_tool(name);
        let specifier = match (tool, specifier.as_str()) {
            (_, "" | "*") => Specifier::Any,
            ("Bash", pattern) if behavior == Behavior::Allow && has_several_commands(pattern) => {
                Specifier::Nothing
            }
            ("Bash", pattern) => Specifier::Command(CommandPattern::parse(pattern)),
            ("Read", pattern) => Specifier::Files(FileUse::Reading, parse_path(pattern)?),
            ("Edit", pattern) => Specifier::Files(FileUse::Changing, parse_path(pattern)?),
            ("WebFetch", pattern) => {
                let host = pattern.strip_prefix("domain:").unwrap_or(pattern);
                DomainPattern::parse(host.trim()).map_or(Specifier::Nothing, Specifier::Domain)
            }
            (_, pattern) if Purpose::from_tool(tool).has_named_target() => {
                arguments.push(Argument {
                    name: None,
                    value: Pattern::from_text(pattern.trim_start_matches('/')),
                });
                Specifier::Argument
            }
            _ if !arguments.is_empty() => Specifier::Argument,
            _ => Specifier::Nothing,
        };
        Ok(Self {
            text: text.trim().to_owned(),
            behavior,
            source: Arc::clone(source),
            tool: ToolName::parse(tool),
            arguments,
            specifier,
        })
    }
}

/// Splits a rule into the name of the tool and the specifier, which may be empty.
///
/// # Errors
/// The reason why the rule is invalid.
fn split_rule(text: &str) -> Result<(&str, String), &'static str> {
    let (name, rest) = text.split_at(text.find('(').unwrap_or(text.len()));
    if name.is_empty()
        || name.contains(|character: char| character.is_whitespace() || character == ')')
    {
        return Err("it does not start with a tool name");
    }
    let Some(inside) = rest.strip_prefix('(') else {
        return Ok((name, String::new()));
    };
    let specifier = inside
        .strip_suffix(')')
        .filter(|inside| !inside.ends_with('\\') || inside.ends_with("\\\\"))
        .ok_or("it does not end with the closing parenthesis")?;
    let unescaped = specifier.trim().replace("\\(", "(").replace("\\)", ")");
    Ok((name, unescaped))
}

/// Whether the name of a tool starts with `mcp__SERVER__` before its first star.
fn starts_with_server(name: &str) -> bool {
    let (literal, _) = name.split_once('*').unwrap_or((name, ""));
    let server = literal
        .strip_prefix("mcp__")
        .and_then(|rest| rest.split_once("__"));
    server.is_some_and(|(server, _)| !server.is_empty())
}

/// Whether the part of a command pattern before its first star has more than one command.
fn has_several_commands(pattern: &str) -> bool {
    let literal = pattern.split('*').next().unwrap_or_default();
    if !literal.contains([';', '&', '|', '\n', '(']) {
        return false;
    }
    let commands = parse(literal).commands;
    let is_outer = |command: &&CommandPart| !command.context.is_substituted;
    commands.iter().filter(is_outer).count() > 1
}

/// Parses a specifier `name:value`; `None` for the arguments of commands, paths and URLs, which have rules of their
/// own.
fn parse_argument(specifier: &str) -> Option<Argument> {
    let (name, value) = specifier.split_once(':')?;
    let has_own_rules = is_one_of("command file_path path notebook_path url", name);
    (is_identifier(name) && !has_own_rules).then(|| Argument {
        name: Some(name.to_owned()),
        value: Pattern::from_text(value.trim()),
    })
}
