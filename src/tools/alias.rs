//! Names and arguments of other agents' tools, carried over to ours.
//!
//! How a call is rewritten is data (`aliases.txt`); this file only carries it out. Whether the
//! result fits the tool's schema is checked later, as for any call.

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::Input;
use super::builtin::WholeNumber;

const ALIASES: &str = include_str!("aliases.txt");

/// Prefixes that some models put before a tool's name.
const NAMESPACES: &[&str] = &["functions.", "default_api.", "default_api:"];

/// The name without a namespace before it.
pub(super) fn without_namespace(name: &str) -> &str {
    NAMESPACES
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .filter(|rest| !rest.is_empty())
        .unwrap_or(name)
}

/// One foreign name.
#[derive(Debug)]
pub(super) struct Alias {
    /// What the model calls.
    name: &'static str,
    /// Our tool.
    pub(super) tool: &'static str,
    /// What is done to the arguments, in this order. Fields that no step names stay as they are.
    steps: Vec<Step>,
}

/// One step of rewriting arguments, spelled as in `aliases.txt`.
#[derive(Debug)]
enum Step {
    /// `from=to`. Both present with different values: the call cannot be mapped.
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

/// How a value changes.
#[derive(Debug, Clone, Copy)]
enum Conversion {
    /// A line number counted from 0 becomes one counted from 1.
    OneBased,
    /// A list of words becomes a command line (`["bash", "-lc", S]` becomes `S`); a text stays.
    CommandLine,
    /// The number of replacements that are expected becomes whether to replace more than one.
    ReplaceAll,
    /// Entries of a to-do list get the fields that ours have, and lose the others.
    TodoItems,
}

/// The alias of this name.
pub(super) fn alias(name: &str) -> Option<Alias> {
    rows().find_map(|(names, tool, steps)| {
        Some(Alias {
            name: names.split(',').find(|known| *known == name)?,
            tool,
            steps: steps.into_iter().filter_map(Step::parse).collect(),
        })
    })
}

/// Names, tool and steps of each row.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let mut lines = ALIASES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .peekable();
    std::iter::from_fn(move || {
        let mut words = lines.next()?.split(' ');
        let (names, tool) = (words.next()?, words.next()?);
        let mut steps: Vec<&str> = words.collect();
        while let Some(more) = lines.next_if(|line| line.starts_with(' ')) {
            steps.extend(more.split_whitespace());
        }
        Some((names, tool, steps))
    })
}

impl Alias {
    /// The arguments under our tool's field names. Fields that are null count as absent: models
    /// that must fill every field of a foreign schema send null for "left out".
    ///
    /// # Errors
    /// A value cannot be carried over; the text is for the model.
    pub(super) fn map(&self, input: Input) -> Result<Input, String> {
        let mut input: Input = input
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

    fn apply(&self, input: &mut Input) -> Result<(), String> {
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
            Self::RunIn(directory, command) => run_in(input, directory, command)?,
        }
        Ok(())
    }
}

impl Conversion {
    fn apply(self, value: &Value) -> Option<Value> {
        match self {
            Self::OneBased => whole_number(value)?.checked_add(1).map(Value::from),
            Self::CommandLine => command_line(value).map(Value::from),
            Self::ReplaceAll => match whole_number(value)? {
                0 => None,
                count => Some((count > 1).into()),
            },
            Self::TodoItems => value.as_array()?.iter().map(todo_item).collect(),
        }
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::OneBased => "must be a line number, counted from 0",
            Self::CommandLine => "must be a text, or a list of words without NUL characters",
            Self::ReplaceAll => "must be a number of replacements, at least 1",
            Self::TodoItems => "must be a list of objects with a text and a status",
        }
    }
}

fn whole_number(value: &Value) -> Option<u64> {
    WholeNumber::deserialize(value).ok().map(|number| number.0)
}

/// A command line, given as such or as words. Only `bash` is unwrapped: another shell may read the same
/// text differently.
pub(super) fn command_line(value: &Value) -> Option<String> {
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

fn todo_item(item: &Value) -> Option<Value> {
    let item = item.as_object()?;
    let content = text_of(item, &["content", "description", "step"])?;
    let status = text_of(item, &["status"])?;
    let active_form = text_of(item, &["activeForm"]).unwrap_or(content);
    Some(json!({"content": content, "status": status, "activeForm": active_form}))
}

fn text_of<'a>(item: &'a Map<String, Value>, names: &[&str]) -> Option<&'a str> {
    names
        .iter()
        .find_map(|name| item.get(*name))
        .and_then(Value::as_str)
}

fn run_in(input: &mut Input, directory: &str, command: &str) -> Result<(), String> {
    let Some(place) = input.shift_remove(directory) else {
        return Ok(());
    };
    let line = input.get(command).and_then(Value::as_str);
    let line = in_directory(&place, line.unwrap_or_default())
        .ok_or_else(|| format!("`{directory}` must be a path"))?;
    // The schema check says what is wrong with a command that is not a text.
    if let Some(Value::String(command)) = input.get_mut(command) {
        *command = line;
    }
    Ok(())
}

/// A command line that runs another in a directory. In a subshell, so that the directory holds for this
/// command only; line feeds around the command, because it may end in a comment or a here-document.
pub(super) fn in_directory(directory: &Value, line: &str) -> Option<String> {
    let directory = directory.as_str().filter(|directory| !directory.is_empty());
    let directory = shlex::try_quote(directory?).ok()?;
    Some(format!("(cd -- {directory} && {{\n{line}\n}})"))
}

#[cfg(test)]
#[path = "alias_tests.rs"]
mod tests;
