//! File changes made by commands.

use std::path::Path;

use super::command::Command;
use super::invocation::Invocation;
use super::pattern::{GLOB, UNKNOWN, UNKNOWN_WORD};
use crate::shell::{PartWord, analyse, find_uses};

/// Programs that the mode `acceptEdits` allows on files in the working directories.
const EDITING_PROGRAMS: [&str; 7] = ["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

impl Command<'_> {
    /// Whether it may remove a directory that is never removed without approval. A command that was not parsed may do
    /// so if it has `rm` or `rmdir` and then a word that can be a path.
    pub(super) fn may_remove_critical(&self) -> bool {
        if !self.is_parsed() {
            let is_end = |letter: char| letter.is_whitespace() || "\"'`(){};&|".contains(letter);
            let mut words = self.text.split(is_end);
            return words.clone().any(|word| matches!(word, "rm" | "rmdir"))
                && words.any(|word| word.starts_with(['/', '~', '$', '*', '.']));
        }
        let invocations = self.invocations().iter();
        let removing = invocations.filter(|removal| matches!(removal.program(), "rm" | "rmdir"));
        let mut removed = removing.flat_map(Invocation::arguments);
        removed.any(|argument| self.names_critical(argument))
    }

    /// Whether an argument, given as its outline, may name a directory that is never removed without approval.
    fn names_critical(&self, outline: &str) -> bool {
        let directory = match outline.strip_suffix(GLOB) {
            None => outline,
            Some("") => ".",
            Some("/") => "/",
            Some(before) => match before.trim_end_matches('/') {
                UNKNOWN_WORD => return true,
                directory => directory,
            },
        };
        !directory.starts_with('-')
            && !directory.contains([UNKNOWN, GLOB])
            && (self.directories.has_unknown && Path::new(directory).is_relative() || {
                let files = self.directories.files(directory, self.context);
                files.iter().any(|file| self.context.is_critical(file))
            })
    }

    /// Whether its only effects are known changes to files in the working directories.
    pub(super) fn only_edits_inside(&self) -> bool {
        let innermost = self.plain_innermost();
        let Some(level) = innermost.filter(|_| !self.directories.has_unknown) else {
            return false;
        };
        let program = level.program().unwrap_or_default();
        let mut arguments = level.words.iter().skip(1);
        let is_known_option = |letter: char| "EPRadfinprvcm".contains(letter);
        let is_harmless = |word: &PartWord| {
            word.value.as_deref().is_some_and(|value| {
                if let Some(letters) = value.strip_prefix('-') {
                    letters.chars().all(is_known_option)
                } else {
                    let files = self.directories.files(value, self.context);
                    files.iter().all(|file| self.context.is_inside(file))
                }
            })
        };
        // `cp -r x/. .` may replace any file of the directory.
        let mut sources = arguments.clone().rev().skip(1);
        let merges_directories = program == "cp"
            && sources.any(|word| {
                let value = word.value.as_deref().unwrap_or_default();
                value.trim_end_matches('/').ends_with("/.") || value == "."
            });
        // The script of `sed` starts no program if the command without the in-place option only reads.
        let starts_no_program = program != "sed" || {
            let uses = find_uses(program);
            let is_in_place = |word: &PartWord| uses.iter().any(|edit| edit.is_given(word));
            let words = level.words.iter().filter(|word| !is_in_place(word));
            let reading: Vec<&str> = words.map(|word| word.text.as_str()).collect();
            analyse(&reading.join(" ")).verdict.is_read_only()
        };
        let is_safe = starts_no_program && !merges_directories;
        is_safe && EDITING_PROGRAMS.contains(&program) && arguments.all(is_harmless)
    }
}
