//! `apply_patch`, which changes several files by the patch of a call.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::edit::read_contents;
use super::regular_file::{Freshness, Target};
use crate::agent::{
    EditKind, FileEdit, Hunk, apply_hunks, find_foreign_line, parse_hunks, parse_patch,
};
use crate::run::tools::builtin::Parameters;
use crate::run::tools::paths::absolute_path;
use crate::run::tools::{
    Assessment, CallContext, DecisionContext, InterruptBehavior, InvalidInput, PreparedCall,
    ToolFailure, ToolReply,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct ApplyPatch {
    /// The patch, from `*** Begin Patch` to `*** End Patch`
    input: String,
}

impl Parameters for ApplyPatch {
    const NAME: &'static str = "apply_patch";
    const DESCRIPTION: &'static str =
        "Changes files by a patch. If a hunk does not apply, nothing is changed.";
    /// Patches are short, and a partial one is useless.
    const INTERRUPT: InterruptBehavior = InterruptBehavior::Block;

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        if let Some(line) = find_foreign_line(&self.input) {
            let problem = format!("The patch has an invalid line: {line:?}");
            return Err(InvalidInput(problem));
        }
        Ok(Box::new(Patch(parse_patch("", &self.input))))
    }
}

/// The changes of a patch.
struct Patch(Vec<FileEdit>);

/// A file and its new content; `None` if it is removed.
type Change = (Target, Option<String>);

impl PreparedCall for Patch {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        let edits = self.0.iter();
        let paths = edits
            .flat_map(|edit| std::iter::once(&edit.path).chain(&edit.moved_to))
            .map(|path| absolute_path(path, context));
        Assessment::writes(ApplyPatch::NAME, paths.collect())
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let mut changes = Vec::new();
        for edit in &self.0 {
            let name_edit = |error| ToolFailure(format!("{}: {error}", edit.path));
            changes.extend(find_changes(edit, call).map_err(name_edit)?);
        }
        let mut paths = HashSet::new();
        if !changes.iter().all(|(file, _)| paths.insert(&file.path)) {
            return Err(ToolFailure("The patch names a file twice.".to_owned()));
        }
        let mut report = String::new();
        for (file, content) in changes {
            let mark = if content.is_some() { 'M' } else { 'D' };
            let line = format!("\n{mark} {}", file.path.display());
            // The session has not seen the whole file.
            let outcome = match content {
                Some(content) => file.replace(content.as_bytes(), None, call),
                None => file.remove(),
            };
            let to_failure =
                |error| format!("{error} It concerns:{line}\nChanged before it:{report}");
            outcome.map_err(|error| ToolFailure(to_failure(error)))?;
            report.push_str(&line);
        }
        let text = format!("Success. Updated the following files:{report}");
        Ok(ToolReply::text(text.clone(), json!({"output": text})))
    }
}

/// Returns the changes that make an edit: two for a file that moves.
fn find_changes(edit: &FileEdit, call: &CallContext<'_>) -> Result<Vec<Change>, ToolFailure> {
    let fail = |reason: &str| Err(ToolFailure(reason.to_owned()));
    let (file, existing) = Target::open(&edit.path, call)?;
    let old = match (existing, edit.kind) {
        (Some(_), EditKind::Add) if file.freshness() != Freshness::Current => {
            return fail("The file exists already, with content that was not read.");
        }
        (_, EditKind::Add) => Vec::new(),
        (None, _) => return fail("The file does not exist."),
        (Some(_), EditKind::Remove) => return Ok(vec![(file, None)]),
        (Some(existing), _) => read_contents(existing)?,
    };
    let hunks = parse_hunks(&edit.hunks);
    let text = String::from_utf8(old).ok();
    let Some(new) = text.and_then(|old| apply_hunks_keeping_line_endings(&old, &hunks)) else {
        return fail("A hunk does not apply: the file does not have its lines.");
    };
    let Some(path) = &edit.moved_to else {
        return Ok(vec![(file, Some(new))]);
    };
    match Target::open(path, call)? {
        (_, Some(_)) => fail("The file that it moves to exists already."),
        (moved, None) => Ok(vec![(moved, Some(new)), (file, None)]),
    }
}

/// Applies hunks to a text. If all its lines end in CRLF, so do the new ones. `None` if a hunk does not apply.
fn apply_hunks_keeping_line_endings(old: &str, hunks: &[Hunk]) -> Option<String> {
    let folded = old.replace("\r\n", "\n");
    if folded.contains('\n') && folded.replace('\n', "\r\n") == old {
        return Some(apply_hunks(&folded, hunks)?.replace('\n', "\r\n"));
    }
    apply_hunks(old, hunks)
}
