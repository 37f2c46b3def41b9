//! Commands that a command may start: itself, the command that it wraps, and command lines in its
//! arguments, variables and standard input.

use super::invocation::Invocation;
use super::languages::{
    MAX_COMMANDS, commands_in, evaluated, files_of_sed, names_of_files, run_by_sed, run_variables,
    scripts_in, variables,
};
use super::outline::{outline, outlines};
use super::path_context::PathContext;
use super::programs;
use super::standard_input::StandardInput;
use super::wildcard::{GAP, GLOB, begins_with_gap};
use crate::shell::{CommandPart, PartInput, PartWord, analyse, is_read_alike, lenient_parts};

/// Maximum nesting depth of command lines in arguments.
const MAX_DEPTH: usize = 5;

/// The work of parsing a byte of a command line, compared with looking at one.
const PARSING_WORK: usize = 8;

/// Maximum number of words of a wrapper that are tried as the start of its command.
const MAX_BEGINNINGS: usize = 8;

/// Everything that a command may run.
#[derive(Default)]
pub(super) struct StartedCommands {
    pub(super) invocations: Vec<Invocation>,
    /// Whether it may also run commands known only at run time.
    pub(super) runs_unknown: bool,
    /// Whether a command line in it changes the directory.
    pub(super) changes_directory: bool,
    /// The directories that it may change to.
    pub(super) entered: Vec<PartWord>,
}

/// Collects everything started by a command, given with the commands that it wraps.
pub(super) fn started(levels: &[CommandPart], line: &StandardInput<'_>) -> StartedCommands {
    let mut started = StartedCommands::default();
    for level in levels {
        started.add_level(level, MAX_DEPTH, line);
    }
    started
}

/// Collects everything that an unparsable text may run.
pub(super) fn guessed(script: &str, context: &PathContext<'_>) -> StartedCommands {
    let mut started = StartedCommands::default();
    let line = StandardInput::new(&lenient_parts(script).parts, context);
    started.add_lenient(script, MAX_DEPTH, &line);
    let mut renaming = ["BASH_ALIASES", "BASH_CMDS"].iter();
    started.runs_unknown |= renaming.any(|name| script.contains(name));
    started
}

impl StartedCommands {
    /// Adds a command line.
    fn add_script(&mut self, script: &str, depth: usize, line: &StandardInput<'_>) {
        let depth = depth.checked_sub(1);
        let is_affordable = line.context.spend(script.len() * PARSING_WORK);
        let Some(depth) = depth.filter(|_| is_affordable) else {
            self.runs_unknown = true;
            return;
        };
        match analyse(script).line.all_commands() {
            // `bash -c 'echo x > y; sh y'`
            Some(parts) if parts.len() > 1 => self.add_parts(parts, depth, &line.with(parts)),
            Some(parts) => self.add_parts(parts, depth, line),
            None => self.add_lenient(script, depth, line),
        }
    }

    fn add_parts(&mut self, parts: &[CommandPart], depth: usize, line: &StandardInput<'_>) {
        for level in parts.iter().flat_map(CommandPart::levels) {
            let program = level.program();
            let enters = |program| programs::ENTERS.contains(program) || program == "popd";
            if program.is_some_and(enters) {
                self.changes_directory = true;
                self.entered.extend_from_slice(&level.words[1..]);
            }
            self.add_level(&level, depth, line);
        }
    }

    /// Adds an unparsable text.
    fn add_lenient(&mut self, script: &str, depth: usize, line: &StandardInput<'_>) {
        let read = lenient_parts(script);
        self.runs_unknown |= read.is_ambiguous;
        self.add_parts(&read.parts, depth, line);
        for enclosed in &read.enclosed {
            self.add_script(enclosed, depth, line);
        }
    }

    /// Adds commands that may start at any word of a text in another language.
    fn add_anywhere(&mut self, text: &str, line: &StandardInput<'_>) {
        if !line.context.spend(text.len()) {
            return;
        }
        let text = text.replace('\\', "");
        for piece in text.split([
            ';', '|', '&', '\n', '(', ')', '`', '"', '\'', '{', '}', '!', '=',
        ]) {
            let words: Vec<PartWord> = piece.split_whitespace().map(PartWord::known).collect();
            if words
                .first()
                .is_some_and(|word| !begins_with_gap(&word.text))
            {
                self.invocations
                    .push(Invocation::new(&words, true, line.context));
            }
        }
    }

    /// Adds a command with everything that it may start.
    fn add_level(&mut self, level: &CommandPart, depth: usize, line: &StandardInput<'_>) {
        if sets_up(level, line.context) {
            return;
        }
        let mut invocation = Invocation::of(level, &line.assigned, line.context);
        let size: usize = level.words.iter().map(|word| word.text.len() + 1).sum();
        if !line.context.spend(size) {
            // The command itself is known, so that rules deny it in every mode.
            self.runs_unknown = true;
            invocation.add_effects(level);
            self.invocations.push(invocation);
            return;
        }
        let program = invocation.program().to_owned();
        let is_shell = programs::SHELLS.contains(&program);
        let set = variables(level, &program, line.context);
        invocation.add_variables(&set);
        self.runs_unknown |= may_mean_another(&invocation, level, &set)
            || level
                .words
                .first()
                .is_some_and(|word| line.is_written(word));
        let input = Input::of(level, line);
        let mut scripts = run_variables(&set);
        let mut words = invocation.words.iter();
        self.changes_directory |= words.any(|word| {
            let value = word.known_value();
            program == "find" && value.starts_with('-') && value.ends_with("dir")
        });
        if invocation.begins_anywhere() && !programs::SCRIPT_FIRST.contains(&program) {
            self.add_started(&invocation, level, depth, line);
            scripts.extend(self.scripts_of(&program, &invocation.words, line));
            if program == "git" {
                // The words of the invocation have gaps where pathspecs have patterns.
                scripts.extend(self.scripts_of(&program, &level.words, line));
            }
        }
        if invocation.may_be_shell(level) {
            self.runs_unknown |= input.is_unknown || input.is_process;
            scripts.extend(input.texts(line).map(str::to_owned));
        }
        if is_shell && level.words.iter().skip(1).any(|word| line.is_written(word)) {
            scripts.extend_from_slice(&line.printed);
        }
        if programs::INCLUDES.contains(&program) {
            let names = input.texts(line).flat_map(names_of_files);
            invocation.reads.extend(names.map(PartWord::known));
        }
        self.add_language(&mut invocation, level, &input, depth, line);
        invocation.add_effects(level);
        self.runs_unknown |= programs::OTHER_SHELLS.contains(&program)
            && scripts.iter().any(|script| !is_read_as_by_bash(script));
        self.invocations.push(invocation);
        let inside = (!scripts.is_empty()).then(|| line.inside(level));
        for (script, inside) in scripts.iter().zip(inside.iter().cycle()) {
            if line.context.is_exhausted() {
                self.runs_unknown = true;
                break;
            }
            if !programs::READS_LANGUAGE.contains(&program) {
                self.add_script(script, depth, inside);
                if !is_shell {
                    // To dash, `[[` is a command, whose `>` redirects; `((` opens two subshells.
                    let by_dash = script.replace("[[", "[").replace("((", "( (");
                    if by_dash != *script {
                        self.add_script(&by_dash.replace("))", ") )"), depth, inside);
                    }
                }
            }
            if !is_shell {
                self.add_anywhere(script, line);
            }
        }
        for text in evaluated(level, &program, line.context) {
            self.add_lenient(&text, depth.saturating_sub(1), line);
        }
    }

    /// Returns the command lines in the arguments of a program that starts commands.
    fn scripts_of(
        &mut self,
        program: &str,
        words: &[PartWord],
        line: &StandardInput<'_>,
    ) -> Vec<String> {
        let texts: Vec<Vec<String>> = (words.iter().skip(1))
            .map(|word| outlines(word, line.context))
            .collect();
        let is_evaluated = programs::SHELLS.contains(program) || program == "eval";
        let starts = programs::STARTS.contains_with(program, words);
        self.runs_unknown |= texts.iter().flatten().any(|text| {
            let is_option = text.starts_with('-');
            let is_script = is_option || text.contains(char::is_whitespace);
            text.contains(GAP) && ((starts && is_option) || (is_evaluated && is_script))
        });
        let size: usize = texts.iter().flatten().map(|text| text.len() + 1).sum();
        // Each word is joined with those behind it.
        if !line.context.spend(size * texts.len() / 4) {
            self.runs_unknown = true;
            return Vec::new();
        }
        scripts_in(&texts)
    }

    /// Adds what a program with a language of its own runs from its arguments and its input.
    fn add_language(
        &mut self,
        invocation: &mut Invocation,
        level: &CommandPart,
        input: &Input<'_>,
        depth: usize,
        line: &StandardInput<'_>,
    ) {
        let program = invocation.program().to_owned();
        let arguments = level.words.get(1..).unwrap_or_default();
        let reads_language = programs::READS_LANGUAGE.contains_with(&program, arguments);
        let interprets = programs::INTERPRETS.contains(&program) && invocation.begins_anywhere();
        if !reads_language && !interprets {
            return;
        }
        self.runs_unknown |= reads_language && (input.is_unknown || input.is_process);
        let values = arguments
            .iter()
            .flat_map(|word| outlines(word, line.context));
        for script in values.chain(input.text.map(str::to_owned)) {
            self.add_anywhere(&script, line);
            let mut commands = commands_in(&script);
            if program.ends_with("sed") {
                commands.extend(run_by_sed(&script).map(str::to_owned));
            }
            self.runs_unknown |= commands.len() > MAX_COMMANDS;
            for command in commands.iter().take(MAX_COMMANDS) {
                self.add_lenient(command, depth.saturating_sub(1), line);
            }
            if !programs::READS.contains(&program) {
                invocation.add_changed(names_of_files(&script).chain(files_of_sed(&script)));
            }
        }
    }

    /// Adds the commands that a program may start from its arguments.
    fn add_started(
        &mut self,
        invocation: &Invocation,
        level: &CommandPart,
        depth: usize,
        line: &StandardInput<'_>,
    ) {
        let program = invocation.program();
        self.runs_unknown |= invocation.starts_unknown();
        let starts = programs::STARTS.contains_with(program, &level.words);
        if level.unwrapped().is_some() || !starts {
            return;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        for at in invocation.operand_positions().take(MAX_BEGINNINGS) {
            let mut words = invocation.words.get(at..).unwrap_or_default().to_vec();
            if programs::TAKES_NAMES.contains(program) {
                words.push(PartWord::unknown(0..0, "$name"));
            }
            let is_unknown = words.first().is_some_and(|word| {
                word.text.starts_with("<(") || begins_with_gap(&outline(word, line.context))
            });
            self.runs_unknown |= is_unknown;
            // The operand of a shell is a script file.
            if !is_unknown && !programs::SHELLS.contains(program) {
                let inner = CommandPart {
                    words,
                    assignments: Vec::new(),
                    ..level.clone()
                };
                for level in inner.levels() {
                    self.add_level(&level, depth, line);
                }
            }
        }
    }
}

/// The standard input of a command.
struct Input<'a> {
    text: Option<&'a str>,
    /// Whether it is replaced by one known only at run time.
    is_unknown: bool,
    /// Whether an argument is the output of a process.
    is_process: bool,
}

impl<'a> Input<'a> {
    fn of(level: &'a CommandPart, line: &StandardInput<'_>) -> Self {
        let text = level.input.text();
        let is_replaced = line.replaces_input || level.input != PartInput::Inherited;
        let mut arguments = level.words.iter().skip(1);
        Self {
            text,
            is_unknown: text.is_none() && (is_replaced || !level.reads.is_empty()),
            is_process: arguments.any(|word| word.text.starts_with("<(")),
        }
    }

    /// Returns the texts that it may be.
    fn texts(&self, line: &'a StandardInput<'_>) -> impl Iterator<Item = &'a str> + use<'a> {
        let printed = self.is_unknown.then_some(line.printed.as_slice());
        let printed = printed.unwrap_or_default().iter().map(String::as_str);
        self.text.into_iter().chain(printed)
    }
}

/// Whether a command, or commands after it, may mean other programs than their names say.
fn may_mean_another(
    invocation: &Invocation,
    level: &CommandPart,
    set: &[(String, Option<String>)],
) -> bool {
    let program = invocation.program();
    let arguments = level.words.get(1..).unwrap_or_default();
    let is_assigned = level.assignments.iter().any(|set| set.name == "IFS");
    // `cat${IFS}./x` has two words.
    let is_split = |word: &PartWord| {
        let names = ["$IFS", "${IFS"];
        word.value.is_none() && names.iter().any(|name| word.text.contains(name))
    };
    let mut set = set.iter();
    program.contains([GAP, GLOB])
        || level.words.iter().any(is_split)
        || programs::RENAMES.contains_with(program, arguments)
        || is_unknown_git(invocation)
        || set.any(|(name, value)| {
            programs::CODE_VARIABLES.contains(name)
                || (value.is_none() && programs::RUN_VARIABLES.contains(name))
                || (name == "IFS" && !(program == "read" && is_assigned))
        })
}

/// Whether a command evaluates settings that an installed program prints.
fn sets_up(level: &CommandPart, context: &PathContext<'_>) -> bool {
    const PRINTED: &[&str] = &[
        "$(ssh-agent -s)",
        "$(ssh-agent)",
        "$(brew shellenv)",
        "$(direnv hook bash)",
    ];
    let [program, printed] = level.words.as_slice() else {
        return false;
    };
    let renames = ["()", "function", "alias", "PATH"];
    program.value.as_deref() == Some("eval")
        && PRINTED.contains(&printed.text.trim_matches('"'))
        && !renames.iter().any(|name| context.script().contains(name))
}

/// Whether a command is a `git` command that may be an alias.
fn is_unknown_git(invocation: &Invocation) -> bool {
    let words = invocation
        .operand_positions()
        .map(|at| &invocation.words[at]);
    let mut words = words.filter(|word| !word.text.starts_with('-')).peekable();
    invocation.program() == "git"
        && words.peek().is_some()
        && !words.any(|word| {
            let name = word.known_value();
            name.is_empty() || programs::GIT_COMMANDS.contains(name)
        })
}

/// Whether other shells read a script as bash does.
pub(super) fn is_read_as_by_bash(script: &str) -> bool {
    let line = analyse(script).line;
    line.all_commands()
        .is_some_and(|parts| is_read_alike(script, parts))
}
