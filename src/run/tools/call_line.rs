//! Parses lines with calls that are checked but not run.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::Input;
use crate::assemble::{Decoder, Event};
use crate::jsonl::describe_without_line;

/// The calls of a line, and their context.
#[derive(Debug, Default)]
pub struct CallLine {
    /// The names and inputs.
    pub calls: Vec<(String, Input)>,
    /// The working directory.
    pub directory: Option<PathBuf>,
    /// The name of the permission mode.
    pub mode: Option<String>,
}

/// A bare call, and the context of the calls of a line.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
    name: Option<String>,
    input: Option<Input>,
    cwd: Option<PathBuf>,
    mode: Option<String>,
}

impl CallLine {
    /// Creates the call of a shell command.
    pub fn from_command(script: &str) -> Self {
        let input = Input::from_iter([("command".to_owned(), script.into())]);
        Self {
            calls: vec![("Bash".to_owned(), input)],
            ..Self::default()
        }
    }

    /// Parses a call as an object, or the calls of a record of an API or agent.
    ///
    /// # Errors
    /// The reason why the line is unusable.
    pub fn parse(line: &str) -> Result<Self, String> {
        let parsed: Line<'_> = serde_json::from_str(line)
            .map_err(|error| format!("not a call: {}", describe_without_line(&error)))?;
        let calls = match (parsed.kind, parsed.name, parsed.input) {
            (None, Some(name), Some(input)) => vec![(name, input)],
            _ => parse_calls(line)?,
        };
        if calls.is_empty() {
            return Err("no call found".to_owned());
        }
        Ok(Self {
            calls,
            directory: parsed.cwd,
            mode: parsed.mode,
        })
    }
}

/// Parses the calls of a record of an API or agent.
fn parse_calls(record: &str) -> Result<Vec<(String, Input)>, String> {
    let mut calls = Vec::new();
    for event in Decoder::with_detection().record(record) {
        if let Event::Call(call) = event {
            let describe = |error: &dyn std::fmt::Display| format!("{}: {error}", call.name);
            let input = call.input.map_err(|reason| describe(&reason))?;
            let input = serde_json::from_str(input.get()).map_err(|error| describe(&error))?;
            calls.push((call.name, input));
        }
    }
    Ok(calls)
}
