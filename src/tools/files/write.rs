//! `Write`: creates or replaces a file.

use std::io::Read as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::patch::{self, MAX_COMPARED_BYTES, MAX_ORIGINAL_BYTES};
use super::regular_file::{self, FileKind, HEAD_BYTES, READ_AGAIN, RegularFile};
use super::target::{Freshness, Target};
use crate::state::ReadRange;
use crate::tools::builtin::Parameters;
use crate::tools::{
    Assessment, CallContext, DecisionContext, InterruptBehavior, InvalidInput, PreparedCall,
    ToolFailure, ToolReply, paths,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct Write {
    /// Absolute path of the file to write
    #[schemars(length(min = 1))]
    file_path: String,
    /// The whole content of the file
    content: String,
}

impl Parameters for Write {
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = "Writes a file with the given content; missing directories \
        are made. A file that exists is replaced, and must have been read in this session before. \
        To change a part of a file, use Edit.";
    /// Writes are short, and a partial one is useless.
    const INTERRUPT: InterruptBehavior = InterruptBehavior::Block;

    // The file is checked when the call runs: an earlier call of the same turn may read it.
    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        Ok(Box::new(self))
    }
}

impl PreparedCall for Write {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        Assessment::writing(Self::NAME, paths::absolute(&self.file_path, context))
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let (target, found) = Target::open(&self.file_path, call)?;
        let path = target.path.to_string_lossy().into_owned();
        let (kind, text, original) = match (found, target.freshness()) {
            (None, _) => (
                "create",
                format!("File created successfully at: {path}"),
                None,
            ),
            (Some(found), Freshness::Current) => (
                "update",
                format!("The file {path} has been updated successfully."),
                original(found)?,
            ),
            (Some(found), Freshness::Unread) => return Err(not_read(found)),
            (Some(_), Freshness::Changed) => return Err(ToolFailure(READ_AGAIN.to_owned())),
        };
        target.replace(self.content.as_bytes(), Some(ReadRange::Whole), call)?;
        let hunks = original
            .as_deref()
            .map_or_else(Vec::new, |old| patch::hunks(old, &self.content));
        Ok(ToolReply::text(
            text,
            json!({
                "type": kind,
                "filePath": path,
                "content": self.content,
                "structuredPatch": hunks,
                "originalFile": original.filter(|old| old.len() <= MAX_ORIGINAL_BYTES),
                "userModified": false,
            }),
        ))
    }
}

fn not_read(found: RegularFile) -> ToolFailure {
    let mut head = Vec::new();
    // If the file cannot be read, it is treated as an empty file.
    let _ = found.file.take(HEAD_BYTES as u64).read_to_end(&mut head);
    ToolFailure(FileKind::of(&head).read_first())
}

/// Returns the old content, with invalid UTF-8 replaced, or `None` if it is too large for a patch.
fn original(source: RegularFile) -> Result<Option<String>, ToolFailure> {
    let bytes = regular_file::bytes(source, MAX_COMPARED_BYTES as u64)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
