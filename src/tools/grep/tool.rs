//! The tool as it is declared and called.

use std::io;
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::super::{
    Access, AccessError, CallContext, Input, InvalidInput, ResultLimit, Tool, ToolContext,
    ToolFailure, ToolReply, paths,
};
use super::request::{OutputMode, Request};
use super::run::Run;
use super::search::Origin;

/// Searches files.
#[derive(Debug)]
pub struct Grep;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let number =
        |description: &str| json!({ "type": "integer", "minimum": 0, "description": description });
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "Regular expression to search for",
            },
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "File or directory to search; the working directory if left out",
            },
            "glob": {
                "type": "string",
                "description": "Only files that match, e.g. *.js or *.{ts,tsx}",
            },
            "output_mode": {
                "type": "string",
                "enum": ["content", "files_with_matches", "count"],
                "default": "files_with_matches",
                "description": "Matching lines, names of files that have a match, or numbers of matches per file",
            },
            "-A": number("Lines to show after each match; with output_mode content"),
            "-B": number("Lines to show before each match; with output_mode content"),
            "-C": number("The same as context"),
            "context": number("Lines to show before and after each match; with output_mode content"),
            "-n": {
                "type": "boolean",
                "default": true,
                "description": "Show line numbers; with output_mode content",
            },
            "-i": { "type": "boolean", "default": false, "description": "Ignore case" },
            "-o": {
                "type": "boolean",
                "default": false,
                "description": "Show only the matching parts of lines; with output_mode content",
            },
            "type": {
                "type": "string",
                "description": "Only files of this type, e.g. js, py, rust, go, java",
            },
            "head_limit": number("Show only the first entries (lines, files or counts); 250 if left out, 0 for all"),
            "offset": number("Leave out this many entries before head_limit is applied"),
            "multiline": {
                "type": "boolean",
                "default": false,
                "description": "Let matches reach over line ends, and . match line feeds",
            },
        },
        "required": ["pattern"],
        "additionalProperties": false,
    })
});

impl Tool for Grep {
    fn name(&self) -> &'static str {
        "Grep"
    }

    fn description(&self) -> &'static str {
        "Searches the contents of files for a regular expression (ripgrep syntax). Files that \
         .gitignore names and binary files are left out; hidden files are not. Use it instead of \
         grep or rg in a shell."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn access(&self, input: &Input, context: &ToolContext) -> Result<Access, AccessError> {
        let request = Request::new(input, context)?;
        paths::reading(&request.root)
    }

    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Characters(20_000)
    }

    fn validate(&self, input: &Input, context: &ToolContext) -> Result<(), InvalidInput> {
        Request::new(input, context).map(|_| ())
    }

    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let request = Request::new(input, call.session)?;
        let origin = match request.root.metadata() {
            Ok(metadata) if metadata.is_dir() => Origin::Walked,
            Ok(_) => Origin::Named,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ToolFailure(format!(
                    "Path does not exist: {}",
                    request.root.display()
                )));
            }
            Err(error) => {
                return Err(ToolFailure(format!("{}: {error}", request.root.display())));
            }
        };
        let run = Run::new(&request, origin, call);
        let report = match request.mode {
            OutputMode::Content => run.content(),
            OutputMode::FilesWithMatches => run.files(),
            OutputMode::Count => run.counts(),
        };
        match (origin, &report.unsearched.first) {
            (Origin::Named, Some(reason)) => Err(ToolFailure(reason.clone())),
            (Origin::Named, None) | (Origin::Walked, _) => Ok(report.into_reply(request.bounds)),
        }
    }
}
