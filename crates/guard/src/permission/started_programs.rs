//! The programs that a command starts: its own, those behind wrappers, and those of literal command lines in its
//! arguments and its input; and the other texts that it evaluates.

use std::rc::Rc;

use super::directories::{Directories, infer_directories};
use super::invocation::Invocation;
use super::path_context::PathContext;
use super::program_use::{ProgramUse, join_values};
use crate::shell::{
    CommandLine, CommandPart, PartAssignment, PartInput, PartWord, UseKind, find_wrapped_words,
    is_one_of, parse,
};

/// Maximum nesting depth of wrappers and command lines in arguments.
const MAX_DEPTH: usize = 16;

/// Variables whose value is a command, or a file of commands, that other programs run, besides those for pagers and
/// editors.
const RUN_VARIABLES: &str = "BASH_ENV BROWSER ENV GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND GIT_SSH \
    GIT_SSH_COMMAND LESSCLOSE LESSOPEN PROMPT_COMMAND RSYNC_RSH SHELL SSH_ASKPASS SUDO_ASKPASS VISUAL";

/// The programs that a command may start, and the texts that it evaluates.
pub(super) struct StartedPrograms<'a> {
    pub(super) context: &'a PathContext<'a>,
    pub(super) invocations: Vec<Invocation<'a>>,
    pub(super) evaluated: Vec<Evaluated>,
    /// Number of levels of wrappers and command lines that are still followed.
    remaining_depth: usize,
}

/// A text that a program evaluates.
pub(super) struct Evaluated {
    /// The program; empty for the part of a command line that was not parsed.
    pub(super) program: String,
    /// `None` if it is known only at run time.
    pub(super) text: Option<String>,
}

impl<'a> StartedPrograms<'a> {
    pub(super) fn new(context: &'a PathContext<'a>) -> Self {
        Self {
            context,
            invocations: Vec::new(),
            evaluated: Vec::new(),
            remaining_depth: MAX_DEPTH,
        }
    }

    /// Adds the program of a command of a line, and everything that it starts and evaluates.
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
        for assignment in &part.assignments {
            self.add_assignment(&assignment.name, assignment.word.value.as_deref());
        }
        self.add(Invocation::new(part, directories, self.context));
    }

    /// Adds words that belong to no command but may name files.
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

    /// Adds the value of a variable, if other programs run it.
    fn add_assignment(&mut self, name: &str, value: Option<&str>) {
        if name.ends_with("PAGER") || name.ends_with("EDITOR") || is_one_of(RUN_VARIABLES, name) {
            self.add_evaluated(name, value.map(str::to_owned));
        }
    }

    /// Adds a text that a program evaluates; `None` is known only at run time.
    fn add_evaluated(&mut self, program: &str, text: Option<String>) {
        let program = program.to_owned();
        self.evaluated.push(Evaluated { program, text });
    }

    /// Adds the part of a command line that was not parsed, as a text that a program evaluates. Commands in functions
    /// and backticks may be known only at run time.
    pub(super) fn add_unparsed(&mut self, program: &str, rest: &str) {
        self.add_evaluated(program, Some(rest.to_owned()));
        let has_function =
            rest.replace([' ', '\t'], "").contains("()") || rest.contains("function");
        if rest.contains('`') || has_function && rest.contains(['$', '*', '?', '[']) {
            self.add_evaluated(program, None);
        }
    }

    /// Adds a program with everything that it starts and evaluates, up to [`MAX_DEPTH`].
    fn add(&mut self, invocation: Invocation<'a>) {
        if self.remaining_depth == 0 {
            self.add_evaluated(invocation.program(), None);
        } else {
            self.remaining_depth -= 1;
            self.add_inner(&invocation);
            self.remaining_depth += 1;
        }
        self.invocations.push(invocation);
    }

    /// Adds what a program starts and evaluates.
    fn add_inner(&mut self, outer: &Invocation<'a>) {
        let (program, words) = (outer.program(), &outer.part.words);
        let uses = outer.uses();
        let wrapped = find_wrapped_words(words).map(|inner| {
            let reads_arguments = matches!(program, "xargs" | "parallel");
            let from_input = reads_arguments.then(|| PartWord::unknown(0..0, "\"$@\""));
            inner.iter().cloned().chain(from_input).collect()
        });
        let behind_options = uses.iter().flat_map(ProgramUse::commands);
        let inner = wrapped.into_iter().chain(behind_options.map(<[_]>::to_vec));
        for words in inner.filter(|words| !words.is_empty()) {
            let part = CommandPart {
                words,
                input: outer.part.input.clone(),
                ..CommandPart::default()
            };
            self.add(Invocation::new(part, &outer.directories, self.context));
        }
        for program_use in &uses {
            let is_shell = match program_use.listed.kind {
                UseKind::Shell => true,
                UseKind::Code => false,
                UseKind::Runs | UseKind::Writes => continue,
            };
            for text in program_use.texts(&outer.part.input) {
                match text {
                    Some(text) if is_shell => self.add_script(program, &text, &outer.directories),
                    // An alias of git is one of its commands.
                    Some(text) if program == "git" => {
                        self.add_evaluated(program, Some(format!("git {text}")));
                    }
                    text => self.add_evaluated(program, text),
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
        let directories = infer_directories(&line, start, self.context);
        for (command, directories) in line.commands.iter().zip(&directories) {
            self.add_command(command, &line, directories);
        }
        self.add_words(&line.words, directories.first().unwrap_or(start));
        if let Some(rest) = line.unread_text(script) {
            self.add_unparsed(program, rest);
        }
    }
}

/// Predicts the output of commands, if each prints its operands or its here-document.
fn output_of(commands: &[CommandPart]) -> Option<String> {
    let texts = commands.iter().map(|command| match command.program()? {
        "echo" | "printf" => {
            let operands = join_values(command.words.iter().skip(1))?;
            Some(operands.replace("\\n", "\n"))
        }
        "cat" if command.words.len() == 1 => command.input.text().map(str::to_owned),
        _ => None,
    });
    Some(texts.collect::<Option<Vec<_>>>()?.join("\n"))
}
