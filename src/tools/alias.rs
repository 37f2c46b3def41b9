//! Names and arguments of other agents' tools, carried over to ours.
//!
//! How a call is rewritten is data (`alias_table`); this file only carries it out. Whether the
//! result fits the tool's schema is checked later, as for any call.

use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use super::Input;
use super::alias_table::ALIASES;
use super::builtin::WholeNumber;

/// One foreign name.
#[derive(Debug)]
pub(super) struct Alias {
    /// What the model calls.
    pub(super) name: &'static str,
    /// Our tool.
    pub(super) tool: &'static str,
    /// What is done to the arguments, in this order. Fields that no step names stay as they are.
    pub(super) steps: &'static [Step],
}

/// One step of rewriting arguments. A step whose field is missing does nothing.
#[derive(Debug)]
pub(super) enum Step {
    /// The field has another name here. Both present with different values: unmappable.
    Rename(&'static str, &'static str),
    /// The field stays, its value changes.
    Convert(&'static str, Conversion),
    /// The field has no meaning here.
    Drop(&'static str),
    /// What the foreign tool always does and ours does when told to.
    Default(&'static str, Constant),
    /// A shell command that is to run in the directory which the other field names, without
    /// moving the shell there for later calls.
    RunIn {
        /// The field with the directory; it goes.
        directory: &'static str,
        /// The field with the command line.
        command: &'static str,
    },
}

/// How a value changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// A line number counted from 0 becomes one counted from 1.
    OffsetFromZero,
    /// A list of words becomes a command line (`["bash", "-lc", S]` becomes `S`); a text stays.
    ArgvToShellWords,
    /// The number of replacements that are expected becomes whether to replace more than one.
    CountToReplaceAll,
    /// Entries of a to-do list get the fields that ours have, and lose the others.
    TodoItems,
}

/// A value in the table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constant {
    /// A text.
    Text(&'static str),
}

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

/// The alias of this name.
pub(super) fn alias(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name == name)
}

impl Alias {
    /// The arguments under our tool's field names. Fields that are null count as absent: models
    /// that must fill every field of a foreign schema send null for "not given".
    ///
    /// # Errors
    /// A value cannot be carried over; the text is for the model.
    pub(super) fn map(&self, input: Input) -> Result<Input, String> {
        let mut input: Input = input
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .collect();
        for step in self.steps {
            step.apply(&mut input).map_err(|reason| {
                format!("{} cannot be run as {}: {reason}", self.name, self.tool)
            })?;
        }
        Ok(input)
    }
}

impl Step {
    fn apply(&self, input: &mut Input) -> Result<(), String> {
        match self {
            Self::Rename(from, to) => {
                let Some(value) = input.shift_remove(*from) else {
                    return Ok(());
                };
                match input.get(*to) {
                    Some(other) if *other != value => {
                        Err(format!("`{from}` and `{to}` contradict each other"))
                    }
                    Some(_) => Ok(()),
                    None => {
                        input.insert((*to).to_owned(), value);
                        Ok(())
                    }
                }
            }
            Self::Convert(field, conversion) => {
                if let Some(value) = input.get_mut(*field) {
                    *value = conversion
                        .apply(value)
                        .ok_or_else(|| format!("`{field}` {}", conversion.expectation()))?;
                }
                Ok(())
            }
            Self::Drop(field) => {
                input.shift_remove(*field);
                Ok(())
            }
            Self::Default(field, constant) => {
                input.entry(*field).or_insert_with(|| constant.value());
                Ok(())
            }
            Self::RunIn { directory, command } => run_in(input, directory, command),
        }
    }
}

impl Constant {
    fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
        }
    }
}

impl Conversion {
    fn apply(self, value: &Value) -> Option<Value> {
        match self {
            Self::OffsetFromZero => whole_number(value)?.checked_add(1).map(Value::from),
            Self::ArgvToShellWords => match value {
                Value::String(_) => Some(value.clone()),
                Value::Array(words) => shell_line(words).map(Value::from),
                _ => None,
            },
            Self::CountToReplaceAll => match whole_number(value)? {
                0 => None,
                count => Some((count > 1).into()),
            },
            Self::TodoItems => value
                .as_array()?
                .iter()
                .map(todo_item)
                .collect::<Option<Vec<_>>>()
                .map(Value::from),
        }
    }

    fn expectation(self) -> &'static str {
        match self {
            Self::OffsetFromZero => "must be a line number, counted from 0",
            Self::ArgvToShellWords => "must be a text, or a list of words without NUL characters",
            Self::CountToReplaceAll => "must be a number of replacements, at least 1",
            Self::TodoItems => "must be a list of objects with a text and a status",
        }
    }
}

fn whole_number(value: &Value) -> Option<u64> {
    WholeNumber::deserialize(value).ok().map(|number| number.0)
}

/// Only `bash` is unwrapped: another shell may read the same text differently.
fn shell_line(words: &[Value]) -> Option<String> {
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

/// In a subshell, so that the directory holds for this command only; line feeds around the
/// command, because it may end in a comment or a here-document.
fn run_in(input: &mut Input, directory: &str, command: &str) -> Result<(), String> {
    let Some(place) = input.shift_remove(directory) else {
        return Ok(());
    };
    let place = place
        .as_str()
        .filter(|place| !place.is_empty())
        .and_then(|place| shlex::try_quote(place).ok())
        .ok_or_else(|| format!("`{directory}` must be a path"))?;
    let Some(Value::String(line)) = input.get_mut(command) else {
        // The schema check says what is wrong with the command.
        return Ok(());
    };
    *line = format!("(cd -- {place} && {{\n{line}\n}})");
    Ok(())
}

#[cfg(test)]
#[path = "alias_tests.rs"]
mod tests;
