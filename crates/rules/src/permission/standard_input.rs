//! Text that the commands of a command line may read: standard input and files that it writes.

use std::rc::Rc;

use super::invocation::joined;
use super::languages::files_of_sed;
use super::operands::option_values;
use super::outline::{names_in, outlines};
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB, Wildcard, escaped};
use crate::shell::{CommandPart, PartAssignment, PartInput, PartWord};

/// A text that a command line may write to a file or a pipe.
pub(super) struct Composed {
    pub(super) text: String,
    /// The index of the command.
    origin: usize,
    /// Whether it may be the name of a file that the command reads.
    is_name: bool,
}

/// The texts of a command line as they are given to one of its commands.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) texts: &'a [Composed],
    /// The index of the command, whose own texts do not count.
    pub(super) index: usize,
    /// Whether they are in a file that one of its options names, or that it runs without being told.
    pub(super) is_configuration: bool,
    /// Whether the command may read them, so that it may use files that they name.
    pub(super) names_files: bool,
}

impl<'a> Given<'a> {
    /// Returns the texts, and whether the files that they name count.
    pub(super) fn texts(self) -> impl Iterator<Item = (&'a str, bool)> {
        let others = self.texts.iter();
        let others = others.filter(move |text| text.origin != self.index);
        others.map(move |text| (text.text.as_str(), self.names_files && !text.is_name))
    }
}

/// Possible standard input of the commands of a command line.
pub(super) struct StandardInput<'a> {
    /// Text in words and here-documents, which commands may print and a shell may read.
    pub(super) printed: Vec<String>,
    /// Whether `exec`, or the input of a shell around it, replaces the standard input.
    pub(super) replaces_input: bool,
    /// Whether a command may write text to a file.
    writes: bool,
    /// Names of files to which commands write text, with the index of the command; none if it is in a command line
    /// inside.
    written: Vec<(Option<usize>, String)>,
    /// Indices of commands that write text which is not in `composed`.
    inexact: Vec<Option<usize>>,
    /// The index of the command that is looked at, which does not use what it writes itself.
    pub(super) current: Option<usize>,
    /// Variables that are set for the whole command line.
    pub(super) assigned: Vec<PartAssignment>,
    /// Texts that may be written.
    composed: Rc<[Composed]>,
    pub(super) context: &'a PathContext<'a>,
}

impl<'a> StandardInput<'a> {
    pub(super) fn new(parts: &[CommandPart], context: &'a PathContext<'a>) -> Self {
        let texts = parts.iter().flat_map(|part| {
            let arguments = part.words.iter().skip(1);
            let arguments = arguments.map(PartWord::value_or_text);
            let input = part.input.text().map(str::to_owned);
            std::iter::once(joined(arguments)).chain(input)
        });
        let replaces_input = parts.iter().any(|part| {
            let first = part.words.first();
            let is_exec = first.is_some_and(|word| word.value.as_deref() == Some("exec"));
            is_exec && (!part.reads.is_empty() || matches!(part.input, PartInput::Text(_)))
        });
        let mut names: Vec<(Option<usize>, String)> = Vec::new();
        let mut inexact = Vec::new();
        let mut writes_any = false;
        for (index, part) in parts.iter().enumerate() {
            for level in part.levels() {
                let (found, writes) = written(&level, &names, replaces_input, context);
                writes_any |= writes || !found.is_empty();
                if writes && !prints_exactly(&level) {
                    inexact.push(Some(index));
                }
                names.extend(found.into_iter().map(|name| (Some(index), name)));
            }
        }
        Self {
            printed: texts.collect(),
            replaces_input,
            writes: writes_any,
            written: names,
            inexact,
            current: None,
            assigned: Vec::new(),
            composed: parts.iter().enumerate().flat_map(composed).collect(),
            context,
        }
    }

    /// Returns the standard input of the commands in a command line that a command runs.
    pub(super) fn inside(&self, level: &CommandPart) -> Self {
        let input = level.input.text().map(str::to_owned);
        Self {
            replaces_input: self.replaces_input || level.input != PartInput::Inherited,
            printed: self.printed.iter().cloned().chain(input).collect(),
            writes: self.writes,
            written: self.written.clone(),
            inexact: self.inexact.clone(),
            current: self.current,
            assigned: [self.assigned.as_slice(), &level.assignments].concat(),
            composed: Rc::default(),
            context: self.context,
        }
    }

    /// Returns the standard input of the commands in a command line inside this one.
    pub(super) fn with(&self, parts: &[CommandPart]) -> Self {
        let inner = Self::new(parts, self.context);
        let written = inner.written.into_iter().map(|(_, name)| (None, name));
        let inexact = inner.inexact.iter().map(|_| None);
        Self {
            replaces_input: self.replaces_input || inner.replaces_input,
            printed: [self.printed.as_slice(), &inner.printed].concat(),
            writes: self.writes || inner.writes,
            written: self.written.iter().cloned().chain(written).collect(),
            inexact: self.inexact.iter().copied().chain(inexact).collect(),
            current: self.current,
            assigned: self.assigned.clone(),
            composed: self.composed.clone(),
            context: self.context,
        }
    }

    /// Returns the texts that the command line writes to files.
    pub(super) fn composed(&self) -> &Rc<[Composed]> {
        &self.composed
    }

    /// Whether a command may write text to a file, whose name may be any.
    pub(super) fn writes(&self) -> bool {
        self.writes
    }

    /// Whether other commands write nothing else to files.
    pub(super) fn is_exact(&self) -> bool {
        self.inexact.iter().all(|index| self.is_own(*index))
    }

    /// Whether an index is the one of the command that is looked at.
    fn is_own(&self, index: Option<usize>) -> bool {
        index.is_some() && index == self.current
    }

    /// Returns the names of files to which other commands write text.
    fn written(&self) -> impl Iterator<Item = &String> + Clone {
        let others = self
            .written
            .iter()
            .filter(|(index, _)| !self.is_own(*index));
        others.map(|(_, name)| name)
    }

    /// Whether a program may run a file that the command line writes without naming it: a module, a test, settings.
    pub(super) fn is_default_of(&self, program: &str) -> bool {
        let is_code = |name: &String| {
            let extension = name.rsplit_once('.').map(|(_, extension)| extension);
            extension.is_none_or(|extension| programs::CODE_EXTENSIONS.contains(extension))
        };
        let name = programs::name(program);
        let runs = program.contains('/') || programs::may_run_project(name);
        let mut names = self.written();
        runs && names.clone().any(is_code)
            || names.any(|one| programs::DEFAULT_FILES.is_mark(name, &PartWord::known(one)))
    }

    /// Whether a command uses a file that the command line writes: it names one or runs one by default, or the line
    /// changes where programs are found.
    pub(super) fn is_used_by(&self, levels: &[CommandPart]) -> bool {
        let mut assigned = levels.iter().flat_map(|level| &level.assignments);
        assigned.any(|set| set.name == "PATH" || self.is_written(&set.word))
            || levels.first().is_some_and(|level| {
                let mut reads = level.reads.iter();
                self.is_named_by(&level.words) || reads.any(|word| self.is_written(word))
            })
    }

    /// Whether the words of a command name a file that the command line writes, or a program that runs one by default.
    pub(super) fn is_named_by(&self, words: &[PartWord]) -> bool {
        let program = words.first().and_then(|word| word.value.as_deref());
        self.is_default_of(program.unwrap_or_default())
            || words.iter().any(|word| self.is_written(word))
    }

    /// Whether an option of a command, or a variable, names a file that the command line writes, other than one with a
    /// message.
    pub(super) fn configures(&self, levels: &[CommandPart]) -> bool {
        let program = levels.last().and_then(CommandPart::program);
        let program = program.unwrap_or_default();
        // `WGETRC=/tmp/x wget h`
        let mut assigned = levels.iter().flat_map(|level| &level.assignments);
        let mut words = levels.iter().flat_map(|level| level.words.windows(2));
        words.any(|pair| {
            let [before, word] = pair else { return false };
            let is_message = |word: &PartWord| {
                programs::TAKES_DATA.contains(program)
                    && programs::MESSAGE_OPTIONS.contains(&word.text)
            };
            let is_option = |word: &PartWord| word.text.starts_with('-') && !is_message(word);
            let is_attached = is_option(word) && word.text.contains('=');
            let is_installed = programs::INSTALLS.contains(program);
            (is_attached || is_option(before) || is_installed) && self.is_written(word)
        }) || assigned.any(|set| self.is_written(&set.word))
    }

    /// Whether it may be a file that the command line writes.
    pub(super) fn is_written(&self, word: &PartWord) -> bool {
        if self.written().next().is_none() {
            return false;
        }
        let values = outlines(word, self.context);
        // `exec(open("x").read())`
        let is_code = |value: &String| value.contains(['"', '\'', '(']);
        let mut codes = values.iter().filter(|value| is_code(value));
        if codes.any(|code| self.written().any(|name| code.contains(name.as_str()))) {
            return true;
        }
        let pieces = values.iter().flat_map(|value| value.split_whitespace());
        let mut names = pieces.flat_map(base_names);
        names.any(|name| {
            let is_unknown = name.contains([GAP, GLOB]);
            self.written().any(|written| {
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

/// Returns the names of files to which a command may write text: its input, its output, what a script in its words says,
/// or a file with one of these names, changed or not; and whether it writes it by itself.
fn written(
    part: &CommandPart,
    names: &[(Option<usize>, String)],
    replaces_input: bool,
    context: &PathContext<'_>,
) -> (Vec<String>, bool) {
    let mut values = part.words.iter().map(PartWord::known_value);
    let program = programs::name(values.next().unwrap_or_default());
    let is_source = |name: String| name == "stdin" || names.iter().any(|(_, known)| *known == name);
    let changes = programs::COPIES.contains(program) || programs::CHANGES.contains(program);
    let has_input = replaces_input || part.input != PartInput::Inherited || !part.reads.is_empty();
    let takes_input = has_input && programs::CHANGES.contains(program);
    let takes = takes_input || changes && values.flat_map(base_names).any(is_source);
    let mut options = part.words.iter().filter(|word| word.text.starts_with('-'));
    let has = |option: &str| part.words.iter().any(|word| word.text == option);
    let output = option_values(&part.words, |option| {
        programs::OUTPUT_OPTIONS.has_option(option)
    });
    let is_binary = programs::COMPILES.contains(program) && !has("-E") && !has("-P");
    let output: Vec<PartWord> = output.filter(|_| !is_binary && !part.only_reads).collect();
    let edits = programs::GLUED_NAMES.contains(program)
        || options.any(|option| programs::CHANGES.is_mark(program, option));
    let operands = part.words.iter().skip(1).filter(|_| takes || edits);
    let is_text = |word: &&PartWord| !matches!(word.value.as_deref(), Some("/dev/null"));
    let redirected = part.writes.iter().filter(is_text);
    let writes = redirected.clone().next().is_some() || !output.is_empty();
    let words = redirected.chain(operands).chain(&output);
    let outlines = words.flat_map(|word| outlines(word, context));
    let by_script = part.words.iter().filter(|_| program.ends_with("sed"));
    let by_script = by_script.filter_map(|word| word.value.as_deref());
    let by_script = by_script.flat_map(files_of_sed).map(str::to_owned);
    let found = outlines.chain(by_script).flat_map(|value| {
        let mut names = base_names(&value);
        // A program may be given the directory: `git clone --template=d x`.
        let directories = value
            .split('/')
            .filter(|name| !["", ".", ".."].contains(name));
        names.extend(directories.map(str::to_owned));
        names
    });
    let found = found.filter(|name| !name.trim_matches(GAP).is_empty());
    let found = found.collect();
    (found, writes)
}

/// Returns the texts that a command may print or write to a file: its words and its input. `date '+rm x'` prints what
/// its words say, but a word without spaces is most often the name of a file that the command reads.
fn composed((origin, part): (usize, &CommandPart)) -> Vec<Composed> {
    let program = part.program();
    let prints = matches!(program, Some("echo" | "printf"));
    let words = part.words.iter().skip(1).chain(&part.reads);
    let words = words.map(|word| {
        let text = word.value_or_text().to_owned();
        Composed {
            is_name: !prints
                && !text.contains(|sign: char| sign.is_whitespace() || "<>\"'({|;".contains(sign)),
            text,
            origin,
        }
    });
    let input = part.input.text().map(|text| Composed {
        text: text.to_owned(),
        origin,
        is_name: false,
    });
    words.chain(input).collect()
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
