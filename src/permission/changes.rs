//! What commands do to files.

use super::command::{Command, is_harmlessly_set};
use super::invocation::joined;
use super::named_file::NamedFile;
use super::outline::outlines;
use super::programs;
use super::surroundings::Surroundings;
use super::wildcard::{GAP, GLOB};
use crate::shell::{PartWord, analyse};

impl Command<'_> {
    /// Whether it removes what is never removed without a question.
    pub(super) fn removes_critical(&self, surroundings: &Surroundings<'_>) -> bool {
        let removed = self.invocations.iter().flat_map(|invocation| {
            invocation.behind(|program, _| matches!(program, "rm" | "rmdir"))
        });
        removed.into_iter().any(|word| {
            let outlines = outlines(word, surroundings);
            outlines
                .iter()
                .any(|outline| self.is_critical(outline, surroundings))
        })
    }

    fn is_critical(&self, outline: &str, surroundings: &Surroundings<'_>) -> bool {
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
                .file(directory, surroundings)
                .iter()
                .any(|file| surroundings.is_critical(&file.place()))
    }

    /// Whether it does nothing but change files in the working directories, in a way whose effect is
    /// known.
    pub(super) fn edits_inside(&self, surroundings: &Surroundings<'_>) -> bool {
        let Some(level) = self.levels.last().filter(|level| is_harmlessly_set(level)) else {
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
                    letters.chars().all(|letter| "EPRTadfinprvcm".contains(letter))
                } else {
                    self.file(value, surroundings)
                        .iter()
                        .all(|file| matches!(file, NamedFile::Known(place) if surroundings.is_inside(place)))
                }
            })
        };
        // Without the option that makes it write, only a script that starts nothing reads.
        let is_plain = program != "sed" || {
            let kept = level.words.iter();
            let kept = kept.filter(|word| !programs::CHANGES.is_mark(program, word));
            let without = joined(kept.map(|word| word.text.as_str()));
            analyse(&without).verdict.is_read_only()
        };
        programs::EDITS.contains(program) && arguments.iter().all(is_known) && is_plain
    }
}
