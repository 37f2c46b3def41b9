//! The effects of a call of any agent, for permission rules.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::bash::assess;
use super::paths::absolute_path;
use super::{DecisionContext, Input, Registry};
use crate::permission::Action;
use crate::shell::{CommandLine, analyse};
use crate::tool_facts::{
    AgentTool, Parameter, Purpose, agent_tool, command_line, has_unclear_names, parameters,
    possible_patch_files, texts, without_namespace, wrap_in_directory,
};

/// Special characters of globs, including extended globs.
const GLOB_CHARACTERS: &[char] = &[
    '*', '?', '[', ']', '{', '}', '(', ')', '!', '+', '@', '|', '\\',
];

/// A call that permission rules decide on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedCall {
    /// The name of the tool, not an alias.
    pub tool: String,
    /// The arguments, with the field names of the tool.
    pub input: Input,
    /// The effects of the call.
    pub action: Action,
}

impl Registry {
    /// Returns a call of a tool of any agent for a decision. The effects of a call that cannot run here, because its
    /// tool is unknown or its input is that of another agent, are derived from its arguments.
    pub fn asked_call(&self, name: &str, input: &Input, context: &DecisionContext) -> AskedCall {
        let named = agent_tool(without_namespace(name));
        let Ok(resolved) = self.resolve(name, input.clone()) else {
            return AskedCall {
                tool: named.map_or(name, |named| named.name).to_owned(),
                action: named.map_or(Action::Anything, |named| {
                    derive_action(named, input, context)
                }),
                input: input.clone(),
            };
        };
        let tool = resolved.tool.name();
        // A tool of a manifest may have the name of another agent's tool.
        let is_own = |known: &AgentTool| known.name == tool && self.has_builtin(tool);
        let is_patch = |known: &AgentTool| known.purpose == Purpose::Patch && !self.has(name);
        let known = named.filter(|named| is_own(named) || is_patch(named));
        let action = match known {
            // The other agent may read or change files that the built-in tool ignores.
            Some(known)
                if known.purpose.is_about_named_files() || has_foreign_options(known, input) =>
            {
                derive_action(known, input, context)
            }
            _ => match resolved.tool.prepare(&resolved.input) {
                Ok(call) => call.assess(context).action,
                Err(_) => known.map_or(Action::Anything, |known| {
                    derive_action(known, input, context)
                }),
            },
        };
        AskedCall {
            tool: known.map_or(tool, |known| known.name).to_owned(),
            input: resolved.input,
            action,
        }
    }
}

/// Whether the other agent may run the call elsewhere, or with another program, than the built-in tool.
fn has_foreign_options(tool: AgentTool, input: &Input) -> bool {
    let is_given = |name: &&str| input.get(*name).is_some_and(|value| !value.is_null());
    let commands = parameters(Parameter::Command)
        .iter()
        .filter(|name| is_given(name));
    let mut directories = parameters(Parameter::Directory).iter();
    match tool.purpose {
        _ if has_unclear_names(input) => true,
        Purpose::Shell => {
            let is_set = is_given(&"shell") || directories.any(is_given);
            commands.count() > 1 || is_set || has_terminal(input)
        }
        Purpose::Find => input
            .values()
            .any(|value| value.as_str().is_some_and(|text| text.contains(".."))),
        _ => false,
    }
}

/// Whether a command gets a terminal, in which a pager runs commands that the model types.
fn has_terminal(input: &Input) -> bool {
    let mut names = parameters(Parameter::Terminal).iter();
    names.any(|name| input.get(*name) == Some(&Value::Bool(true)))
}

/// Derives the effects of a call from its arguments alone, in any form that an agent accepts.
fn derive_action(tool: AgentTool, input: &Input, context: &DecisionContext) -> Action {
    let opaque_command = |script: String| Action::Command {
        // Another shell parses the command, or another program adds to it.
        line: Arc::new(CommandLine::parse_uncertain(&script)),
        script,
        only_reads: false,
        is_ambiguous: true,
    };
    let action = match tool.purpose {
        _ if has_unclear_names(input) => None,
        Purpose::Shell if tool.name == "PowerShell" => {
            parse_command_lines(input).map(|(script, _)| opaque_command(script))
        }
        Purpose::Shell => {
            let shell = input.get("shell").and_then(Value::as_str);
            let is_other = shell.is_some_and(|shell| !shell.ends_with("bash"));
            let other = is_other.then(|| context.with_any_shell());
            let context = other.as_ref().unwrap_or(context);
            parse_command_lines(input).map(|(script, others)| {
                if !others.is_empty() {
                    return opaque_command([vec![script], others].concat().join("\n"));
                }
                let mut action = assess(&script, &analyse(&script), context).action;
                if let Action::Command { only_reads, .. } = &mut action {
                    *only_reads &= !has_terminal(input);
                }
                action
            })
        }
        Purpose::Background => texts(input, Parameter::Stdin).map(|text| match text.concat() {
            text if text.is_empty() => Action::Harmless,
            text => opaque_command(text),
        }),
        Purpose::Fetch => {
            let urls = texts(input, Parameter::Url).map(<[&str; 1]>::try_from);
            urls.and_then(Result::ok).map(|[url]| Action::Fetch {
                url: url.to_owned(),
            })
        }
        purpose if purpose.reads_files() || purpose.writes_files() => {
            build_file_action(purpose, input, context)
        }
        Purpose::StopBackground
        | Purpose::Todo
        | Purpose::TaskCreate
        | Purpose::TaskUpdate
        | Purpose::TaskList
        | Purpose::TaskGet
        | Purpose::ToolSearch => Some(Action::Harmless),
        _ => None,
    };
    action.unwrap_or(Action::Anything)
}

/// Parses the command lines of a call, with its directories, and the texts of other fields, which may change what runs.
fn parse_command_lines(input: &Input) -> Option<(String, Vec<String>)> {
    let known = [
        Parameter::Command,
        Parameter::Directory,
        Parameter::Terminal,
        Parameter::Harmless,
    ]
    .map(parameters);
    let is_known = |name: &str| name == "shell" || known.iter().any(|names| names.contains(&name));
    let is_harmless = |name: &str| parameters(Parameter::Harmless).contains(&name);
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    };
    let others = |input: &Input, is_skipped: &dyn Fn(&str) -> bool| {
        let others = input.iter().filter(|(name, _)| !is_skipped(name));
        let present = others.filter(|(_, value)| !is_empty(value));
        present
            .map(|(_, value)| join_texts(value))
            .collect::<Vec<_>>()
    };
    // `local_shell` has its arguments in an object. An agent may also read arguments outside the object.
    let Some(inner) = input.get("action").and_then(Value::as_object) else {
        return Some((build_command_line(input)?, others(input, &is_known)));
    };
    let outer = others(input, &|name| name == "action" || is_harmless(name));
    let others = [outer, others(inner, &is_known)].concat();
    let has_command = |input: &&Input| {
        let mut names = parameters(Parameter::Command).iter();
        names.any(|name| input.contains_key(*name))
    };
    let lines = [input, inner]
        .into_iter()
        .filter(has_command)
        .map(build_command_line);
    let lines: Vec<String> = lines.collect::<Option<_>>()?;
    (!lines.is_empty()).then(|| (lines.join("\n"), others))
}

/// Returns the texts in a value, separated by spaces.
fn join_texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(join_texts).collect::<Vec<_>>().join(" "),
        Value::Object(members) => members
            .values()
            .map(join_texts)
            .collect::<Vec<_>>()
            .join(" "),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// Builds the command line of the arguments of a call; `None` if agents may run different ones.
fn build_command_line(input: &Input) -> Option<String> {
    let values_of = |parameter| {
        let names = parameters(parameter).iter();
        names.filter_map(|name| input.get(*name).filter(|value| !value.is_null()))
    };
    let mut commands = values_of(Parameter::Command);
    let (command, None) = (commands.next()?, commands.next()) else {
        return None;
    };
    let mut line = command_line(command)?;
    match input.get("shell") {
        None | Some(Value::Null) => {}
        Some(Value::String(shell)) if is_usual_shell(shell) => {}
        Some(Value::String(shell)) => {
            line = shlex::try_join([shell.as_str(), "-c", &line]).ok()?;
        }
        Some(_) => return None,
    }
    let mut directories = values_of(Parameter::Directory).filter(|directory| *directory != "");
    match directories.next() {
        // Of several parameters, agents read different ones.
        Some(first) if directories.any(|other| other != first) => None,
        Some(directory) => wrap_in_directory(directory, &line),
        None => Some(line),
    }
}

/// Whether a program is a shell of the system.
fn is_usual_shell(program: &str) -> bool {
    let name = program.strip_prefix("/usr").unwrap_or(program);
    let name = name.strip_prefix("/bin/").unwrap_or(name);
    matches!(name, "bash" | "sh" | "zsh" | "dash")
}

/// Returns the files and trees that a call names, with a NUL character for the variable part of a glob. `None`
/// if it names none, or in an unexpected form.
fn build_file_action(purpose: Purpose, input: &Input, context: &DecisionContext) -> Option<Action> {
    let path_texts = texts(input, Parameter::Path)?.into_iter();
    let mut paths: Vec<String> = path_texts.flat_map(path_variants).collect();
    if purpose == Purpose::Patch {
        let patches = texts(input, Parameter::Patch)?.into_iter();
        paths.extend(patches.flat_map(possible_patch_files).map(str::to_owned));
    }
    if purpose == Purpose::ReadMany {
        let globs = texts(input, Parameter::Glob)?;
        paths = paths
            .iter()
            .map(String::as_str)
            .chain(globs)
            .map(outline_glob)
            .collect();
    } else if purpose.reads_files() && purpose != Purpose::Read && paths.is_empty() {
        paths.push(".".to_owned());
    }
    let mut files: Vec<PathBuf> = paths
        .iter()
        .map(|path| absolute_path(path, context))
        .collect();
    if purpose == Purpose::Search {
        for filter in texts(input, Parameter::Filter)? {
            let names = filter
                .split([',', ' ', '{', '}'])
                .filter_map(file_name_in_filter);
            let roots = paths.iter().map(|tree| absolute_path(tree, context));
            let trees: Vec<PathBuf> = roots.collect();
            files.extend(names.flat_map(|name| trees.iter().map(move |tree| tree.join(&name))));
        }
    }
    // The kernel follows links before `..`.
    let upward = paths.iter().filter(|path| path.contains(".."));
    files.extend(upward.map(|path| context.directory.join(path)));
    files.dedup();
    let (reads, writes) = match purpose.writes_files() {
        _ if files.is_empty() => return None,
        true => (Vec::new(), files),
        false => (files, Vec::new()),
    };
    Some(Action::Files { reads, writes })
}

/// Returns the files that a path may name: pi removes a leading `@` and treats all blanks as spaces.
fn path_variants(path: &str) -> [String; 2] {
    let unmarked = path.strip_prefix('@').unwrap_or(path);
    let plain = unmarked.strip_prefix("file://").unwrap_or(unmarked);
    let to_space = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
    [path.to_owned(), plain.chars().map(to_space).collect()]
}

/// Replaces everything from the first to the last special character of a glob with a NUL character.
fn outline_glob(glob: &str) -> String {
    let (Some(start), Some(end)) = (glob.find(GLOB_CHARACTERS), glob.rfind(GLOB_CHARACTERS)) else {
        return glob.to_owned();
    };
    format!("{}\0{}", &glob[..start], &glob[end + 1..])
}

/// Returns the file name of a filter such as `.env*`. A filter such as `*.rs` means a file named `.rs`, and
/// one such as `.e*` any hidden file with that beginning.
fn file_name_in_filter(filter: &str) -> Option<String> {
    let name = filter.trim_start_matches(['*', '/']);
    let plain = name.trim_end_matches('*');
    if name.starts_with('.') && name.contains(GLOB_CHARACTERS) {
        return Some(outline_glob(name));
    }
    (!plain.is_empty() && !plain.contains(GLOB_CHARACTERS)).then(|| plain.to_owned())
}
