//! A command of a command line, as rules see it.

use std::cell::OnceCell;
use std::rc::Rc;

use super::allow::{Allowable, is_harmlessly_set};
use super::command_pattern::CommandPattern;
use super::directories;
use super::directories::{Directories, Target};
use super::domain::host;
use super::invocation::Invocation;
use super::outline::{names_in, outline};
use super::path_context::{PathContext, ResolvedPath};
use super::path_pattern::PathPattern;
use super::pattern::UNKNOWN;
use super::started::{Started, unread};
use crate::shell::{CommandLine, CommandPart, PartWord, Redirection, Use, UseKind};

/// A command of a command line.
pub(super) struct Command<'a> {
    /// The source text.
    pub(super) text: &'a str,
    /// The command and the commands it wraps, outermost first; empty for the rest of a line.
    pub(super) levels: Vec<CommandPart>,
    /// Everything that may run.
    started: Started,
    /// Possible working directories.
    pub(super) directories: Rc<Directories>,
    /// The command line, if it has several commands and this is the first.
    line: Option<&'a str>,
    allowable: Allowable,
    files: OnceCell<NamedFiles>,
}

/// The files that a command names.
pub(super) struct NamedFiles {
    /// Those that its words and input redirections may name.
    pub(super) read: Vec<ResolvedPath>,
    /// The targets of its redirections.
    pub(super) redirected: Vec<ResolvedPath>,
    /// Those that the operands of writing programs name.
    pub(super) changed: Vec<ResolvedPath>,
}

/// Returns the commands of a command line. The part that was not read is one more command, with a text only.
pub(super) fn commands<'a>(
    script: &'a str,
    line: &'a CommandLine,
    context: &PathContext<'_>,
) -> Vec<Command<'a>> {
    let start = Rc::new(Directories {
        known: vec![context.request.directory.to_owned()],
        is_open: false,
    });
    let directories = directories::of(line, &start, context);
    let parts = line.commands.iter().enumerate().zip(directories);
    let read = parts.map(|((index, part), directories)| {
        let levels = part.levels();
        let started = Started::of(index, &line.commands, &directories, context);
        let text = script.get(part.span.clone()).unwrap_or_default();
        Command::new(text, levels, started, directories, context)
    });
    let mut commands: Vec<Command<'a>> = read.collect();
    if let Some(first) = commands.first_mut() {
        first.started.add_words(&line.words, &start, context);
    }
    if let Some(rest) = unread(script, line) {
        let mut started = Started::default();
        started.evaluate_rest("", rest);
        let open = Directories {
            is_open: true,
            ..(*start).clone()
        };
        commands.push(Command::new(
            rest,
            Vec::new(),
            started,
            Rc::new(open),
            context,
        ));
    }
    if let [first, _, ..] = commands.as_mut_slice() {
        first.line = Some(script.trim());
    }
    commands
}

impl<'a> Command<'a> {
    fn new(
        text: &'a str,
        levels: Vec<CommandPart>,
        started: Started,
        directories: Rc<Directories>,
        context: &PathContext<'_>,
    ) -> Self {
        Self {
            text,
            allowable: Allowable::of(&levels, context),
            levels,
            started,
            directories,
            line: None,
            files: OnceCell::new(),
        }
    }
}

impl Command<'_> {
    /// Whether it was read.
    pub(super) fn is_understood(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Returns the programs that it starts.
    pub(super) fn invocations(&self) -> &[Invocation] {
        &self.started.invocations
    }

    /// Whether a deny or ask rule is about it, or about anything that it starts.
    pub(super) fn runs(&self, pattern: &CommandPattern, context: &PathContext<'_>) -> bool {
        self.invocations()
            .iter()
            .any(|one| one.is(pattern, context))
            || self.is_understood() && pattern.covers(self.text)
            || self.line.is_some_and(|line| pattern.covers(line))
    }

    /// Whether a program that it starts is known only at run time.
    pub(super) fn runs_unknown(&self) -> bool {
        self.invocations().iter().any(Invocation::is_unknown)
    }

    /// Whether it evaluates a text that mentions a rule, or one that is known only at run time. `is_trusted` says for
    /// which programs that does not matter.
    pub(super) fn evaluates(
        &self,
        pattern: &CommandPattern,
        is_trusted: impl Fn(&str) -> bool,
    ) -> bool {
        let mut evaluated = self.started.evaluated.iter();
        evaluated.any(|one| {
            let mut text = one.text.iter();
            text.all(|text| pattern.is_mentioned_in(text)) && !is_trusted(&one.program)
        })
    }

    /// Whether it evaluates a text that mentions a file.
    pub(super) fn evaluates_name(&self, pattern: &PathPattern, context: &PathContext<'_>) -> bool {
        let evaluated = self.started.evaluated.iter();
        let texts = evaluated.filter_map(|one| one.text.as_deref());
        let is_name_end =
            |letter: char| letter.is_whitespace() || "\"'`|<>();&[]{}=,".contains(letter);
        let mut names = texts
            .flat_map(|text| text.split(is_name_end))
            .filter(|name| !name.is_empty());
        names.any(|name| {
            let files = self.directories.files(name, context);
            files.iter().any(|file| pattern.restricts(file, context))
        })
    }

    /// Whether an allow rule is about it, as it is written or as the argument of wrappers.
    pub(super) fn is(&self, pattern: &CommandPattern) -> bool {
        self.allowable.is(pattern)
    }

    /// Returns the hosts of URLs in its words.
    pub(super) fn hosts(&self) -> impl Iterator<Item = String> {
        self.invocations().iter().flat_map(|one| {
            let is_client = matches!(one.program(), "curl" | "wget");
            let words = one.words.iter().skip(1);
            words
                .filter_map(|word| word.value.as_deref())
                .filter_map(move |value| {
                    if value.contains("://") {
                        return host(value);
                    }
                    // `curl example.com/x`
                    host(&format!("http://{value}")).filter(|_| is_client)
                })
        })
    }

    /// Returns the known leading words of the innermost command, unless a variable may change its
    /// meaning.
    pub(super) fn known_words(&self) -> Option<Vec<&str>> {
        let level = self.levels.last().filter(|part| is_harmlessly_set(part))?;
        let words = level.words.iter();
        Some(words.map_while(|word| word.value.as_deref()).collect())
    }

    /// Whether it consists only of redirections.
    pub(super) fn is_redirection(&self) -> bool {
        self.levels
            .iter()
            .all(|part| part.words.is_empty() && part.assignments.is_empty())
    }

    /// Returns the targets of its redirections, if all of them are known.
    pub(super) fn redirection_targets(
        &self,
        context: &PathContext<'_>,
    ) -> Option<Vec<&ResolvedPath>> {
        let words = self.levels.iter().take(1).flat_map(CommandPart::writes);
        let mut words = words.map(|word| outline(word, context));
        let targets: Vec<_> = self.files(context).redirected.iter().collect();
        let is_known =
            !words.any(|word| word.contains(UNKNOWN)) && !targets.iter().any(|path| path.has_gap);
        (is_known && !self.directories.is_open).then_some(targets)
    }

    /// Whether its redirections are known to be its only changes.
    pub(super) fn only_reads(&self, context: &PathContext<'_>) -> bool {
        let Some(part) = self.levels.first() else {
            return false;
        };
        if part.words.is_empty() {
            // The substitution in an assigned value is a separate part.
            return part.only_reads && !part.assignments.is_empty();
        }
        let stays = || match directories::target(part, context) {
            None => true,
            Some(Target::Unknown) => false,
            Some(Target::Known(to)) => {
                let mut reached = self.directories.known.iter().map(|from| from.join(&to));
                !self.directories.is_open
                    && reached.all(|to| context.is_inside(&context.resolve(&to)))
            }
        };
        part.only_reads
            && !context.sets_programs()
            && is_harmlessly_set(part)
            && stays()
            && !self.reads_outside(context)
    }

    /// Returns the files that it names.
    pub(super) fn files(&self, context: &PathContext<'_>) -> &NamedFiles {
        self.files.get_or_init(|| {
            let all = self.invocations().iter();
            let read = all.clone().flat_map(|one| {
                let values = one.assignments.iter().map(|set| &set.word);
                let words = one.files().filter_map(|index| one.words.get(index));
                let words = words.chain(one.opened(Redirection::reads)).chain(values);
                files(one, words, context)
            });
            let redirected = all.clone().flat_map(|one| {
                let words = one.opened(Redirection::writes);
                let words = words.map(|word| outline(word, context));
                words.flat_map(|name| one.directories.files(&name, context))
            });
            let changed = all.flat_map(|one| {
                let known = one.known().into_iter();
                let writers = known.filter(|(writer, _)| writer.kind == UseKind::Writes);
                writers.flat_map(|(writer, at)| changed_by(one, writer, at, context))
            });
            NamedFiles {
                read: read.collect(),
                redirected: redirected.collect(),
                changed: changed.collect(),
            }
        })
    }

    /// Returns the files that it is known to write.
    pub(super) fn written(&self, context: &PathContext<'_>) -> impl Iterator<Item = &ResolvedPath> {
        let files = self.files(context);
        files.redirected.iter().chain(&files.changed)
    }
}

/// Returns the files that a program changes. `at` is the index of the name of the program or its subcommand.
fn changed_by(
    one: &Invocation,
    writer: &Use,
    at: usize,
    context: &PathContext<'_>,
) -> Vec<ResolvedPath> {
    let words = one.words.get(at + 1..).unwrap_or_default();
    // Whether a word is an option, or has its letter.
    let is_given = |word: &PartWord| {
        let text = word.value_or_text();
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        writer.options().any(|option| {
            let is_in_cluster = option.len() == 2 && is_cluster && text.contains(&option[1..]);
            text.starts_with(option) || is_in_cluster
        })
    };
    if writer.has("of") {
        let outputs = words.iter().enumerate().filter(|(_, word)| is_given(word));
        let outputs = outputs.flat_map(|(at, _)| words.iter().skip(at).take(2));
        return files(one, outputs, context);
    }
    if writer.has("if") && !one.words.iter().any(is_given) {
        return Vec::new();
    }
    let operands = words.iter().filter(|word| !word.text.starts_with('-'));
    let operands: Vec<&PartWord> = operands.collect();
    let Some((target, sources)) = operands.split_last().filter(|_| writer.has("last")) else {
        return files(one, operands.into_iter(), context);
    };
    // The copies in a directory have the same names.
    let directory = outline(target, context);
    let copies = sources.iter().flat_map(|source| {
        let source = outline(source, context);
        let name = source
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or_default();
        one.directories
            .files(&format!("{directory}/{name}"), context)
    });
    let target = files(one, std::iter::once(*target), context);
    copies.chain(target).collect()
}

/// Returns the files that words, or parts of them, may name.
fn files<'w>(
    one: &Invocation,
    words: impl Iterator<Item = &'w PartWord>,
    context: &PathContext<'_>,
) -> Vec<ResolvedPath> {
    let mut files = Vec::new();
    for word in words {
        let outline = outline(word, context);
        for name in names_in(&outline) {
            files.extend(one.directories.files(name, context));
        }
    }
    files
}
