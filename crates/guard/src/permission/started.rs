//! The programs that a command of a line starts: itself, the commands behind wrappers, and those of literal command lines
//! in its arguments and its input. And the other texts that it evaluates.

use std::rc::Rc;

use super::directories::{self, Directories};
use super::invocation::{Invocation, joined};
use super::path_context::PathContext;
use super::programs;
use crate::shell::{
    CommandLine, CommandPart, PartAssignment, PartInput, PartWord, Use, UseKind, behind_wrapper,
    parse,
};

/// Maximum nesting depth of wrappers and command lines in arguments.
const MAX_DEPTH: usize = 16;

/// Everything that a command may run.
#[derive(Default)]
pub(super) struct Started {
    pub(super) invocations: Vec<Invocation>,
    pub(super) evaluated: Vec<Evaluated>,
}

/// A text that a program evaluates.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Evaluated {
    /// The program.
    pub(super) program: String,
    /// `None` if it is known only at run time.
    pub(super) text: Option<String>,
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
        invocation.redirections.clone_from(&command.redirections);
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
            let values = words.iter().cloned().map(|word| PartAssignment {
                name: String::new(),
                word,
            });
            let named = Invocation::new(&[], values.collect(), directories, context);
            self.invocations.push(named);
        }
    }

    /// Adds the variable of an assignment, if its value is a program.
    fn add_assignment(&mut self, name: &str, value: Option<&str>) {
        if programs::names_program(name) {
            self.evaluate(name, value.map(str::to_owned));
        }
    }

    fn evaluate(&mut self, program: &str, text: Option<String>) {
        self.evaluated.push(Evaluated {
            program: program.to_owned(),
            text,
        });
    }

    /// Adds the part of a command line that was not read. Commands in functions and backticks may be known only at run
    /// time.
    pub(super) fn evaluate_rest(&mut self, program: &str, rest: &str) {
        self.evaluate(program, Some(rest.to_owned()));
        let has_function =
            rest.replace([' ', '\t'], "").contains("()") || rest.contains("function");
        if rest.contains('`') || has_function && rest.contains(['$', '*', '?', '[']) {
            self.evaluate(program, None);
        }
    }

    /// Adds a program of a command with everything that it starts and evaluates.
    fn add(&mut self, invocation: Invocation, index: usize, depth: usize, scope: &Scope<'_>) {
        let program = invocation.program().to_owned();
        let directories = Rc::clone(&invocation.directories);
        let words = invocation.words.clone();
        let known = invocation.known();
        self.invocations.push(invocation);
        let Some(depth) = depth.checked_sub(1) else {
            return self.evaluate(&program, None);
        };
        let start = |started: &mut Self, words: &[PartWord]| {
            if !words.is_empty() {
                let inner = Invocation::new(words, Vec::new(), &directories, scope.context);
                started.add(inner, index, depth, scope);
            }
        };
        if let Some(inner) = behind_wrapper(&words) {
            let mut inner = inner.to_vec();
            if matches!(program.as_str(), "xargs" | "parallel") {
                inner.push(PartWord::unknown(0..0, "\"$@\""));
            }
            start(self, &inner);
        }
        for (usage, at) in known {
            let words = words.get(at..).unwrap_or_default();
            match usage.kind {
                UseKind::Runs => {
                    for inner in commands_behind(usage, words) {
                        start(self, inner);
                    }
                }
                UseKind::Shell | UseKind::Code => {
                    for text in texts(usage, words, index, scope) {
                        match (usage.kind, text) {
                            (UseKind::Shell, Some(text)) => {
                                self.add_script(
                                    &program,
                                    &text,
                                    &directories,
                                    depth,
                                    scope.context,
                                );
                            }
                            // An alias of git is one of its commands.
                            (_, Some(text)) if program == "git" => {
                                self.evaluate(&program, Some(format!("git {text}")));
                            }
                            (_, text) => self.evaluate(&program, text),
                        }
                    }
                }
                UseKind::Writes => {}
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
        let directories = directories::of(&line, start, context);
        for (index, directories) in directories.iter().enumerate() {
            self.add_command(index, directories, &scope);
        }
        self.add_words(&line.words, directories.first().unwrap_or(start), context);
        if let Some(rest) = unread(script, &line) {
            self.evaluate_rest(program, rest);
        }
    }
}

/// Returns the part of a command line that was not read.
pub(super) fn unread<'a>(script: &'a str, line: &CommandLine) -> Option<&'a str> {
    let unread = line.unread.as_ref()?;
    Some(script.get(unread.start..).unwrap_or(script))
}

/// Returns the words of the commands that follow options, as in `find . -exec rm {} ;`.
fn commands_behind<'w>(
    options: &'static Use,
    words: &'w [PartWord],
) -> impl Iterator<Item = &'w [PartWord]> {
    let is_option = move |word: &PartWord| {
        word.value
            .as_deref()
            .is_some_and(|value| options.has(value))
    };
    let ends = |word: &PartWord| matches!(word.value.as_deref(), Some(";" | "+"));
    let starts = words.iter().enumerate().skip(1);
    let starts = starts.filter(move |(_, word)| is_option(word));
    let behind = starts.filter_map(|(at, _)| words.get(at + 1..));
    behind.map(move |words| words.split(ends).next().unwrap_or_default())
}

/// Returns the texts that a program evaluates.
fn texts(usage: &Use, words: &[PartWord], index: usize, scope: &Scope<'_>) -> Vec<Option<String>> {
    let arguments = words.get(1..).unwrap_or_default();
    // A bundle of letters of a shell ends before the operand: `bash -ce TEXT`.
    let is_shell = usage.kind == UseKind::Shell && usage.has("stdin");
    let given = arguments.iter().enumerate().filter_map(|(at, word)| {
        let following = arguments.get(at + 1..).unwrap_or_default();
        text_of_option(usage, is_shell, word, following)
    });
    let mut texts: Vec<Option<String>> = given.map(|word| word.value).collect();
    let mut operands = operands(arguments).peekable();
    if usage.has("all") && operands.peek().is_some() {
        let all: Option<Vec<&str>> = operands.clone().map(|word| word.value.as_deref()).collect();
        texts.push(all.map(|all| joined(all.into_iter())));
    }
    if usage.has("first") && texts.is_empty() {
        texts.extend(operands.peek().map(|word| word.value.clone()));
    }
    if usage.has("value") {
        texts.extend(operands.clone().filter_map(|word| {
            let (_, value) = word.value_or_text().split_once('=')?;
            Some(word.value.as_ref().map(|_| value.to_owned()))
        }));
    }
    let reads_input = usage.has("stdin");
    if usage.has("file") || reads_input && texts.is_empty() {
        let is_input = |word: &&PartWord| matches!(word.value.as_deref(), Some("-" | "/dev/stdin"));
        let is_dot = usage.has("file") && operands.peek().is_some_and(is_input);
        let has_module = arguments
            .iter()
            .any(|word| word.value.as_deref() == Some("-m"));
        match operands.next().filter(|word| !is_input(word)) {
            // `bash <(curl …)`
            Some(word) if word.text.starts_with("<(") => texts.push(None),
            None if is_dot || reads_input && !has_module => texts.extend(scope.input(index)),
            Some(_) | None => {}
        }
    }
    texts
}

/// Returns the text that an option gives: in the same word, or in the next one.
fn text_of_option(
    usage: &Use,
    is_shell: bool,
    word: &PartWord,
    following: &[PartWord],
) -> Option<PartWord> {
    let text = word.value_or_text();
    let attached = usage.options().find_map(|option| {
        if option.len() > 2 {
            let rest = text.strip_prefix(option)?;
            return rest
                .strip_prefix('=')
                .or(Some(rest).filter(|rest| rest.is_empty()));
        }
        let letters = text
            .strip_prefix('-')
            .filter(|letters| !letters.starts_with('-'))?;
        let (_, rest) = letters.split_once(&option[1..])?;
        Some(if is_shell { "" } else { rest })
    })?;
    if !attached.is_empty() {
        let known = word.value.as_ref().map(|_| PartWord::known(attached));
        return Some(known.unwrap_or_else(|| word.clone()));
    }
    let value = if is_shell {
        operands(following).next()
    } else {
        following.first()
    };
    value.cloned()
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

impl Scope<'_> {
    /// Returns the text of the standard input of a command, unless it is a file.
    fn input(&self, index: usize) -> Vec<Option<String>> {
        match self.commands.get(index).map(|command| &command.input) {
            None | Some(PartInput::Other) => Vec::new(),
            Some(PartInput::Text(text)) => vec![text.clone()],
            Some(PartInput::Pipe(commands)) => {
                let printed = self.commands.get(commands.clone()).map(printed);
                vec![printed.flatten()]
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
