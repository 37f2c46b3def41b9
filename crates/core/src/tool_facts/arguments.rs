//! Rewrites arguments of other agents' tools for built-in tools, by the `run` rows of `tools.txt`.
//!
//! The result is checked against the tool's schema later, like any call.

use serde_json::{Map, Number, Value, json};

use super::rows::rows;
use super::table::agent_tool;

/// Prefixes that some models put before a tool's name.
const NAMESPACES: &[&str] = &["functions.", "default_api.", "default_api:"];

/// Removes a namespace before a name.
pub fn without_namespace(name: &str) -> &str {
    NAMESPACES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// A tool of another agent that a built-in tool can run.
#[derive(Debug)]
pub struct Alias {
    name: &'static str,
    /// The built-in tool.
    pub tool: &'static str,
    /// Applied to the arguments in this order. Other fields do not change.
    steps: Vec<Step>,
}

/// One step of rewriting arguments, in the syntax of `tools.txt`.
#[derive(Debug)]
enum Step {
    /// `from=to`. An error if both are present with different values.
    Rename(&'static str, &'static str),
    /// `-field`
    Drop(&'static str),
    /// `field:conversion`
    Convert(&'static str, Conversion),
    /// `field?=text`
    Default(&'static str, &'static str),
    /// `directory@command`
    RunIn(&'static str, &'static str),
}

#[derive(Debug, Clone, Copy)]
enum Conversion {
    /// A line number counted from 0 becomes one counted from 1.
    OneBased,
    /// A list of words becomes a command line (`["bash", "-lc", S]` becomes `S`); a string is not changed.
    CommandLine,
    /// The expected number of replacements becomes a flag for more than one.
    ReplaceAll,
    /// Entries of a to-do list get the fields of `TodoWrite` and lose all others.
    TodoItems,
}

/// Returns the alias with this name, in any letter case.
pub fn find_alias(name: &str) -> Option<Alias> {
    alias_rows().find_map(|(names, steps)| {
        let name = names
            .split(',')
            .find(|known| known.eq_ignore_ascii_case(name))?;
        Some(Alias {
            name,
            tool: agent_tool(name)?.name,
            steps: steps.iter().filter_map(|step| Step::parse(step)).collect(),
        })
    })
}

/// Returns the names and steps of each `run` row of `tools.txt`: the names joined by commas.
pub fn alias_rows() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    rows().filter_map(|row| match row.as_slice() {
        ["run", names, steps @ ..] => Some((*names, steps.to_vec())),
        _ => None,
    })
}

impl Alias {
    /// Returns the arguments under the field names of the built-in tool. Fields that are null count as absent:
    /// models that must fill every field of a schema send null for a missing value.
    ///
    /// # Errors
    /// A value cannot be converted. The message is for the model.
    pub fn rewrite_arguments(
        &self,
        input: Map<String, Value>,
    ) -> Result<Map<String, Value>, String> {
        let mut input: Map<String, Value> = input
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect();
        for step in &self.steps {
            step.apply(&mut input).map_err(|reason| {
                format!("{} cannot be run as {}: {reason}", self.name, self.tool)
            })?;
        }
        Ok(input)
    }
}

impl Step {
    fn parse(text: &'static str) -> Option<Self> {
        if let Some(field) = text.strip_prefix('-') {
            Some(Self::Drop(field))
        } else if let Some((field, value)) = text.split_once("?=") {
            Some(Self::Default(field, value))
        } else if let Some((from, to)) = text.split_once('=') {
            Some(Self::Rename(from, to))
        } else if let Some((directory, command)) = text.split_once('@') {
            Some(Self::RunIn(directory, command))
        } else {
            let (field, conversion) = text.split_once(':')?;
            let conversion = match conversion {
                "one-based" => Conversion::OneBased,
                "command-line" => Conversion::CommandLine,
                "replace-all" => Conversion::ReplaceAll,
                "todo-items" => Conversion::TodoItems,
                _ => return None,
            };
            Some(Self::Convert(field, conversion))
        }
    }

    fn apply(&self, input: &mut Map<String, Value>) -> Result<(), String> {
        match *self {
            Self::Rename(from, to) => {
                if let Some(value) = input.shift_remove(from)
                    && *input.entry(to).or_insert_with(|| value.clone()) != value
                {
                    return Err(format!("`{from}` and `{to}` contradict each other"));
                }
            }
            Self::Drop(field) => {
                input.shift_remove(field);
            }
            Self::Convert(field, conversion) => {
                if let Some(value) = input.get_mut(field) {
                    *value = conversion
                        .apply(value)
                        .ok_or_else(|| format!("`{field}` {}", conversion.expectation()))?;
                }
            }
            Self::Default(field, text) => {
                input.entry(field).or_insert_with(|| text.into());
            }
            Self::RunIn(directory, command) => apply_directory(input, directory, command)?,
        }
        Ok(())
    }
}

impl Conversion {
    fn apply(self, value: &Value) -> Option<Value> {
        match self {
            Self::OneBased => whole_number(value.as_number()?)?
                .checked_add(1)
                .map(Value::from),
            Self::CommandLine => command_line(value).map(Value::from),
            Self::ReplaceAll => match whole_number(value.as_number()?)? {
                0 => None,
                count => Some((count > 1).into()),
            },
            Self::TodoItems => value.as_array()?.iter().map(convert_todo_item).collect(),
        }
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::OneBased => "must be a line number, counted from 0",
            Self::CommandLine => "must be a string, or a list of words without NUL characters",
            Self::ReplaceAll => "must be a number of replacements, at least 1",
            Self::TodoItems => "must be a list of objects with a description and a status",
        }
    }
}

/// Returns a number if it is whole and not negative. `5.0` is whole, as in JSON Schema.
pub fn whole_number(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
        format!("{float:.0}").parse().ok()
    })
}

/// Returns the command line in a string or in a list of words. Only `bash -c` is unwrapped: other shells may
/// read the same string differently.
pub fn command_line(value: &Value) -> Option<String> {
    let words = match value {
        Value::Array(words) => words,
        value => return value.as_str().map(str::to_owned),
    };
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [] => None,
        ["bash" | "/bin/bash" | "/usr/bin/bash", "-c" | "-lc", script] => {
            Some((*script).to_owned())
        }
        words => shlex::try_join(words.iter().copied()).ok(),
    }
}

fn convert_todo_item(item: &Value) -> Option<Value> {
    let item = item.as_object()?;
    let content = first_string_field(item, &["content", "description", "step"])?;
    let status = first_string_field(item, &["status"])?;
    let active_form = first_string_field(item, &["activeForm"]).unwrap_or(content);
    Some(json!({"content": content, "status": status, "activeForm": active_form}))
}

fn first_string_field<'a>(item: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .find_map(|name| item.get(*name))
        .and_then(Value::as_str)
}

fn apply_directory(
    input: &mut Map<String, Value>,
    directory: &str,
    command: &str,
) -> Result<(), String> {
    let Some(path) = input.shift_remove(directory) else {
        return Ok(());
    };
    let original = input.get(command).and_then(Value::as_str);
    let line = wrap_in_directory(&path, original.unwrap_or_default())
        .ok_or_else(|| format!("`{directory}` must be a path"))?;
    // The schema check reports a command that is not a string.
    if let Some(Value::String(command)) = input.get_mut(command) {
        *command = line;
    }
    Ok(())
}

/// Returns a command line that runs another in a directory: in a subshell, so that later calls are not affected,
/// and between line feeds, because the command may end in a comment or a here-document. `None` if the
/// directory is not a string, is empty or contains a NUL byte.
pub fn wrap_in_directory(directory: &Value, line: &str) -> Option<String> {
    let directory = directory.as_str().filter(|directory| !directory.is_empty());
    let quoted = shlex::try_quote(directory?).ok()?;
    Some(format!("(cd -- {quoted} && {{\n{line}\n}})"))
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
