//! A program with its arguments in the form that deny and ask rules are matched against.

use std::rc::Rc;

use super::command_pattern::CommandPattern;
use super::directories::Directories;
use super::domain::parse_host;
use super::outline::{find_names, outline};
use super::path_context::{PathContext, ResolvedPath};
use super::pattern::{GLOB, UNKNOWN};
use super::program_use::ProgramUse;
use crate::shell::{
    CommandPart, PartWord, UseKind, find_uses, listed_names, pattern_index, program_name,
};

/// Programs whose operands are text, not files.
const TEXT_PROGRAMS: [&str; 6] = ["echo", "printf", "test", "[", ":", "true"];

/// A program with its arguments, redirections and assignments.
pub(super) struct Invocation<'a> {
    /// The command. The input from a pipe is replaced by its text.
    pub(super) part: CommandPart,
    /// The words, with gaps for parts known only at run time.
    pub(super) outlines: Vec<String>,
    /// The possible working directories.
    pub(super) directories: Rc<Directories>,
    context: &'a PathContext<'a>,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(
        part: CommandPart,
        directories: &Rc<Directories>,
        context: &'a PathContext<'a>,
    ) -> Self {
        let words = part.words.iter();
        Self {
            outlines: words.map(|word| outline(word, context)).collect(),
            part,
            directories: Rc::clone(directories),
            context,
        }
    }

    /// Returns the name of the program without its directory, with [`UNKNOWN`] or [`GLOB`] for parts known only at run
    /// time; empty if there is none.
    pub(super) fn program(&self) -> &str {
        self.outlines.first().map_or("", |word| program_name(word))
    }

    /// Returns the words behind the program.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> + Clone {
        self.outlines.iter().skip(1).map(String::as_str)
    }

    /// Whether the program is known only at run time.
    pub(super) fn is_unknown(&self) -> bool {
        self.program().contains([UNKNOWN, GLOB]) || self.program().contains("{}")
    }

    /// Returns the uses of arguments that the table lists for the program and its subcommand.
    pub(super) fn uses(&self) -> Vec<ProgramUse<'_>> {
        let names = listed_names(self.outlines.iter().map(String::as_str)).into_iter();
        let uses = names.flat_map(|(at, name)| {
            let arguments = self.part.words.get(at + 1..).unwrap_or_default();
            let listed = find_uses(&name).iter();
            listed.map(move |listed| ProgramUse { listed, arguments })
        });
        uses.collect()
    }

    /// Returns the indexes of the words that may name files. The arguments of programs that print or compare them do
    /// not, nor does the pattern of a search.
    pub(super) fn file_indexes(&self) -> impl Iterator<Item = usize> + use<> {
        let pattern = pattern_index(&self.part.words);
        let is_text = TEXT_PROGRAMS.contains(&self.program());
        let end = if is_text { 1 } else { self.outlines.len() };
        (0..end).filter(move |index| Some(*index) != pattern)
    }

    /// Returns the files that words, or parts of them, may name.
    pub(super) fn resolve_words<'w>(
        &self,
        words: impl Iterator<Item = &'w PartWord>,
    ) -> Vec<ResolvedPath> {
        let outlines: Vec<String> = words.map(|word| outline(word, self.context)).collect();
        let names = outlines.iter().flat_map(|outline| find_names(outline));
        let files = names.flat_map(|name| self.directories.files(name, self.context));
        files.collect()
    }

    /// Returns the files that it reads or that its words may name.
    pub(super) fn reads(&self) -> Vec<ResolvedPath> {
        let Self { part, .. } = self;
        let indexes = self.file_indexes();
        let words = indexes.filter_map(|index| part.words.get(index));
        let values = part.assignments.iter().map(|assignment| &assignment.word);
        self.resolve_words(words.chain(part.input_targets()).chain(values))
    }

    /// Returns the targets of its redirections.
    pub(super) fn output_files(&self) -> impl Iterator<Item = ResolvedPath> {
        self.part.output_targets().flat_map(|word| {
            let name = outline(word, self.context);
            self.directories.files(&name, self.context)
        })
    }

    /// Returns the files that the program changes.
    pub(super) fn changes(&self) -> Vec<ResolvedPath> {
        let mut files = Vec::new();
        let uses = self.uses().into_iter();
        for writer in uses.filter(|usage| usage.listed.kind == UseKind::Writes) {
            let words = writer.outputs();
            let is_copy = writer.listed.has_word("last");
            let source_count = if is_copy {
                words.len().saturating_sub(1)
            } else {
                0
            };
            let (sources, outputs) = words.split_at(source_count);
            files.extend(self.resolve_words(outputs.iter().copied()));
            // The copies in a directory have the same names.
            for (source, directory) in sources.iter().zip(outputs.iter().cycle()) {
                let path = outline(source, self.context);
                let name = path.trim_end_matches('/').rsplit('/').next();
                let directory = outline(directory, self.context);
                let copy = format!("{directory}/{}", name.unwrap_or_default());
                files.extend(self.directories.files(&copy, self.context));
            }
        }
        files
    }

    /// Returns the hosts of the URLs among its arguments.
    pub(super) fn hosts(&self) -> impl Iterator<Item = String> {
        let is_client = matches!(self.program(), "curl" | "wget");
        let arguments = self.part.words.iter().skip(1);
        let values = arguments.filter_map(|word| word.value.as_deref());
        values.filter_map(move |value| {
            if value.contains("://") {
                return parse_host(value);
            }
            // `curl example.com/x`
            parse_host(&format!("http://{value}")).filter(|_| is_client)
        })
    }

    /// Whether the pattern of a deny or ask rule matches; not if the program is unknown.
    pub(super) fn matches(&self, pattern: &CommandPattern) -> bool {
        if self.is_unknown() || self.outlines.is_empty() {
            return false;
        }
        let arguments: Vec<&str> = self.arguments().collect();
        pattern.matches_words(self.program(), &arguments)
            || pattern.may_match(self.program())
                && self.spellings().any(|text| pattern.covers(&text))
    }

    /// Returns its spellings: with the values of words, with the name of the program instead of its path, with its
    /// assignments, and with each output redirection.
    fn spellings(&self) -> impl Iterator<Item = String> {
        let by_value = self.outlines.join(" ");
        let words = std::iter::once(self.program()).chain(self.arguments());
        let by_name = words.collect::<Vec<_>>().join(" ");
        let assignments = self.part.assignments.iter();
        let prefixes = assignments.map(|set| format!("{}={} ", set.name, set.word.value_or_text()));
        let assigned = prefixes.collect::<String>() + &by_value;
        let targets = self.part.output_targets();
        let behind = targets.map(|word| format!("{by_value} > {}", outline(word, self.context)));
        let redirected: Vec<String> = behind.collect();
        [by_value, by_name, assigned].into_iter().chain(redirected)
    }
}
