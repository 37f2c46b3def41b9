//! File changes made by commands.

use std::path::Path;

use super::allow::is_harmlessly_set;
use super::command::Command;
use super::invocation::Invocation;
use super::pattern::{GLOB, UNKNOWN};
use crate::shell::{PartWord, analyse, uses};

/// Programs that the mode `acceptEdits` runs on files in the working directories.
const EDITS: [&str; 7] = ["mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"];

impl Command<'_> {
    /// Whether it removes a directory that is never removed without approval. A text that was not read may do so if it
    /// has the words.
    pub(super) fn removes_critical(&self) -> bool {
        if !self.is_understood() {
            let is_sign = |sign: char| sign.is_whitespace() || "\"'`(){};&|".contains(sign);
            let mut words = self.text.split(is_sign);
            return words.clone().any(|word| matches!(word, "rm" | "rmdir"))
                && words.any(|word| word.starts_with(['/', '~', '$', '*', '.']));
        }
        let removing = self.invocations().iter();
        let removing = removing.filter(|one| matches!(one.program(), "rm" | "rmdir"));
        let mut removed = removing.flat_map(Invocation::arguments);
        removed.any(|outline| self.is_critical(outline))
    }

    fn is_critical(&self, outline: &str) -> bool {
        let directory = match outline.strip_suffix(GLOB) {
            None => outline,
            Some("") => ".",
            Some("/") => "/",
            Some(before) => match before.trim_end_matches('/') {
                "\x02" => return true,
                directory => directory,
            },
        };
        !directory.starts_with('-')
            && !directory.contains([UNKNOWN, GLOB])
            && (self.directories.is_open && Path::new(directory).is_relative() || {
                let files = self.directories.files(directory, self.context);
                files.iter().any(|file| self.context.is_critical(file))
            })
    }

    /// Whether its only effect is known changes to files in the working directories.
    pub(super) fn edits_inside(&self) -> bool {
        let level = self.levels.last().filter(|level| is_harmlessly_set(level));
        let Some(level) = level.filter(|_| !self.directories.is_open) else {
            return false;
        };
        let program = level.program().unwrap_or_default();
        let mut arguments = level.words.iter().skip(1);
        let is_known = |word: &PartWord| {
            word.value.as_deref().is_some_and(|value| {
                if let Some(letters) = value.strip_prefix('-') {
                    letters
                        .chars()
                        .all(|letter| "EPRadfinprvcm".contains(letter))
                } else {
                    let files = self.directories.files(value, self.context);
                    files.iter().all(|file| self.context.is_inside(file))
                }
            })
        };
        // `cp -r x/. .` may replace any file.
        let mut sources = arguments.clone().rev().skip(1);
        let merges = program == "cp"
            && sources.any(|word| {
                let value = word.value.as_deref().unwrap_or_default();
                value.trim_end_matches('/').ends_with("/.") || value == "."
            });
        // Without the in-place option, the script must be read-only, so that it starts no program.
        let is_plain = program != "sed" || {
            let is_in_place = |word: &&PartWord| uses(program).iter().any(|one| one.is_given(word));
            let kept = level.words.iter().filter(|word| !is_in_place(word));
            let kept: Vec<&str> = kept.map(|word| word.text.as_str()).collect();
            analyse(&kept.join(" ")).verdict.is_read_only()
        };
        EDITS.contains(&program) && arguments.all(is_known) && is_plain && !merges
    }
}
