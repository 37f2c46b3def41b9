//! Files that a program changes without naming them in its arguments: copies, found files, patches, variables.

use super::invocation::Invocation;
use super::outline::found_by;
use super::programs;
use super::wildcard::GAP;
use crate::shell::{CommandPart, PartWord};
use crate::tool_facts::possibly_patched;

/// Maximum number of words that are combined into the names of copies.
const MAX_COPIED: usize = 16;

/// A name that no rule has, for files that get other names.
const UNNAMED: &str = "unnamed";

impl Invocation {
    /// Adds the files that variables name.
    pub(super) fn add_variables(&mut self, set: &[(String, Option<String>)]) {
        let files = set
            .iter()
            .filter(|(name, _)| programs::FILE_VARIABLES.contains(name));
        for (_, value) in files {
            let unknown = || PartWord::unknown(0..0, "$file");
            let word = value.as_deref().map_or_else(unknown, PartWord::known);
            self.reads.push(word.clone());
            self.writes.push(word);
        }
    }

    /// Adds the files that the program changes without naming them.
    pub(super) fn add_effects(&mut self, level: &CommandPart) {
        if self.patches() {
            self.patch(level);
        }
        if programs::COPIES.contains_with(self.program(), &self.words) {
            self.add_copies();
        }
        if self.program() == "find" {
            self.add_found();
        }
        if programs::DOWNLOADS.contains_with(self.program(), &self.words) {
            let addresses = self
                .outlines
                .iter()
                .skip(1)
                .filter(|word| !word.starts_with('-'));
            // `wget -x -nH --cut-dirs=1 host/x/src/y`
            let names = addresses.flat_map(|address| {
                let starts = address.match_indices('/').map(|(at, _)| at + 1);
                starts.map(|start| &address[start..])
            });
            let names = names.filter_map(|name| name.split(['?', '#']).next());
            let names: Vec<String> = names.map(str::to_owned).collect();
            self.add_changed(names.iter().map(String::as_str));
        }
        let changed: Vec<&str> =
            programs::default_changes(self.program(), &self.outlines).collect();
        self.add_changed(changed.into_iter());
        if programs::CREATES.contains(self.program()) && !level.only_reads {
            self.add_changed(std::iter::once(UNNAMED));
        }
        if programs::DECOMPRESSES.contains(self.program()) {
            let names = self.outlines.iter().skip(1);
            let names = names.filter_map(|name| Some(name.rsplit_once('.')?.0.to_owned()));
            let names: Vec<String> = names.collect();
            self.add_changed(names.iter().map(String::as_str));
        }
    }

    /// Adds the names of files that it may change.
    pub(super) fn add_changed<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        let names = names.filter(|name| !name.is_empty());
        self.patched.extend(names.map(PartWord::known));
    }

    /// Adds, for each operand that may be a directory, the copies of all operands in it.
    fn add_copies(&mut self) {
        let first = self.outlines.len().saturating_sub(MAX_COPIED).max(1);
        let values = self.outlines.iter().skip(first);
        let values = values.map(|value| {
            value
                .rsplit_once('=')
                .map_or(value.as_str(), |(_, after)| after)
        });
        let operands: Vec<&str> = values.filter(|value| !value.starts_with('-')).collect();
        let targets = operands
            .iter()
            .rev()
            .take(if self.copied() > 0 { 1 } else { MAX_COPIED });
        let copies = targets.flat_map(|to| {
            let names = operands.iter().map(|from| programs::name(from));
            names.map(move |name| format!("{to}/{name}"))
        });
        let mut copies: Vec<String> = copies.collect();
        // `ln ../x`
        if let [alone] = operands.as_slice() {
            copies.push(programs::name(alone).to_owned());
        }
        if self.outlines.len() > MAX_COPIED {
            let all = self.outlines.iter().skip(1);
            copies.extend(all.map(|to| format!("{to}/{GAP}")));
        }
        self.add_changed(copies.iter().map(String::as_str));
    }

    /// Adds the files that `find` finds, if it changes them.
    fn add_found(&mut self) {
        if programs::CHANGES.contains_with(self.program(), &self.words) {
            self.patched.push(PartWord {
                pieces: found_by(&self.words),
                ..PartWord::unknown(0..0, "{}")
            });
        }
    }

    /// Whether it, or a command that it starts, changes the files that a patch names.
    fn patches(&self) -> bool {
        self.beginnings().any(|at| {
            let name = self.words[at].known_value();
            programs::PATCHES.contains_with(programs::name(name), &self.words[at + 1..])
        })
    }

    /// Adds the files named in its patch.
    fn patch(&mut self, level: &CommandPart) {
        let arguments = self.words.iter().skip(1).map(|word| word.value.as_deref());
        let texts = arguments.chain(std::iter::once(level.input.text()));
        let files: Vec<String> = texts
            .flatten()
            .flat_map(possibly_patched)
            .flat_map(|name| {
                std::iter::once(name).chain(name.split_once('/').map(|(_, below)| below))
            })
            .map(str::to_owned)
            .collect();
        // `-p2` removes more directories.
        let mut options = self.words.iter().skip(1).map(|word| word.text.as_str());
        let is_cut = options.any(|word| {
            word.starts_with("--str") || word.starts_with("-p") && !["-p0", "-p1"].contains(&word)
        });
        if files.is_empty() || is_cut {
            self.patched.push(PartWord::unknown(0..0, "$patch"));
        }
        self.add_changed(files.iter().map(String::as_str));
    }
}
