//! The act of a shell command, from its words, its output and its description. Whether a command may
//! change something is decided by the module `shell`.

mod effects;
mod evidence;
mod forms;
mod noun;
mod past_tense;
mod report;

use serde_json::Value;

use crate::tool_facts::{Parameter, parameters};

pub(super) use past_tense::past_of;
pub(super) use report::{Ending, Run, describe};

/// Returns the command in the input of a shell tool: a text, or the words of `["bash", "-lc", …]`.
pub(super) fn command_of(input: &Value) -> Option<String> {
    let mut names = parameters(Parameter::Command).iter();
    let given = names.find_map(|name| input.get(name))?;
    match given {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                [shell, flag, command]
                    if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') =>
                {
                    Some((*command).to_owned())
                }
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}
