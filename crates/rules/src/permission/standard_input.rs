//! Text that the commands of a command line may read: standard input and files that it writes.

use super::invocation::joined;
use super::outline::{names_in, outlines};
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB, Wildcard, escaped};
use crate::shell::{CommandPart, PartInput, PartWord};

/// Possible standard input of the commands of a command line.
pub(super) struct StandardInput<'a> {
    /// Text in words and here-documents, which commands may print and a shell may read.
    pub(super) printed: Vec<String>,
    /// Whether `exec`, or the input of a shell around it, replaces the standard input.
    pub(super) replaces_input: bool,
    /// Names of files that redirections and copies of printed text write.
    written: Vec<String>,
    /// Whether their content is in `composed`.
    is_exact: bool,
    /// Texts that may be written.
    composed: Vec<String>,
    pub(super) context: &'a PathContext<'a>,
}

impl<'a> StandardInput<'a> {
    pub(super) fn new(parts: &[CommandPart], context: &'a PathContext<'a>) -> Self {
        let texts = parts.iter().flat_map(|part| {
            let arguments = part.words.iter().skip(1);
            let arguments = arguments.map(|word| word.value.as_deref().unwrap_or(&word.text));
            let input = part.input.text().map(str::to_owned);
            std::iter::once(joined(arguments)).chain(input)
        });
        let replaces_input = parts.iter().any(|part| {
            let first = part.words.first();
            let is_exec = first.is_some_and(|word| word.value.as_deref() == Some("exec"));
            is_exec && (!part.reads.is_empty() || matches!(part.input, PartInput::Text(_)))
        });
        let mut names = Vec::new();
        for part in parts {
            let values = written(part, &names);
            let values = values.into_iter().flat_map(|word| outlines(word, context));
            names.extend(values.flat_map(|value| base_names(&value)));
        }
        Self {
            printed: texts.collect(),
            replaces_input,
            is_exact: parts
                .iter()
                .filter(|part| !part.writes.is_empty())
                .all(prints_exactly),
            written: names,
            composed: parts.iter().flat_map(composed).collect(),
            context,
        }
    }

    /// Returns the standard input of the commands in a command line that a command runs.
    pub(super) fn inside(&self, level: &CommandPart) -> Self {
        let input = level.input.text().map(str::to_owned);
        Self {
            replaces_input: self.replaces_input || level.input != PartInput::Inherited,
            printed: self.printed.iter().cloned().chain(input).collect(),
            written: self.written.clone(),
            is_exact: self.is_exact,
            composed: Vec::new(),
            context: self.context,
        }
    }

    /// Returns the texts that the command line writes to files, and whether they are all.
    pub(super) fn composed(&self) -> (&[String], bool) {
        (&self.composed, self.is_exact)
    }

    /// Whether a program may run a file that the command line writes without naming it, for example as a module.
    fn is_default_of(&self, program: &str) -> bool {
        const MODULES: [&str; 10] = [
            ".py", ".pm", ".pl", ".js", ".mjs", ".cjs", ".ts", ".rb", ".php", ".lua",
        ];
        let is_module = |name: &String| MODULES.iter().any(|end| name.ends_with(end));
        let mut names = self.written.iter();
        if programs::SCRIPTS.contains(program) && names.clone().any(is_module) {
            return true;
        }
        names.any(|name| programs::DEFAULT_FILES.is_mark(program, &PartWord::known(name)))
    }

    /// Whether a command names a file that the command line writes, or runs one by default.
    pub(super) fn is_used_by(&self, levels: &[CommandPart]) -> bool {
        let mut assigned = levels.iter().flat_map(|level| &level.assignments);
        let words = levels.iter().take(1);
        let mut words = words.flat_map(|level| level.words.iter().chain(&level.reads));
        assigned.any(|set| set.name == "PATH")
            || words.any(|word| {
                let program = word.value.as_deref().unwrap_or_default();
                self.is_written(word) || self.is_default_of(programs::name(program))
            })
    }

    /// Whether it may be a file that the command line writes.
    pub(super) fn is_written(&self, word: &PartWord) -> bool {
        let values = outlines(word, self.context);
        let pieces = values.iter().flat_map(|value| value.split_whitespace());
        let mut names = pieces.flat_map(base_names);
        names.any(|name| {
            let is_unknown = name.contains([GAP, GLOB]);
            self.written.iter().any(|written| {
                *written == name
                    || (is_unknown && Wildcard::parse(&escaped(written)).may_cover(&name))
            })
        })
    }
}

/// Returns the names of the files that a word may name, without directories.
fn base_names(value: &str) -> Vec<String> {
    let names = names_in(value).map(programs::name);
    let names = names.filter(|name| !name.trim_matches(GAP).is_empty());
    names.map(str::to_owned).collect()
}

/// Returns the words that may name files to which a command writes its input, its output or a copy
/// of a file with one of these names.
fn written<'a>(part: &'a CommandPart, names: &[String]) -> Vec<&'a PartWord> {
    let mut values = part
        .words
        .iter()
        .map(|word| word.value.as_deref().unwrap_or_default());
    let program = programs::name(values.next().unwrap_or_default());
    let mut sources = values.flat_map(base_names);
    let is_copy = programs::COPIES.contains(program)
        && sources.any(|name| name == "stdin" || names.contains(&name));
    let takes_input = part.input != PartInput::Inherited && programs::CHANGES.contains(program);
    let operands = part.words.iter().skip(1).filter(|_| is_copy || takes_input);
    part.writes.iter().chain(operands).collect()
}

/// Returns the texts that a command may write to a file: what it prints and its input.
fn composed(part: &CommandPart) -> Vec<String> {
    let program = part.words.first().and_then(|word| word.value.as_deref());
    let prints = matches!(program, Some("echo" | "printf"));
    let words = part.words.iter().skip(1).filter(|_| prints);
    let words = words.map(|word| word.value.as_deref().unwrap_or(&word.text));
    words.chain(part.input.text()).map(str::to_owned).collect()
}

/// Whether the texts that a command may write are its output.
fn prints_exactly(part: &CommandPart) -> bool {
    let mut words = part.words.iter().map(|word| word.value.as_deref());
    let is_text = |word: Option<&str>| {
        word.is_some_and(|text| !text.replace("\\n", "").contains(['%', '\\']) && text != "-e")
    };
    match words.next().flatten() {
        Some("echo" | "printf") => words.all(is_text),
        Some("cat" | "tee") | None => part.input.text().is_some() || part.reads.is_empty(),
        Some(program) => programs::COPIES.contains(programs::name(program)),
    }
}
