//! `Write`: a file's whole content, new or in place of the old.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};

use super::freshness::{self, Freshness};
use super::regular_file::{self, NotReadable, RegularFile};
use super::replace_file::{self, Expected};
use super::text_file::{self, READ_AGAIN, READ_FIRST};
use super::{
    Access, AccessError, CallContext, Input, InterruptBehavior, Tool, ToolContext, ToolFailure,
    ToolReply, arguments, patch, paths,
};
use crate::state::{FileStamp, ReadRange};

/// Writes files.
#[derive(Debug)]
pub struct Write;

#[derive(Debug, Deserialize)]
struct Arguments {
    file_path: String,
    content: String,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "minLength": 1,
                "description": "Absolute path of the file to write",
            },
            "content": {
                "type": "string",
                "description": "The whole content of the file",
            },
        },
        "required": ["file_path", "content"],
        "additionalProperties": false,
    })
});

impl Tool for Write {
    fn name(&self) -> &'static str {
        "Write"
    }

    fn description(&self) -> &'static str {
        "Writes a file with the given content; missing directories are made. A file that exists \
         is replaced, and must have been read in this session before. To change a part of a file, \
         use Edit."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn access(&self, input: &Input, context: &ToolContext) -> Result<Access, AccessError> {
        let arguments: Arguments = arguments::parse(input)?;
        paths::writing(&paths::absolute(&arguments.file_path, context))
    }

    /// It takes no time worth saving, and half a write is no use to anybody.
    fn interrupt(&self) -> InterruptBehavior {
        InterruptBehavior::Block
    }

    // Whether the file was read is asked when the call runs, not in `validate`: an earlier call
    // of the same turn may read it.
    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let Arguments { file_path, content } = arguments::parse(input)?;
        let path = paths::absolute(&file_path, call.session);
        let target = paths::resolve_links(&path)
            .map_err(|error| ToolFailure(format!("The file cannot be written: {error}")))?;
        let before = match regular_file::open(&target) {
            Ok(found) => {
                let stamp = FileStamp::from_metadata(&found.metadata);
                match freshness::of(call, &target, stamp) {
                    Freshness::Unread => return Err(ToolFailure(READ_FIRST.to_owned())),
                    Freshness::Changed => return Err(ToolFailure(READ_AGAIN.to_owned())),
                    Freshness::Current => (Expected::Unchanged(stamp), original(found)?),
                }
            }
            Err(NotReadable::Missing) => (Expected::Missing, None),
            Err(problem) => return Err(ToolFailure(problem.to_string())),
        };
        let (expected, original) = before;
        let stamp = replace_file::replace(&target, content.as_bytes(), expected)
            .map_err(|error| ToolFailure(error.to_string()))?;
        freshness::record(call, target, stamp, ReadRange::Whole);
        Ok(reply(&path, expected, original.as_deref(), &content))
    }
}

/// The old content, invalid UTF-8 replaced; `None` if it is too large for a result.
fn original(source: RegularFile) -> Result<Option<String>, ToolFailure> {
    let bytes = text_file::bytes(source, text_file::ORIGINAL_BYTES)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn reply(path: &Path, before: Expected, original: Option<&str>, content: &str) -> ToolReply {
    let path = path.to_string_lossy();
    let (kind, text) = match before {
        Expected::Missing => ("create", format!("File created successfully at: {path}")),
        Expected::Unchanged(_) => (
            "update",
            format!("The file {path} has been updated successfully."),
        ),
    };
    let hunks = original.map_or_else(Vec::new, |old| patch::hunks(old, content));
    ToolReply::text(
        text,
        json!({
            "type": kind,
            "filePath": path,
            "content": content,
            "structuredPatch": hunks,
            "originalFile": original,
            "userModified": false,
        }),
    )
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
