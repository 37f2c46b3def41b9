//! The programs that a command of a line starts: itself, the commands behind wrappers, and those of literal command lines
//! in its arguments and its input. And the other texts that it evaluates.

use std::rc::Rc;

use super::directories::{self, Directories};
use super::invocation::{Invocation, joined};
use super::path_context::PathContext;
use super::programs::{self, Evaluator, Language, Wrapper};
use crate::shell::{CommandLine, CommandPart, PartInput, PartWord, parse};

/// Maximum nesting depth of wrappers and command lines in arguments.
const MAX_DEPTH: usize = 16;

/// Maximum number of words of all programs of a command: a wrapper with unknown options may start its command at
/// several words.
const MAX_WORDS: usize = 10_000;

/// Everything that a command may run.
#[derive(Default)]
pub(super) struct Started {
    pub(super) invocations: Vec<Invocation>,
    pub(super) evaluated: Vec<Evaluated>,
    /// The number of words of all invocations.
    pub(super) words: usize,
}

/// A text that a program evaluates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Evaluated {
    /// The program.
    pub(super) program: String,
    pub(super) text: Text,
}

/// A text that may be known only at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Text {
    Literal(String),
    Unknown,
}

impl Text {
    fn of(literal: Option<&str>) -> Self {
        literal.map_or(Self::Unknown, |text| Self::Literal(text.to_owned()))
    }
}

/// A command line whose commands are collected.
struct Scope<'a> {
    commands: &'a [CommandPart],
    depth: usize,
    context: &'a PathContext<'a>,
}

impl Started {
    /// Collects what a command of a line starts.
    pub(super) fn of(
        index: usize,
        commands: &[CommandPart],
        directories: &Rc<Directories>,
        context: &PathContext<'_>,
    ) -> Self {
        let scope = Scope {
            commands,
            depth: MAX_DEPTH,
            context,
        };
        let mut started = Self::default();
        started.add_command(index, directories, &scope);
        started
    }

    fn add_command(&mut self, index: usize, directories: &Rc<Directories>, scope: &Scope<'_>) {
        let Some(command) = scope.commands.get(index) else {
            return;
        };
        for set in &command.assignments {
            self.add_assignment(&set.name, set.word.value.as_deref());
        }
        let mut invocation = Invocation::new(
            &command.words,
            command.assignments.clone(),
            directories,
            scope.context,
        );
        invocation.reads.clone_from(&command.reads);
        invocation.writes.clone_from(&command.writes);
        self.add(invocation, index, scope.depth, scope);
    }

    /// Adds words that belong to no command, which may name files.
    pub(super) fn add_words(
        &mut self,
        words: &[PartWord],
        directories: &Rc<Directories>,
        context: &PathContext<'_>,
    ) {
        if !words.is_empty() {
            let mut named = Invocation::new(&[], Vec::new(), directories, context);
            named.reads = words.to_vec();
            self.invocations.push(named);
        }
    }

    /// Adds the variable of an assignment, if its value is a program.
    fn add_assignment(&mut self, name: &str, value: Option<&str>) {
        if programs::names_program(name) {
            self.evaluate(name, Text::of(value));
        }
    }

    fn evaluate(&mut self, program: &str, text: Text) {
        self.evaluated.push(Evaluated {
            program: program.to_owned(),
            text,
        });
    }

    /// Adds a program of a command with everything that it starts and evaluates.
    fn add(&mut self, invocation: Invocation, index: usize, depth: usize, scope: &Scope<'_>) {
        let program = invocation.program().to_owned();
        let directories = Rc::clone(&invocation.directories);
        let words = invocation.words.clone();
        let known = invocation.known();
        self.invocations.push(invocation);
        let Some(depth) = depth.checked_sub(1) else {
            return self.evaluate(&program, Text::Unknown);
        };
        let start = |started: &mut Self, words: &[PartWord]| {
            started.words += words.len();
            if started.words > MAX_WORDS {
                started.evaluate(&program, Text::Unknown);
            } else if !words.is_empty() {
                let inner = Invocation::new(words, Vec::new(), &directories, scope.context);
                started.add(inner, index, depth, scope);
            }
        };
        for (known, at) in known {
            let words = words.get(at..).unwrap_or_default();
            if let Some(wrapper) = &known.wrapper {
                for inner in wrapper.commands(words) {
                    let mut inner = inner.to_vec();
                    if wrapper.adds_input {
                        inner.push(PartWord::unknown(0..0, "\"$@\""));
                    }
                    start(self, &inner);
                }
            }
            for inner in commands_behind(&known.starts, words) {
                start(self, inner);
            }
            if let Some(evaluator) = &known.evaluator {
                let texts = evaluator.texts(words, index, scope);
                for text in texts {
                    match (evaluator.language, text) {
                        (Language::Shell, Text::Literal(text)) => {
                            self.add_script(&program, &text, &directories, depth, scope.context);
                        }
                        (Language::Text, Text::Unknown) => {}
                        // An alias of git is one of its commands.
                        (_, Text::Literal(text)) if program == "git" => {
                            self.evaluate(&program, Text::Literal(format!("git {text}")));
                        }
                        (_, text) => self.evaluate(&program, text),
                    }
                }
            }
        }
        // `export PAGER=less`, `env PAGER=less git log`
        if matches!(
            program.as_str(),
            "export" | "declare" | "typeset" | "local" | "readonly" | "env" | "sudo"
        ) {
            for word in words.iter().skip(1) {
                if let Some((name, value)) = word.value_or_text().split_once('=') {
                    self.add_assignment(name, word.value.as_ref().map(|_| value));
                }
            }
        }
    }

    /// Adds the commands of a literal command line.
    fn add_script(
        &mut self,
        program: &str,
        script: &str,
        directories: &Rc<Directories>,
        depth: usize,
        context: &PathContext<'_>,
    ) {
        let line = parse(script);
        let scope = Scope {
            commands: &line.commands,
            depth,
            context,
        };
        let start = directories;
        let directories = directories::of(script, &line.commands, start, context);
        for (index, directories) in directories.iter().enumerate() {
            self.add_command(index, directories, &scope);
        }
        self.add_words(&line.words, directories.first().unwrap_or(start), context);
        if let Some(rest) = unread(script, &line) {
            self.evaluate(program, Text::of(Some(rest)));
        }
    }
}

/// Returns the part of a command line that was not read.
pub(super) fn unread<'a>(script: &'a str, line: &CommandLine) -> Option<&'a str> {
    let unread = line.unread.as_ref()?;
    Some(script.get(unread.start..).unwrap_or(script))
}

impl Wrapper {
    /// Returns the words of the command that follows the options, assignments and operands of a wrapper. An option that
    /// the table does not have may have a value, so that the command may begin at one of two words.
    fn commands<'w>(&self, words: &'w [PartWord]) -> Vec<&'w [PartWord]> {
        let mut operands = self.operands;
        let mut at = 1;
        let mut found = Vec::new();
        while let Some(word) = words.get(at) {
            let text = word.value_or_text();
            if self.without_command.contains(&text) {
                return Vec::new();
            }
            if text == "--" {
                at += 1;
                break;
            }
            if text.len() > 1 && text.starts_with('-') {
                let is_unknown = text.starts_with("--") && !text.contains('=');
                let has_value = self.with_value.contains(&text);
                if is_unknown && operands == 0 {
                    found.extend(words.get(at + 1..));
                }
                at += 1 + usize::from(has_value || is_unknown && !is_last_option(words, at));
                continue;
            }
            let is_assignment = text
                .split_once('=')
                .is_some_and(|(name, _)| crate::shell::is_identifier(name));
            if !is_assignment && operands == 0 {
                break;
            }
            operands -= usize::from(!is_assignment);
            at += 1;
        }
        found.extend(words.get((at + operands).min(words.len())..));
        found
    }
}

/// Whether the word behind an option is another option, so that the option has no value.
fn is_last_option(words: &[PartWord], at: usize) -> bool {
    words
        .get(at + 1)
        .is_none_or(|word| word.value_or_text().starts_with('-'))
}

/// Returns the words of the commands that follow options, as in `find . -exec rm {} ;`.
fn commands_behind<'w>(options: &[&str], words: &'w [PartWord]) -> Vec<&'w [PartWord]> {
    let is_option = |word: &PartWord| {
        word.value
            .as_deref()
            .is_some_and(|value| options.contains(&value))
    };
    let starts = words
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, word)| is_option(word));
    let behind = starts.filter_map(|(at, _)| words.get(at + 1..));
    let ends = |word: &PartWord| matches!(word.value.as_deref(), Some(";" | "+"));
    let commands = behind.map(|words| words.split(ends).next().unwrap_or_default());
    commands.collect()
}

impl Evaluator {
    /// Returns the texts that a program evaluates.
    fn texts(&self, words: &[PartWord], index: usize, scope: &Scope<'_>) -> Vec<Text> {
        let arguments = words.get(1..).unwrap_or_default();
        let mut texts: Vec<Text> = Vec::new();
        for (at, word) in arguments.iter().enumerate() {
            if let Some(text) =
                self.text_of_option(word, arguments.get(at + 1..).unwrap_or_default())
            {
                texts.push(text);
            }
        }
        let mut operands = operands(arguments).peekable();
        if self.has_all {
            let all: Option<Vec<&str>> =
                operands.clone().map(|word| word.value.as_deref()).collect();
            if operands.peek().is_some() {
                let all = all.map(|all| joined(all.into_iter()));
                texts.push(Text::of(all.as_deref()));
            }
        }
        if self.has_first && texts.is_empty() {
            let first = operands.clone().next();
            texts.extend(first.map(|word| Text::of(word.value.as_deref())));
        }
        if self.has_values {
            let values = operands.clone().filter_map(|word| {
                let (_, value) = word.value_or_text().split_once('=')?;
                Some(Text::of(word.value.as_ref().map(|_| value)))
            });
            texts.extend(values);
        }
        if self.has_file || self.has_input && texts.is_empty() {
            // `bash <(curl …)`
            let is_input =
                |word: &&PartWord| matches!(word.value.as_deref(), Some("-" | "/dev/stdin"));
            let is_dot = self.has_file && operands.peek().is_some_and(is_input);
            let script = operands.next().filter(|word| !is_input(word));
            match script {
                Some(word) if word.text.starts_with("<(") => texts.push(Text::Unknown),
                None if is_dot || self.has_input && !has_module(arguments) => {
                    texts.extend(scope.input(index));
                }
                Some(_) | None => {}
            }
        }
        texts
    }

    /// Returns the text that an option gives: in the same word, or in the next one.
    fn text_of_option(&self, word: &PartWord, following: &[PartWord]) -> Option<Text> {
        let text = word.value_or_text();
        let is_shell = self.language == Language::Shell && self.has_input;
        for option in &self.options {
            let attached = if option.starts_with("--") || option.len() > 2 {
                match text.strip_prefix(option) {
                    Some("") => "",
                    Some(rest) if rest.starts_with('=') => &rest[1..],
                    _ => continue,
                }
            } else {
                let letters = text
                    .strip_prefix('-')
                    .filter(|letters| !letters.starts_with('-'));
                let Some((_, rest)) = letters.and_then(|letters| letters.split_once(&option[1..]))
                else {
                    continue;
                };
                // `bash -ce` has two options.
                if is_shell { "" } else { rest }
            };
            if !attached.is_empty() {
                return Some(Text::of(word.value.as_ref().map(|_| attached)));
            }
            let value = if is_shell {
                operands(following).next()
            } else {
                following.first()
            };
            return Some(Text::of(value?.value.as_deref()));
        }
        None
    }
}

/// Returns the words that are neither options nor the names of options of shells.
fn operands(words: &[PartWord]) -> impl Iterator<Item = &PartWord> + Clone {
    let mut before = "";
    words.iter().filter(move |word| {
        let is_name = matches!(before, "-o" | "+o" | "-O" | "+O");
        before = word.value_or_text();
        !is_name && (before == "-" || !before.starts_with(['-', '+']))
    })
}

/// Whether a program runs a module.
fn has_module(arguments: &[PartWord]) -> bool {
    arguments
        .iter()
        .any(|word| word.value.as_deref() == Some("-m"))
}

impl Scope<'_> {
    /// Returns the standard input of a command, unless it is a file.
    fn input(&self, index: usize) -> Option<Text> {
        let command = self.commands.get(index)?;
        match &command.input {
            PartInput::Inherited | PartInput::Given => None,
            PartInput::Text(text) => Some(Text::of(text.as_deref())),
            PartInput::Pipe(commands) => {
                let printed = self.commands.get(commands.clone()).map(printed);
                Some(Text::of(printed.flatten().as_deref()))
            }
        }
    }
}

/// Returns what commands print, if each prints its operands or its here-document.
fn printed(commands: &[CommandPart]) -> Option<String> {
    let texts = commands.iter().map(|command| match command.program()? {
        "echo" | "printf" => {
            let operands = command.words.iter().skip(1);
            let operands = operands.map(|word| word.value.as_deref());
            let operands = operands.collect::<Option<Vec<_>>>()?;
            Some(joined(operands.into_iter()).replace("\\n", "\n"))
        }
        "cat" if command.words.len() == 1 => command.input.text().map(str::to_owned),
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join("\n"))
}
