//! `apply_patch`, which changes several files by the patch of a call.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::edit::contents;
use super::regular_file::{Freshness, Target};
use crate::agent::{EditKind, FileEdit, Hunk, foreign_line, parse_hunks, patch_edits, patched};
use crate::state::ReadRange;
use crate::tools::builtin::Parameters;
use crate::tools::paths::absolute;
use crate::tools::{
    Assessment, CallContext, DecisionContext, InterruptBehavior, InvalidInput, PreparedCall,
    ToolFailure, ToolReply,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct ApplyPatch {
    /// The patch, from `*** Begin Patch` to `*** End Patch`
    input: String,
}

impl Parameters for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str =
        "Changes files by a patch. If a hunk does not apply, nothing is changed.";
    /// Patches are short, and a partial one is useless.
    const INTERRUPT: InterruptBehavior = InterruptBehavior::Block;
    const IS_DECLARED: bool = false;

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        if let Some(line) = foreign_line(&self.input) {
            return Err(InvalidInput(format!(
                "The patch has an invalid line: {line:?}"
            )));
        }
        let edits = patch_edits("", &self.input);
        if edits.is_empty() {
            return Err(InvalidInput("The patch changes no file.".to_owned()));
        }
        Ok(Box::new(Patch(edits)))
    }
}

/// The changes of a patch.
struct Patch(Vec<FileEdit>);

/// A change of one file that has not been made yet.
struct Change {
    mark: char,
    target: Target,
    /// `None` if the file is removed.
    content: Option<String>,
    /// The part that the session has seen afterwards.
    seen: Option<ReadRange>,
}

impl PreparedCall for Patch {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        let paths = self.0.iter();
        let paths = paths.flat_map(|edit| [Some(&edit.path), edit.moved_to.as_ref()]);
        let paths = paths.flatten().map(|path| absolute(path, context));
        Assessment::writing(ApplyPatch::NAME, paths.collect())
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let mut changes = Vec::new();
        for edit in &self.0 {
            let failed = |reason| ToolFailure(format!("{}: {reason}", edit.path));
            changes.extend(changes_of(edit, call).map_err(|error| failed(error.0))?);
        }
        let mut targets = HashSet::new();
        if let Some(twice) =
            (changes.iter()).find(|change| !targets.insert(change.target.resolved()))
        {
            let path = twice.target.path.display();
            return Err(ToolFailure(format!(
                "The patch names {path} more than once."
            )));
        }
        let mut done = String::new();
        for change in changes {
            let line = format!("\n{} {}", change.mark, change.target.path.display());
            let changed = match change.content {
                Some(content) => change.target.replace(content.as_bytes(), change.seen, call),
                None => change.target.remove(),
            };
            changed.map_err(|error| {
                ToolFailure(format!(
                    "{error} It concerns:{line}\nFiles changed before it:{done}"
                ))
            })?;
            done.push_str(&line);
        }
        let text = format!("Success. Updated the following files:{done}");
        Ok(ToolReply::text(
            text,
            json!({"changes": done.trim_start().lines().collect::<Vec<_>>()}),
        ))
    }
}

/// Returns the changes that make an edit: two for a file that moves.
fn changes_of(edit: &FileEdit, call: &CallContext<'_>) -> Result<Vec<Change>, ToolFailure> {
    let (target, found) = Target::open(&edit.path, call)?;
    let failed = |reason: &str| ToolFailure(reason.to_owned());
    let hunks = parse_hunks(&edit.hunks);
    if edit.kind == EditKind::Add {
        if target.freshness() != Freshness::Current {
            return Err(failed(
                "The file exists already, with content that was not read.",
            ));
        }
        return Ok(vec![Change {
            mark: if found.is_some() { 'M' } else { 'A' },
            target,
            content: patched("", &hunks),
            seen: Some(ReadRange::Whole),
        }]);
    }
    let old = contents(found.ok_or_else(|| failed("File does not exist."))?)?;
    let removal = |target| Change {
        mark: 'D',
        target,
        content: None,
        seen: None,
    };
    if edit.kind == EditKind::Remove {
        return Ok(vec![removal(target)]);
    }
    let old = String::from_utf8(old).map_err(|_| failed("The file is not UTF-8 text."))?;
    let new = patched_with_line_ends(&old, &hunks);
    let new =
        new.ok_or_else(|| failed("A hunk does not apply: the file does not have its lines."))?;
    let change = |target: Target, seen| Change {
        mark: 'M',
        target,
        content: Some(new),
        seen,
    };
    let Some(path) = &edit.moved_to else {
        let seen = (target.freshness() == Freshness::Current).then(|| target.seen());
        return Ok(vec![change(target, seen)]);
    };
    let (moved, found) = Target::open(path, call)?;
    if found.is_some() {
        return Err(failed(&format!(
            "It cannot move to {path}, which exists already."
        )));
    }
    Ok(vec![change(moved, None), removal(target)])
}

/// Returns a text after hunks. New lines end as all others do.
fn patched_with_line_ends(old: &str, hunks: &[Hunk]) -> Option<String> {
    let folded = old.replace("\r\n", "\n");
    if folded.contains('\n') && folded.replace('\n', "\r\n") == old {
        return Some(patched(&folded, hunks)?.replace('\n', "\r\n"));
    }
    patched(old, hunks)
}
