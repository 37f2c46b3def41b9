//! A program with its arguments, as rules see it.

use std::rc::Rc;

use super::command_pattern::CommandPattern;
use super::directories::Directories;
use super::outline::outline;
use super::path_context::PathContext;
use super::pattern::{GLOB, UNKNOWN};
use crate::shell::{PartAssignment, PartWord, Redirection, Use, pattern_index, program_name, uses};

/// Programs whose operands are text, not files.
const TEXTS: [&str; 6] = ["echo", "printf", "test", "[", ":", "true"];

/// A program, its arguments and its redirections.
pub(super) struct Invocation {
    /// The words; the first is the program.
    pub(super) words: Vec<PartWord>,
    /// The words, with gaps for parts known only at run time.
    pub(super) outlines: Vec<String>,
    /// The assignments before it.
    pub(super) assignments: Vec<PartAssignment>,
    pub(super) redirections: Vec<Redirection>,
    /// Its possible directories.
    pub(super) directories: Rc<Directories>,
}

impl Invocation {
    pub(super) fn new(
        words: &[PartWord],
        assignments: Vec<PartAssignment>,
        directories: &Rc<Directories>,
        context: &PathContext<'_>,
    ) -> Self {
        Self {
            outlines: words.iter().map(|word| outline(word, context)).collect(),
            words: words.to_vec(),
            assignments,
            redirections: Vec::new(),
            directories: Rc::clone(directories),
        }
    }

    /// Returns the name of the program without directory; it has a gap if it is known only at run time.
    pub(super) fn program(&self) -> &str {
        self.outlines.first().map_or("", |word| program_name(word))
    }

    /// Returns the words that name files to read, or to write.
    pub(super) fn opened(
        &self,
        opens: fn(&Redirection) -> bool,
    ) -> impl Iterator<Item = &PartWord> {
        let opened = self.redirections.iter().filter(move |one| opens(one));
        opened.map(|one| &one.target)
    }

    /// Whether the program is known only at run time.
    pub(super) fn is_unknown(&self) -> bool {
        self.program().contains([UNKNOWN, GLOB]) || self.program().contains("{}")
    }

    /// Returns what the table says about the program and its subcommand, each with the index of its name. Each option
    /// before the subcommand may or may not have a value.
    pub(super) fn known(&self) -> Vec<(&'static Use, usize)> {
        let mut known: Vec<_> = uses(self.program()).iter().map(|one| (one, 0)).collect();
        let mut has_option = false;
        for (at, word) in self.outlines.iter().enumerate().skip(1) {
            if word.starts_with('-') {
                has_option = true;
                continue;
            }
            let subcommand = format!("{} {word}", self.program());
            known.extend(uses(&subcommand).iter().map(|one| (one, at)));
            if !std::mem::take(&mut has_option) {
                break;
            }
        }
        known
    }

    /// Returns the indexes of the words that may name files: not those of programs that print or compare their operands,
    /// and no pattern.
    pub(super) fn files(&self) -> impl Iterator<Item = usize> + use<> {
        let pattern = pattern_index(&self.words);
        let end = if TEXTS.contains(&self.program()) {
            1
        } else {
            self.words.len()
        };
        (0..end).filter(move |index| Some(*index) != pattern)
    }

    /// Whether a deny or ask rule for commands is about it.
    pub(super) fn is(&self, pattern: &CommandPattern, context: &PathContext<'_>) -> bool {
        if self.is_unknown() || self.words.is_empty() {
            return false;
        }
        let arguments: Vec<&str> = self.outlines.iter().skip(1).map(String::as_str).collect();
        if pattern.matches_words(self.program(), &arguments) {
            return true;
        }
        pattern.has_text(self.program()) && self.texts(context).any(|text| pattern.covers(&text))
    }

    /// Returns its spellings: with the values of words, with the name of the program only, with the assignments before
    /// it, and with a redirection behind it.
    fn texts(&self, context: &PathContext<'_>) -> impl Iterator<Item = String> {
        let arguments = self.outlines.iter().skip(1).map(String::as_str);
        let first = self.outlines.first().map(String::as_str);
        let meant = joined(first.into_iter().chain(arguments.clone()));
        let by_name = joined(std::iter::once(self.program()).chain(arguments));
        let set = self.assignments.iter();
        let set = set.map(|set| format!("{}={} ", set.name, set.word.value_or_text()));
        let set = set.collect::<String>() + &meant;
        let targets = self
            .opened(Redirection::writes)
            .map(|word| outline(word, context));
        let redirected = targets.map(|target| format!("{meant} > {target}"));
        let redirected: Vec<String> = redirected.collect();
        [meant, by_name, set].into_iter().chain(redirected)
    }
}

/// Joins words with spaces.
pub(super) fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}
