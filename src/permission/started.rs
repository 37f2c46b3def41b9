//! Commands that a command may start: itself, the command that it wraps, and command lines in its
//! arguments, variables and standard input.

use super::invocation::{Invocation, joined};
use super::outline::{names_in, outline, outlines};
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB, begins_with_gap};
use crate::shell::{CommandPart, PartInput, PartWord, analyse, lenient_parts};

/// Maximum nesting depth of command lines in arguments.
const MAX_DEPTH: usize = 5;

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

/// Possible standard input of the commands of a command line.
pub(super) struct StandardInput<'a> {
    /// Text in words and here-documents, which commands may print and a shell may read.
    printed: Vec<String>,
    /// Whether `exec`, or the input of a shell around it, replaces the standard input.
    replaces_input: bool,
    /// Names of files that redirections and `tee` write.
    written: Vec<String>,
    context: &'a PathContext<'a>,
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
        let written = parts.iter().flat_map(|part| {
            let is_tee = part.words.first().is_some_and(|word| word.text == "tee");
            let operands = part.words.iter().skip(1).filter(move |_| is_tee);
            part.writes.iter().chain(operands)
        });
        let written =
            written.filter_map(|word| Some(programs::name(word.value.as_deref()?).to_owned()));
        Self {
            printed: texts.collect(),
            replaces_input,
            written: written.collect(),
            context,
        }
    }

    /// Returns the standard input of the commands in a command line that a command runs.
    fn inside(&self, level: &CommandPart) -> Self {
        let input = level.input.text().map(str::to_owned);
        Self {
            replaces_input: self.replaces_input || level.input != PartInput::Inherited,
            printed: self.printed.iter().cloned().chain(input).collect(),
            written: self.written.clone(),
            context: self.context,
        }
    }

    /// Whether it is a file that the command line writes.
    fn is_written(&self, word: &PartWord) -> bool {
        let name = word.value.as_deref().map(programs::name);
        name.is_some_and(|name| self.written.iter().any(|written| written == name))
    }
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
    let mut renaming = ["BASH_ALIASES", "BASH_CMDS", "histexpand"].iter();
    started.runs_unknown |= renaming.any(|name| script.contains(name));
    started
}

impl StartedCommands {
    /// Adds a command line.
    fn add_script(&mut self, script: &str, depth: usize, line: &StandardInput<'_>) {
        let Some(depth) = depth.checked_sub(1) else {
            self.runs_unknown = true;
            return;
        };
        match analyse(script).parts {
            Some(parts) => self.add_parts(&parts, depth, line),
            None => self.add_lenient(script, depth, line),
        }
    }

    fn add_parts(&mut self, parts: &[CommandPart], depth: usize, line: &StandardInput<'_>) {
        for level in parts.iter().flat_map(CommandPart::levels) {
            let program = level.words.first().and_then(|word| word.value.as_deref());
            if matches!(program, Some("cd" | "pushd" | "popd")) {
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

    fn add_level(&mut self, level: &CommandPart, depth: usize, line: &StandardInput<'_>) {
        let mut invocation = Invocation::new(&level.words, false, line.context);
        invocation.reads.clone_from(&level.reads);
        invocation.writes.clone_from(&level.writes);
        // `>!` of zsh.
        if level.writes.iter().any(|word| word.text == "!") {
            invocation.writes.extend_from_slice(&level.words);
        }
        let set = level.assignments.iter();
        for set in set.filter(|set| programs::FILE_VARIABLES.contains(&set.name)) {
            invocation.reads.push(set.word.clone());
            invocation.writes.push(set.word.clone());
        }
        let program = invocation.program().to_owned();
        let arguments = level.words.get(1..).unwrap_or_default();
        self.runs_unknown |= program.contains([GAP, GLOB]) || may_mean_another(&program, level);
        let input = level.input.text();
        let is_replaced = line.replaces_input || level.input != PartInput::Inherited;
        let is_unknown = input.is_none() && (is_replaced || !level.reads.is_empty());
        let reads_process = arguments.iter().any(|word| word.text.starts_with("<("));
        let mut scripts = run_variables(level);
        if invocation.begins_anywhere {
            self.add_started(&invocation, level, depth, line);
            let texts: Vec<Vec<String>> = (invocation.words.iter().skip(1))
                .map(|word| outlines(word, line.context))
                .collect();
            let is_evaluated = programs::SHELLS.contains(&program) || program == "eval";
            let starts = programs::STARTS.contains(&program);
            self.runs_unknown |= texts.iter().flatten().any(|text| {
                let is_option = text.starts_with('-');
                let is_script = is_option || text.contains(char::is_whitespace);
                text.contains(GAP) && ((starts && is_option) || (is_evaluated && is_script))
            });
            scripts.extend(scripts_in(&texts));
        }
        if invocation.may_be_shell(level) {
            self.runs_unknown |= is_unknown || reads_process;
            scripts.extend(input.map(str::to_owned));
            if is_unknown {
                scripts.extend_from_slice(&line.printed);
            }
        }
        if programs::INCLUDES.contains(&program) {
            let printed = is_unknown.then_some(line.printed.as_slice());
            let texts = printed.unwrap_or_default().iter().map(String::as_str);
            let names = texts.chain(input).flat_map(names_of_files);
            invocation.reads.extend(names.map(PartWord::known));
        }
        let reads_language = programs::READS_LANGUAGE.contains_with(&program, arguments);
        let is_language = reads_language
            || (programs::INTERPRETS.contains(&program) && invocation.begins_anywhere);
        if is_language {
            self.runs_unknown |= reads_language && (is_unknown || reads_process);
            let values: Vec<String> = (arguments.iter())
                .flat_map(|word| outlines(word, line.context))
                .collect();
            for script in values.iter().map(String::as_str).chain(input) {
                self.add_anywhere(script, line);
                let commands = commands_in(script);
                self.runs_unknown |= commands.len() > MAX_COMMANDS;
                for command in commands.iter().take(MAX_COMMANDS) {
                    self.add_lenient(command, depth.saturating_sub(1), line);
                }
                invocation.add_changed(names_of_files(script).chain(files_of_sed(script)));
            }
        }
        if programs::PATCHES.contains_with(&program, arguments) {
            invocation.patch(level);
        }
        if programs::COPIES.contains(&program) {
            invocation.add_copies();
        }
        if program == "find" {
            invocation.add_found();
        }
        let is_shell = programs::SHELLS.contains(&program);
        self.runs_unknown |= program == "zsh" && scripts.iter().any(|script| has_pattern(script));
        self.runs_unknown |= level
            .words
            .first()
            .is_some_and(|word| line.is_written(word));
        if is_shell && arguments.iter().any(|word| line.is_written(word)) {
            scripts.extend_from_slice(&line.printed);
        }
        self.invocations.push(invocation);
        let inside = line.inside(level);
        for script in scripts {
            if !programs::READS_LANGUAGE.contains(&program) {
                self.add_script(&script, depth, &inside);
            }
            if !is_shell {
                self.add_anywhere(&script, line);
            }
        }
        for text in evaluated(level, &program) {
            self.add_lenient(&text, depth.saturating_sub(1), line);
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
        if level.unwrapped().is_some() || !programs::STARTS.contains(program) {
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

/// Whether a command renames programs or its variables add programs.
fn may_mean_another(program: &str, level: &CommandPart) -> bool {
    let arguments = level.words.get(1..).unwrap_or_default();
    let mut assigned = level.assignments.iter();
    programs::RENAMES.contains_with(program, arguments)
        || assigned.any(|set| {
            programs::CODE_VARIABLES.contains(&set.name)
                || (programs::RUN_VARIABLES.contains(&set.name) && set.word.value.is_none())
        })
}

/// Returns the command lines in arguments with their possible values: texts of several words, and
/// text after an option letter or `=` with the arguments that follow (`env -Srm x`).
fn scripts_in(arguments: &[Vec<String>]) -> impl Iterator<Item = String> {
    arguments.iter().enumerate().flat_map(|(index, values)| {
        let following = arguments.get(index + 1..).unwrap_or_default();
        // These words are passed unchanged.
        let following = joined(following.iter().map(|values| values[0].as_str()));
        let following = following.replace('*', "\\*").replace('?', "\\?");
        values.iter().flat_map(move |value| {
            let is_script = value
                .replace("{}", "")
                .contains(|letter: char| " \t\n;|&<>{$`'\"\\(".contains(letter));
            let attached = names_in(value)
                .skip(1)
                .filter(|text| !text.starts_with('-'))
                .map(|text| format!("{text} {following}"))
                .collect::<Vec<_>>();
            let itself = is_script.then(|| value.clone());
            // Git marks commands with `!`; a space is `\_` in `env -S` and `,` in `gcc -wrapper`.
            let listed = (value.contains(',') && !is_script).then(|| value.replace(',', " "));
            itself
                .into_iter()
                .chain(listed)
                .chain(attached)
                .filter(|text| !begins_with_gap(text))
                .map(|text| text.trim_start_matches('!').replace("\\_", " "))
        })
    })
}

/// Whether a script of zsh has a pattern such as `.e(n)v`.
fn has_pattern(script: &str) -> bool {
    script.match_indices('(').any(|(at, _)| {
        let is_in_word = |letter: char| letter.is_alphanumeric() || ".*?/_-])}~^".contains(letter);
        script[..at].ends_with(is_in_word) && !script[at..].starts_with("()")
    })
}

/// Returns the values of variables that programs run as command lines.
fn run_variables(level: &CommandPart) -> Vec<String> {
    let set = level.assignments.iter();
    let run = set.filter(|set| programs::RUN_VARIABLES.contains(&set.name));
    let values = run.filter_map(|set| set.word.value.as_deref());
    values
        .map(|value| value.trim_start_matches('!').to_owned())
        .collect()
}

/// Returns evaluated texts of a command that contain substitutions. Assignment to an integer
/// variable evaluates the value.
fn evaluated(level: &CommandPart, program: &str) -> Vec<String> {
    let assigned = level.assignments.iter();
    let mut texts: Vec<String> = assigned.filter_map(|set| set.word.value.clone()).collect();
    if programs::EVALUATES.contains(program) {
        let words = level.words.iter().skip(1);
        let words = words.map(|word| word.value.as_ref().unwrap_or(&word.text));
        texts.extend(words.map(|text| text.replace('\\', "")));
        texts.extend(level.input.text().map(str::to_owned));
    }
    texts.retain(|text| text.contains("$(") || text.contains('`'));
    // A later arithmetic evaluation runs substitutions in an index.
    let given = level.words.iter().filter_map(|word| word.value.as_deref());
    let given = given.chain(level.input.text());
    let indexed = given.filter(|text| text.contains("[$(") || text.contains("[`"));
    texts.extend(indexed.map(str::to_owned));
    texts
}

/// Maximum number of command lines in one text of another language.
const MAX_COMMANDS: usize = 32;

/// Returns possible command lines in a text of another language: strings as in `awk`, recipes as in
/// `make`, and text after `e`, `!` and similar commands.
fn commands_in(script: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for line in script.lines().take(MAX_COMMANDS + 1) {
        let begins = ["e ", "!", "shell ", "system ", "\t", ";", ":"];
        let rests = begins.iter().flat_map(|begin| line.match_indices(begin));
        let rests = rests.filter_map(|(at, begin)| line.get(at + begin.len()..));
        commands.extend(rests.take(MAX_COMMANDS + 1).map(|rest| {
            let rest = rest.trim_start_matches(['\t', ' ', '@', '-', '+']);
            rest.to_owned()
        }));
    }
    let mut string = None;
    let mut letters = script.chars();
    while let Some(letter) = letters.next() {
        match (letter, &mut string) {
            ('"', None) => string = Some(String::new()),
            ('"', Some(_)) => commands.extend(string.take()),
            ('\\', Some(text)) => text.extend(letters.next()),
            (letter, Some(text)) => text.push(letter),
            (_, None) => {}
        }
    }
    commands.retain(|command| command.contains(char::is_whitespace));
    commands
}

/// Returns possible names of files in a text of another language.
fn names_of_files(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| " \t\n\"'|<>();".contains(letter))
        .filter(|name| !name.is_empty())
}

/// Returns the files that a `sed` script may read or write.
fn files_of_sed(script: &str) -> impl Iterator<Item = &str> {
    let commands = script.match_indices(['r', 'R', 'w', 'W']);
    commands.filter_map(|(at, _)| {
        let rest = script.get(at + 1..)?;
        Some(rest.split('\n').next().unwrap_or_default().trim())
    })
}
