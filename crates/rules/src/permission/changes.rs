//! Files that commands change, and files that they may read without naming them exactly.

use std::path::Path;

use super::command::Command;
use super::invocation::{Invocation, joined};
use super::named_file::NamedFile;
use super::outline::{names_in, outlines};
use super::path_context::{PathContext, ResolvedPath};
use super::patterns::{GAP, GLOB};
use super::programs;
use crate::shell::{PartWord, analyse, pattern_index};

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

impl Command<'_> {
    /// Returns the files that a word of an invocation, or parts of it, may name.
    pub(super) fn files_of(
        &self,
        one: &Invocation,
        word: &PartWord,
        context: &PathContext<'_>,
    ) -> Vec<NamedFile> {
        let mut files = self.files(std::iter::once(word), context);
        let is_text = one.is_subcommand_or_target(word) || programs::COUNTS.contains(one.program());
        files.retain(|file| !(is_text && file.is_anything()) || word.value.is_none());
        files
    }

    /// Whether it may read a file known only at run time that satisfies `is_wanted`.
    pub(super) fn reads_unknown(
        &self,
        context: &PathContext<'_>,
        is_wanted: impl Fn(&NamedFile) -> bool,
    ) -> bool {
        let read = self.read.get_or_init(|| {
            let is_option = |word: &&PartWord| {
                let value = word.value.as_deref();
                let has_file = |value: &str| value.contains('=') || value.starts_with("-f");
                value.is_some_and(|value| value.starts_with('-') && !has_file(value))
            };
            let is_in_place = |one: &&Invocation| !matches!(one.program(), "cd" | "pushd");
            let mut files = self.files(self.names_taken.iter(), context);
            for one in self.invocations.iter().filter(is_in_place) {
                for word in one.read_words().filter(|word| !is_option(word)) {
                    files.extend(self.files_of(one, word, context));
                }
            }
            files.retain(NamedFile::is_unknown);
            files
        });
        read.iter().any(is_wanted)
    }

    /// Whether reads are confined to the working directories and it may read elsewhere.
    pub(super) fn reads_outside(&self, context: &PathContext<'_>) -> bool {
        context.request.confines_reads && self.names_outside(context)
    }

    /// Whether it may name a file outside the working directories.
    pub(super) fn names_outside(&self, context: &PathContext<'_>) -> bool {
        let is_inside =
            |path: &ResolvedPath| path.name == Path::new("/dev/null") || context.is_inside(path);
        let leads_outside = |name: &str| {
            let files = NamedFile::of(name, &self.directories, context);
            let is_open = name.contains(GLOB) && name.contains("..");
            is_open
                || files.iter().any(|file| match file {
                    NamedFile::Known(path) => !is_inside(path),
                    NamedFile::Outlined(path) => {
                        let known = path.split(GLOB).next().unwrap_or_default();
                        path.contains(GAP) || !is_inside(&context.resolve(Path::new(known)))
                    }
                })
        };
        // `find` replaces `{}` with paths below its operands.
        let words = self.invocations.iter().flat_map(|one| {
            let pattern = pattern_index(&one.words).map(|at| &one.words[at]);
            let is_pattern =
                move |word: &PartWord| pattern.is_some_and(|pattern| std::ptr::eq(pattern, word));
            one.read_words().filter(move |word| !is_pattern(word))
        });
        let mut outlines = words
            .filter(|word| word.text != "{}")
            .flat_map(|word| outlines(word, context));
        !self.names_taken.is_empty()
            || self.directories.is_empty()
            || !self
                .directories
                .iter()
                .all(|directory| is_inside(&context.resolve(directory)))
            || outlines.any(|outline| {
                // Single letters in a word are options.
                let names = names_in(&outline).enumerate();
                let is_letter = |name: &str| name.len() == 1 && name != "/";
                let mut names = names.filter(|(index, name)| *index == 0 || !is_letter(name));
                names.any(|(_, name)| leads_outside(name))
            })
    }
}
