//! The programs that a command of a line starts: itself, the commands behind wrappers, and those of literal command lines
//! in its arguments and its input. And the other texts that it evaluates.

use std::rc::Rc;

use super::directories::{self, Directories};
use super::invocation::Invocation;
use super::path_context::PathContext;
use super::program_use::{ProgramUse, joined_values};
use crate::shell::{
    CommandLine, CommandPart, PartAssignment, PartInput, PartWord, UseKind, behind_wrapper,
    is_one_of, parse,
};

/// Maximum nesting depth of wrappers and command lines in arguments.
const MAX_DEPTH: usize = 16;

/// Variables whose value is a program, or a file of commands, that other programs run; besides those for pagers and
/// editors.
const PROGRAMS: &str = "BASH_ENV BROWSER ENV GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH \
    GIT_SSH_COMMAND LESSCLOSE LESSOPEN PROMPT_COMMAND RSYNC_RSH SHELL SSH_ASKPASS SUDO_ASKPASS VISUAL";

/// Everything that a command may run.
pub(super) struct Started<'a> {
    pub(super) context: &'a PathContext<'a>,
    pub(super) invocations: Vec<Invocation<'a>>,
    pub(super) evaluated: Vec<Evaluated>,
    /// Number of further levels of wrappers and command lines.
    depth: usize,
}

/// A text that a program evaluates.
pub(super) struct Evaluated {
    /// The program.
    pub(super) program: String,
    /// `None` if it is known only at run time.
    pub(super) text: Option<String>,
}

impl<'a> Started<'a> {
    pub(super) fn new(context: &'a PathContext<'a>) -> Self {
        Self {
            context,
            invocations: Vec::new(),
            evaluated: Vec::new(),
            depth: MAX_DEPTH,
        }
    }

    /// Adds what a command of a line starts.
    pub(super) fn add_command(
        &mut self,
        command: &CommandPart,
        line: &CommandLine,
        directories: &Rc<Directories>,
    ) {
        let mut part = command.clone();
        if let PartInput::Pipe(before) = &command.input {
            part.input = PartInput::Text(line.commands.get(before.clone()).and_then(output_of));
        }
        for set in &part.assignments {
            self.add_assignment(&set.name, set.word.value.as_deref());
        }
        self.add(Invocation::new(part, directories, self.context));
    }

    /// Adds words that belong to no command, which may name files.
    pub(super) fn add_words(&mut self, words: &[PartWord], directories: &Rc<Directories>) {
        let values = words.iter().cloned().map(|word| PartAssignment {
            name: String::new(),
            word,
        });
        let part = CommandPart {
            assignments: values.collect(),
            ..CommandPart::default()
        };
        self.invocations
            .push(Invocation::new(part, directories, self.context));
    }

    /// Adds the variable of an assignment, if its value is a program.
    fn add_assignment(&mut self, name: &str, value: Option<&str>) {
        if name.ends_with("PAGER") || name.ends_with("EDITOR") || is_one_of(PROGRAMS, name) {
            self.evaluate(name, value.map(str::to_owned));
        }
    }

    fn evaluate(&mut self, program: &str, text: Option<String>) {
        let program = program.to_owned();
        self.evaluated.push(Evaluated { program, text });
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
    fn add(&mut self, invocation: Invocation<'a>) {
        if self.depth == 0 {
            self.evaluate(invocation.program(), None);
        } else {
            self.depth -= 1;
            self.add_inner(&invocation);
            self.depth += 1;
        }
        self.invocations.push(invocation);
    }

    fn add_inner(&mut self, outer: &Invocation<'a>) {
        let (program, words) = (outer.program(), &outer.part.words);
        let uses = outer.uses();
        let wrapped = behind_wrapper(words).map(|inner| {
            let reads_arguments = matches!(program, "xargs" | "parallel");
            let read = reads_arguments.then(|| PartWord::unknown(0..0, "\"$@\""));
            inner.iter().cloned().chain(read).collect()
        });
        let behind = uses
            .iter()
            .flat_map(ProgramUse::commands)
            .map(<[_]>::to_vec);
        let inner = wrapped.into_iter().chain(behind);
        for words in inner.filter(|words| !words.is_empty()) {
            let part = CommandPart {
                words,
                input: outer.part.input.clone(),
                ..CommandPart::default()
            };
            self.add(Invocation::new(part, &outer.directories, self.context));
        }
        for usage in &uses {
            let is_shell = match usage.listed.kind {
                UseKind::Shell => true,
                UseKind::Code => false,
                UseKind::Runs | UseKind::Writes => continue,
            };
            for text in usage.texts(&outer.part.input) {
                match text {
                    Some(text) if is_shell => self.add_script(program, &text, &outer.directories),
                    // An alias of git is one of its commands.
                    Some(text) if program == "git" => {
                        self.evaluate(program, Some(format!("git {text}")));
                    }
                    text => self.evaluate(program, text),
                }
            }
        }
        // `export PAGER=less`, `env PAGER=less git log`
        if is_one_of("export declare typeset local readonly env sudo", program) {
            for word in words.iter().skip(1) {
                if let Some((name, value)) = word.value_or_text().split_once('=') {
                    self.add_assignment(name, word.value.as_ref().map(|_| value));
                }
            }
        }
    }

    /// Adds the commands of a literal command line.
    fn add_script(&mut self, program: &str, script: &str, start: &Rc<Directories>) {
        let line = parse(script);
        let directories = directories::of(&line, start, self.context);
        for (command, directories) in line.commands.iter().zip(&directories) {
            self.add_command(command, &line, directories);
        }
        self.add_words(&line.words, directories.first().unwrap_or(start));
        if let Some(rest) = line.rest_of(script) {
            self.evaluate_rest(program, rest);
        }
    }
}

/// Returns what commands print, if each prints its operands or its here-document.
fn output_of(commands: &[CommandPart]) -> Option<String> {
    let texts = commands.iter().map(|command| match command.program()? {
        "echo" | "printf" => {
            let operands = joined_values(command.words.iter().skip(1))?;
            Some(operands.replace("\\n", "\n"))
        }
        "cat" if command.words.len() == 1 => command.input.text().map(str::to_owned),
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join("\n"))
}
