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
    /// Whether it may use files known only at run time.
    pub(super) fn may_name_unknown(&self, context: &PathContext<'_>) -> bool {
        self.runs_unknown
            || self.reads_unknown(context, |_| true)
            || self.changes_unknown(context, |_| true)
    }

    /// Whether it may change a file known only at run time that satisfies `is_wanted`.
    pub(super) fn changes_unknown(
        &self,
        context: &PathContext<'_>,
        is_wanted: impl Fn(&NamedFile) -> bool,
    ) -> bool {
        let mut files = self.redirected(context).iter().chain(self.changed(context));
        let mut words = self.invocations.iter().flat_map(|one| {
            let words = one.words.iter().filter_map(|word| word.value.as_deref());
            words.map(|word| (programs::name(word), &one.words))
        });
        let taken = || self.files(self.names_taken.iter(), context);
        files.any(|file| file.is_unknown() && is_wanted(file))
            || (!self.names_taken.is_empty()
                && words.any(|(name, words)| {
                    name.ends_with('>') || programs::CHANGES.contains_with(name, words)
                })
                && taken().iter().any(is_wanted))
    }

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
                .any(|file| self.may_be_critical(file, context))
    }

    fn may_be_critical(&self, file: &NamedFile, context: &PathContext<'_>) -> bool {
        if file.is_anything() {
            self.directories.is_empty()
        } else {
            context.is_critical(&file.resolved())
        }
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
                        .all(|letter| "EPRadfinprvcm".contains(letter))
                } else {
                    self.file(value, context).iter().all(
                        |file| matches!(file, NamedFile::Known(path) if context.is_inside(path)),
                    )
                }
            })
        };
        // `cp -r x/. .` may replace any file.
        let sources = arguments
            .split_last()
            .map_or(&[][..], |(_, sources)| sources);
        let merges = program == "cp"
            && sources.iter().any(|word| {
                let value = word.known_value();
                value.trim_end_matches('/').ends_with("/.") || value == "."
            });
        // Without the in-place option, the script must be read-only, so that it starts no program.
        let is_plain = program != "sed" || {
            let kept = level.words.iter();
            let kept = kept.filter(|word| !programs::CHANGES.is_mark(program, word));
            let without = joined(kept.map(|word| word.text.as_str()));
            analyse(&without).verdict.is_read_only()
        };
        programs::EDITS.contains(program) && arguments.iter().all(is_known) && is_plain && !merges
    }
}
