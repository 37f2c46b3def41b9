//! `Edit`, which replaces a string in a file, and `Write`, which replaces the whole file.

use std::io::Read as _;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::line_window::{self, LineWindow, Window};
use super::patch::{self, MAX_COMPARED_BYTES, MAX_ORIGINAL_BYTES};
use super::regular_file::{
    self, FileKind, Freshness, HEAD_BYTES, NotReadable, READ_AGAIN, RegularFile, Target,
};
use super::replacement::{
    Haystack, Quotes, ReplacedText, fold_newlines, with_quotes_like, with_straight_quotes,
};
use crate::run::tools::builtin::Parameters;
use crate::run::tools::paths::absolute_path;
use crate::run::tools::{
    Assessment, CallContext, DecisionContext, InterruptBehavior, InvalidInput, PreparedCall,
    ToolFailure, ToolReply,
};
use crate::state::ReadRange;

/// Maximum size of a file before and after an edit, in bytes.
const MAX_FILE_BYTES: usize = 100 << 20;

/// Lines of context around an edit in the result.
const SNIPPET_CONTEXT: u64 = 4;
const MAX_SNIPPET_LINES: u64 = 100;
const MAX_SNIPPET_CHARACTERS: usize = 8000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Edit {
    /// Absolute path of the file to change
    #[schemars(length(min = 1))]
    file_path: String,
    /// The text to replace, exactly as in the file, without line numbers; empty to make a new file
    old_string: String,
    #[schemars(description = "The text to put in its place; must differ from old_string")]
    new_string: String,
    #[schemars(
        description = "Replace every occurrence; otherwise old_string must occur \
                              exactly once"
    )]
    #[serde(default)]
    replace_all: bool,
}

impl Parameters for Edit {
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = "Replaces a string in a file by another. old_string must be \
        exactly what is in the file, white space included, and occur once; add lines around it to \
        make it unique, or set replace_all. Line ends and all else stay as they are.";
    /// Edits are short, and a partial one is useless.
    const INTERRUPT: InterruptBehavior = InterruptBehavior::Block;

    // The file is checked when the call runs: an earlier call of the same turn may read or change it.
    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        if self.old_string == self.new_string {
            return Err(InvalidInput(
                "No changes to make: old_string and new_string are exactly the same.".to_owned(),
            ));
        }
        Ok(Box::new(self))
    }
}

impl PreparedCall for Edit {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        Assessment::writes(Self::NAME, vec![absolute_path(&self.file_path, context)])
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let (target, found) = Target::open(&self.file_path, call)?;
        let freshness = target.freshness();
        let edited = match found {
            Some(found) => edit(read_contents(found)?, self, freshness).map_err(ToolFailure)?,
            None if self.old_string.is_empty() => create_file(self),
            None => return Err(ToolFailure(NotReadable::Missing.message(call.session))),
        };
        let reply = build_reply(&target.path.to_string_lossy(), self, &edited, freshness);
        // A file that the session has not read, or that has changed since, stays in that state: the edit matched,
        // but a `Write` could still overwrite changes that the model has not seen.
        let seen = (freshness == Freshness::Current).then(|| target.read_range());
        target.replace(&edited.after.bytes, seen, call)?;
        Ok(reply)
    }
}

/// An edit that has not been written yet.
struct PendingEdit {
    /// `None` for a new file.
    before: Option<Vec<u8>>,
    after: ReplacedText,
    replacements: usize,
}

fn create_file(parameters: &Edit) -> PendingEdit {
    let bytes = parameters.new_string.clone().into_bytes();
    let first = 0..bytes.len();
    PendingEdit {
        before: None,
        after: ReplacedText { bytes, first },
        replacements: 1,
    }
}

fn too_large_message() -> String {
    format!("The file is too large to edit: more than {MAX_FILE_BYTES} bytes.")
}

/// Returns the content of a file that is not too large to be edited.
pub(super) fn read_contents(source: RegularFile) -> Result<Vec<u8>, ToolFailure> {
    let bytes = regular_file::read_bytes(source, MAX_FILE_BYTES as u64)?;
    bytes.ok_or_else(|| ToolFailure(too_large_message()))
}

fn edit(before: Vec<u8>, parameters: &Edit, freshness: Freshness) -> Result<PendingEdit, String> {
    if parameters.old_string.is_empty() {
        if !before.is_empty() {
            return Err("Cannot create new file - file already exists.".to_owned());
        }
        let created = create_file(parameters);
        return Ok(PendingEdit {
            before: Some(before),
            ..created
        });
    }
    let old = fold_newlines(&parameters.old_string);
    let new = fold_newlines(&parameters.new_string);
    if old == new {
        return Err(
            "No changes to make: old_string and new_string differ only in their line ends, which \
             stay as they are in the file."
                .to_owned(),
        );
    }
    let kind = FileKind::detect(&before);
    if kind == FileKind::Utf16 {
        return Err(
            "The file is UTF-16 text, which cannot be edited. Convert it to UTF-8 with Bash first."
                .to_owned(),
        );
    }
    let mut haystack = Haystack::new(&before, Quotes::AsTheyAre);
    let mut replacements = haystack.matches(&old).count();
    let (mut old, mut new) = (old, new);
    if replacements == 0 {
        // Models write straight quotes where a text has curly ones.
        haystack = Haystack::new(&before, Quotes::Straight);
        old = with_straight_quotes(&old).into();
        replacements = haystack.matches(&old).count();
        if let Some(first) = haystack.matches(&old).next() {
            new = with_quotes_like(&new, &String::from_utf8_lossy(&before[first])).into();
        }
    }
    check_count(replacements, parameters, freshness, kind)?;
    let after = haystack
        .replace(haystack.matches(&old), &new, MAX_FILE_BYTES)
        .ok_or_else(too_large_message)?;
    Ok(PendingEdit {
        before: Some(before),
        after,
        replacements,
    })
}

fn check_count(
    count: usize,
    parameters: &Edit,
    freshness: Freshness,
    kind: FileKind,
) -> Result<(), String> {
    let old = &parameters.old_string;
    match count {
        0 => {
            let stale = match freshness {
                Freshness::Changed => " The file has changed since it was read; read it again.",
                Freshness::Unread | Freshness::Current => "",
            };
            Err(format!(
                "String to replace not found in file.{stale}\nString: {old}"
            ))
        }
        1 => Ok(()),
        _ if !parameters.replace_all => Err(format!(
            "Found {count} matches of the string to replace, but replace_all is false. To replace \
             all occurrences, set replace_all to true. To replace only one occurrence, please \
             provide more context to uniquely identify the instance.\nString: {old}"
        )),
        // The model may not have seen all occurrences.
        _ => match freshness {
            Freshness::Current => Ok(()),
            Freshness::Changed => Err(READ_AGAIN.to_owned()),
            Freshness::Unread => Err(kind.unread_message()),
        },
    }
}

fn build_reply(
    path: &str,
    parameters: &Edit,
    edited: &PendingEdit,
    freshness: Freshness,
) -> ToolReply {
    let count = match edited.replacements {
        1 => String::new(),
        many => format!(" All {many} occurrences were replaced."),
    };
    let stale = match freshness {
        Freshness::Changed => {
            " Note: the file had changed on disk since it was last read; old_string still matched \
             unambiguously, and the edit was made in the changed file. Read it again before \
             relying on the rest of its content."
        }
        Freshness::Unread | Freshness::Current => "",
    };
    let text = match edited.before {
        None => format!("File created successfully at: {path}"),
        Some(_) => format!(
            "The file {path} has been updated.{count}{stale} Here's the result of running \
             `cat -n` on a snippet of the edited file:\n{}",
            snippet(&edited.after)
        ),
    };
    let before = edited.before.as_deref().map(String::from_utf8_lossy);
    let after = String::from_utf8_lossy(&edited.after.bytes);
    let old = before.as_deref().unwrap_or_default();
    let hunks = if old.len().max(after.len()) > MAX_COMPARED_BYTES {
        Vec::new()
    } else {
        patch::hunks(old, &after)
    };
    let original = before
        .as_deref()
        .filter(|text| text.len() <= MAX_ORIGINAL_BYTES);
    ToolReply::text(
        text,
        json!({
            "filePath": path,
            "oldString": parameters.old_string,
            "newString": parameters.new_string,
            "originalFile": original,
            "structuredPatch": hunks,
            "userModified": false,
            "replaceAll": parameters.replace_all,
        }),
    )
}

/// Returns the first replacement with its line numbers and context.
fn snippet(after: &ReplacedText) -> String {
    let count_lines =
        |bytes: &[u8]| u64::try_from(memchr::memchr_iter(b'\n', bytes).count()).unwrap_or(0);
    let changed_line = count_lines(&after.bytes[..after.first.start]) + 1;
    let first = changed_line.saturating_sub(SNIPPET_CONTEXT).max(1);
    let last = changed_line + count_lines(&after.bytes[after.first.clone()]) + SNIPPET_CONTEXT;
    let mut window = LineWindow::new(Window {
        first,
        limit: (last + 1 - first).min(MAX_SNIPPET_LINES),
        characters: MAX_SNIPPET_CHARACTERS,
    });
    window.push(&after.bytes);
    line_window::number_lines(first, window.finish().lines.iter().map(String::as_str))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Write {
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
        Assessment::writes(Self::NAME, vec![absolute_path(&self.file_path, context)])
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
                read_original(found)?,
            ),
            (Some(found), Freshness::Unread) => return Err(not_read_failure(found)),
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

fn not_read_failure(found: RegularFile) -> ToolFailure {
    let mut head = Vec::new();
    // If the file cannot be read, it is treated as an empty file.
    let _ = found.file.take(HEAD_BYTES as u64).read_to_end(&mut head);
    ToolFailure(FileKind::detect(&head).unread_message())
}

/// Returns the old content, with invalid UTF-8 replaced, or `None` if it is too large for a patch.
fn read_original(source: RegularFile) -> Result<Option<String>, ToolFailure> {
    let bytes = regular_file::read_bytes(source, MAX_COMPARED_BYTES as u64)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "write_tests.rs"]
mod write_tests;
