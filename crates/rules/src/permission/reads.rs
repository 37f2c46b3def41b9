//! Files that commands may read but do not name exactly.

use std::path::Path;

use super::command::Command;
use super::invocation::Invocation;
use super::named_file::NamedFile;
use super::outline::{names_in, outlines};
use super::path_context::{PathContext, ResolvedPath};
use super::programs;
use super::wildcard::{GAP, GLOB};
use crate::shell::{PartWord, pattern_index};

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
            one.named_words().filter(move |word| !is_pattern(word))
        });
        // Redirections of a loop or a group belong to no program.
        let redirected = self.levels.iter().flat_map(|level| &level.reads);
        let mut outlines = words
            .chain(redirected)
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
