//! A program with its arguments, as deny and ask rules see it.

use std::rc::Rc;

use super::command_pattern::CommandPattern;
use super::directories::Directories;
use super::domain::host;
use super::outline::{names_in, outline};
use super::path_context::{PathContext, ResolvedPath};
use super::pattern::{GLOB, UNKNOWN};
use super::program_use::ProgramUse;
use crate::shell::{
    CommandPart, PartWord, UseKind, listed_names, pattern_index, program_name, uses,
};

/// Programs whose operands are text, not files.
const TEXTS: [&str; 6] = ["echo", "printf", "test", "[", ":", "true"];

/// A program, its arguments, its redirections and the assignments before it.
pub(super) struct Invocation<'a> {
    /// The command. Its input is no pipe, but the text of one.
    pub(super) part: CommandPart,
    /// The words, with gaps for parts known only at run time.
    pub(super) outlines: Vec<String>,
    /// Its possible directories.
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

    /// Returns the name of the program without directory; it has a gap if it is known only at run time.
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

    /// Returns what the table says about the program and its subcommand.
    pub(super) fn uses(&self) -> Vec<ProgramUse<'_>> {
        let names = listed_names(self.outlines.iter().map(String::as_str)).into_iter();
        let known = names.flat_map(|(at, name)| {
            let arguments = self.part.words.get(at + 1..).unwrap_or_default();
            let uses = uses(&name).iter();
            uses.map(move |listed| ProgramUse { listed, arguments })
        });
        known.collect()
    }

    /// Returns the indexes of the words that may name files: not those of programs that print or compare their operands,
    /// and no pattern.
    pub(super) fn operands(&self) -> impl Iterator<Item = usize> + use<> {
        let pattern = pattern_index(&self.part.words);
        let is_text = TEXTS.contains(&self.program());
        let end = if is_text { 1 } else { self.outlines.len() };
        (0..end).filter(move |index| Some(*index) != pattern)
    }

    /// Returns the files that words, or parts of them, may name.
    pub(super) fn files_in<'w>(
        &self,
        words: impl Iterator<Item = &'w PartWord>,
    ) -> Vec<ResolvedPath> {
        let outlines = words.map(|word| outline(word, self.context));
        let outlines: Vec<String> = outlines.collect();
        let names = outlines.iter().flat_map(|outline| names_in(outline));
        let files = names.flat_map(|name| self.directories.files(name, self.context));
        files.collect()
    }

    /// Returns the files that it reads, or that its words may name.
    pub(super) fn reads(&self) -> Vec<ResolvedPath> {
        let operands = self.operands();
        let words = operands.filter_map(|index| self.part.words.get(index));
        let values = self.part.assignments.iter().map(|set| &set.word);
        self.files_in(words.chain(self.part.reads()).chain(values))
    }

    /// Returns the targets of its redirections.
    pub(super) fn output_files(&self) -> impl Iterator<Item = ResolvedPath> {
        self.part.writes().flat_map(|word| {
            let name = outline(word, self.context);
            self.directories.files(&name, self.context)
        })
    }

    /// Returns the files that the operands of writing programs name.
    pub(super) fn changes(&self) -> Vec<ResolvedPath> {
        let mut files = Vec::new();
        let uses = self.uses().into_iter();
        for writer in uses.filter(|one| one.listed.kind == UseKind::Writes) {
            let outputs = writer.outputs();
            let (sources, outputs) = match outputs.split_last() {
                Some((_, sources)) if writer.listed.has("last") => outputs.split_at(sources.len()),
                _ => (&[][..], &outputs[..]),
            };
            files.extend(self.files_in(outputs.iter().copied()));
            // The copies in a directory have the same names.
            for (source, directory) in sources.iter().zip(outputs.iter().cycle()) {
                let source = outline(source, self.context);
                let name = source.trim_end_matches('/').rsplit('/').next();
                let directory = outline(directory, self.context);
                let copy = format!("{directory}/{}", name.unwrap_or_default());
                files.extend(self.directories.files(&copy, self.context));
            }
        }
        files
    }

    /// Returns the hosts of URLs in its words.
    pub(super) fn hosts(&self) -> impl Iterator<Item = String> {
        let is_client = matches!(self.program(), "curl" | "wget");
        let values = self.part.words.iter().skip(1);
        let values = values.filter_map(|word| word.value.as_deref());
        values.filter_map(move |value| {
            if value.contains("://") {
                return host(value);
            }
            // `curl example.com/x`
            host(&format!("http://{value}")).filter(|_| is_client)
        })
    }

    /// Whether a deny or ask rule for commands is about it.
    pub(super) fn is(&self, pattern: &CommandPattern) -> bool {
        if self.is_unknown() || self.outlines.is_empty() {
            return false;
        }
        let arguments: Vec<&str> = self.arguments().collect();
        pattern.matches_words(self.program(), &arguments)
            || pattern.has_text(self.program()) && self.texts().any(|text| pattern.covers(&text))
    }

    /// Returns its spellings: with the values of words, with the name of the program only, with the assignments before
    /// it, and with a redirection behind it.
    fn texts(&self) -> impl Iterator<Item = String> {
        let meant = self.outlines.join(" ");
        let by_name = std::iter::once(self.program()).chain(self.arguments());
        let by_name = by_name.collect::<Vec<_>>().join(" ");
        let set = self.part.assignments.iter();
        let set = set.map(|set| format!("{}={} ", set.name, set.word.value_or_text()));
        let set = set.collect::<String>() + &meant;
        let targets = self.part.writes().map(|word| outline(word, self.context));
        let redirected = targets.map(|target| format!("{meant} > {target}"));
        let redirected: Vec<String> = redirected.collect();
        [meant, by_name, set].into_iter().chain(redirected)
    }
}
