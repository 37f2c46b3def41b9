//! File changes made by commands.

use super::command::Command;
use super::invocation::joined;
use super::named_file::NamedFile;
use super::outline::outlines;
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB};
use crate::shell::{PartWord, analyse};

impl Command<'_> {
    /// Whether it removes a directory that is never removed without approval.
    pub(super) fn removes_critical(&self, context: &PathContext<'_>) -> bool {
        let removed = self.invocations.iter().flat_map(|invocation| {
            invocation.behind(|program, _| matches!(program, "rm" | "rmdir"))
        });
        removed.into_iter().any(|word| {
            let outlines = outlines(word, context);
            outlines
                .iter()
                .any(|outline| self.is_critical(outline, context))
        })
    }

    fn is_critical(&self, outline: &str, context: &PathContext<'_>) -> bool {
        let directory = match outline.strip_suffix(GLOB) {
            None => outline,
            Some("") => ".",
            Some("/") => "/",
            Some(before) => match before.trim_end_matches('/') {
                "\0" => return true,
                directory => directory,
            },
        };
        !directory.starts_with('-')
            && !directory.contains([GAP, GLOB])
            && self
                .file(directory, context)
                .iter()
                .any(|file| context.is_critical(&file.resolved()))
    }

    /// Whether its only effect is known changes to files in the working directories.
    pub(super) fn edits_inside(&self, context: &PathContext<'_>) -> bool {
        let Some(level) = self
            .levels
            .last()
            .filter(|level| programs::is_harmlessly_set(level))
        else {
            return false;
        };
        let Some((program, arguments)) = level.words.split_first() else {
            return false;
        };
        let Some(program) = program.value.as_deref() else {
            return false;
        };
        let is_known = |word: &PartWord| {
            word.value.as_deref().is_some_and(|value| {
                if let Some(letters) = value.strip_prefix('-') {
                    letters
                        .chars()
                        .all(|letter| "EPRTadfinprvcm".contains(letter))
                } else {
                    self.file(value, context).iter().all(
                        |file| matches!(file, NamedFile::Known(path) if context.is_inside(path)),
                    )
                }
            })
        };
        // Without the in-place option, the script must be read-only, so that it starts no program.
        let is_plain = program != "sed" || {
            let kept = level.words.iter();
            let kept = kept.filter(|word| !programs::CHANGES.is_mark(program, word));
            let without = joined(kept.map(|word| word.text.as_str()));
            analyse(&without).verdict.is_read_only()
        };
        programs::EDITS.contains(program) && arguments.iter().all(is_known) && is_plain
    }
}
