//! Lines with calls that are only checked.

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
    /// Returns the call of a shell command.
    pub fn command(script: &str) -> Self {
        let input = Input::from_iter([("command".to_owned(), script.into())]);
        Self {
            calls: vec![("Bash".to_owned(), input)],
            ..Self::default()
        }
    }

    /// Reads a call as an object, or the calls of a record of an API or agent.
    ///
    /// # Errors
    /// The reason why the line is unusable.
    pub fn read(line: &str) -> Result<Self, String> {
        let read: Line<'_> = serde_json::from_str(line)
            .map_err(|error| format!("not a call: {}", describe_without_line(&error)))?;
        let calls = match (read.kind, read.name, read.input) {
            (None, Some(name), Some(input)) => vec![(name, input)],
            _ => parse_calls(line)?,
        };
        if calls.is_empty() {
            return Err("no call found".to_owned());
        }
        Ok(Self {
            calls,
            directory: read.cwd,
            mode: read.mode,
        })
    }
}

/// Returns the calls of a record.
fn parse_calls(record: &str) -> Result<Vec<(String, Input)>, String> {
    let mut calls = Vec::new();
    for event in Decoder::with_detection().record(record) {
        if let Event::Call(call) = event {
            let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", call.name);
            let input = call.input.map_err(|reason| failed(&reason))?;
            let input = serde_json::from_str(input.get()).map_err(|error| failed(&error))?;
            calls.push((call.name, input));
        }
    }
    Ok(calls)
}
