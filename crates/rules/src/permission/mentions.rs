//! Mentions of programs and files in texts that a program may interpret in ways that the tables do
//! not describe. A mention needs approval.

use std::collections::{BTreeSet, HashSet};

use super::command_pattern::CommandPattern;
use super::invocation::Invocation;
use super::languages::{MAX_COMMANDS, run_by_sed, strings_in};
use super::outline::outlines;
use super::path_context::PathContext;
use super::programs;
use super::standard_input::{Given, StandardInput};
use super::text_words::{any_names, is_plain, names_of, words_of};
use super::wildcard::{GAP, GLOB};
use crate::shell::{CommandPart, PartWord, analyse, lenient_parts};

/// Maximum number of names that are looked up. More are replaced by one name that may be any file.
const MAX_NAMES: usize = 4096;

/// Maximum length of a word in which a name may follow a command without a blank, in bytes. A longer one may have any.
const MAX_GLUED: usize = 64;

/// The work of taking a text apart, compared with looking at one of its bytes.
const TEXT_WORK: usize = 32;

/// Maximum nesting depth of scripts.
const MAX_DEPTH: usize = 4;

/// Where a command is looked at.
#[derive(Clone, Copy)]
struct Scope<'a> {
    /// The texts that it may read.
    given: &'a [Given<'a>],
    /// How many more scripts may be nested.
    depth: usize,
    context: &'a PathContext<'a>,
}

/// Texts that a command passes to programs that may interpret them.
#[derive(Default)]
pub(super) struct Mentions {
    /// Words of the texts that may be run.
    runnable: Vec<String>,
    /// Possible names of files that are read.
    read: BTreeSet<String>,
    /// Possible names of files that are changed.
    changed: BTreeSet<String>,
    /// All names in the words of programs that do more than read.
    operands: BTreeSet<String>,
    /// The texts that were taken apart, since many commands may read one.
    known: HashSet<String>,
    /// Whether the commands that are looked at are in strings of code, so that those that only read count as well.
    is_in_code: bool,
}

impl Mentions {
    /// Returns the mentions of a command, given with the commands that it wraps. `given` are the texts
    /// that it may read.
    pub(super) fn of(
        levels: &[CommandPart],
        given: &[Given<'_>],
        context: &PathContext<'_>,
    ) -> Self {
        let scope = Scope {
            given,
            depth: MAX_DEPTH,
            context,
        };
        let mut mentions = Self::default();
        let mut guessed = Vec::new();
        if levels.is_empty() {
            let read = lenient_parts(context.script());
            guessed.extend(read.parts.iter().flat_map(CommandPart::levels));
            for enclosed in &read.enclosed {
                mentions.add_script(enclosed, scope);
            }
        }
        for level in levels.iter().chain(&guessed) {
            mentions.add(level, scope);
        }
        if context.is_ambiguous() || context.passes_unseen() {
            mentions.add_text(context.script());
        }
        for names in [
            &mut mentions.read,
            &mut mentions.changed,
            &mut mentions.operands,
        ] {
            if names.len() > MAX_NAMES {
                *names = any_names().into();
            }
        }
        mentions
    }

    /// Whether a text mentions the program of a pattern, and the whole command line has the other words of
    /// the pattern.
    pub(super) fn runs(&self, pattern: &CommandPattern, context: &PathContext<'_>) -> bool {
        let mut words = self.runnable.iter();
        words.any(|word| pattern.may_start_with(word)) && {
            let line = &context.line.words;
            let line = line.get_or_init(|| words_of(context.script()));
            let words = self.runnable.iter().chain(line).map(String::as_str);
            pattern.is_composed_of(&words.collect::<Vec<_>>())
        }
    }

    /// Returns the names in the words of programs that do more than read.
    pub(super) fn operands(&self) -> &BTreeSet<String> {
        &self.operands
    }

    /// Returns the possible names of files that are read, and of files that are changed.
    pub(super) fn names(&self) -> [&BTreeSet<String>; 2] {
        [&self.read, &self.changed]
    }

    fn add(&mut self, level: &CommandPart, scope: Scope<'_>) {
        let first = level.program();
        let is_assigning =
            first.is_some_and(|program| programs::SETS.contains(program) && program != "printf");
        self.add_assigned(level, scope.context);
        // `jq -f x`
        let has_script = scope.given.iter().any(|given| given.is_configuration);
        let only_reads = level.only_reads && !has_script && !self.is_in_code;
        let is_known_to_read = only_reads && !is_assigning;
        if is_known_to_read || level.unwrapped().is_some() {
            return;
        }
        let texts = scope.given.iter().flat_map(|given| given.texts());
        let texts = texts.map(|(text, _)| text.len() + TEXT_WORK);
        let words = level.words.iter().map(|word| word.text.len());
        if !scope.context.spend(texts.chain(words).sum::<usize>()) {
            return;
        }
        let invocation = Invocation::new(&level.words, false, scope.context);
        self.add_words(&invocation, level, scope);
        self.add_input(&invocation, level, scope);
    }

    /// Adds the words of a command.
    fn add_words(&mut self, invocation: &Invocation, level: &CommandPart, scope: Scope<'_>) {
        let program = invocation.program();
        let is_listed = programs::CHANGES.contains(program) || programs::READS.contains(program);
        let takes_data = takes_data(invocation, level);
        let copies = programs::COPIES.contains(program);
        if invocation.begins_anywhere() && program.ends_with("awk") {
            let words = invocation.words.iter().skip(1);
            let texts = words.flat_map(|word| outlines(word, scope.context));
            for text in texts {
                self.add_scripts(invocation, &text, scope);
                self.runnable.extend(words_of(&text));
            }
        }
        // `helm --post-renderer rm`, `brew bundle exec rm`.
        let behind_runner = |at: usize| {
            let mut before = invocation.words[1..at].iter();
            // A word known only at run time may be an option.
            let value = |word: &PartWord| word.value.as_deref().unwrap_or("--?").to_owned();
            let last = before.clone().last().map(value).unwrap_or_default();
            last.starts_with("--") && !last.contains('=') && !programs::is_flag(&last)
                || programs::COMMAND_OPTIONS.contains(&last)
                || before.any(|word| programs::RUNNER_WORDS.contains(&value(word)))
        };
        for word in invocation.read_words() {
            let at = invocation.words.iter().position(|one| one == word);
            let only_reads =
                at.is_some_and(|at| invocation.only_reads_operand(at)) && !invocation.remounts();
            let names_no_program = at.is_some_and(|at| {
                let before = invocation.words[at - 1].known_value();
                (takes_data || invocation.is_subcommand(at))
                    && !programs::PROGRAM_OPTIONS.contains(before)
                    && !behind_runner(at)
            });
            // A copy of a program or a link to it is the program: `cp "$(which rm)" x; ./x`.
            if copies && word.value.is_none() {
                self.runnable.extend(words_of(&word.text));
            }
            for text in outlines(word, scope.context) {
                if self.add_scripts(invocation, &text, scope) {
                    continue;
                }
                // `a * b`, `select * from t`
                if self.is_in_code && text.chars().eq([GLOB]) && !is_listed {
                    continue;
                }
                // The program may decode the text: `curl` decodes URLs.
                if word.value.is_some() && text.starts_with(GAP) {
                    self.changed.extend(any_names());
                }
                let is_data = names_no_program && !copies && is_plain(&text, "_.+-/@~");
                if !is_data {
                    self.runnable.extend(words_of(&text));
                }
                let names = names_of(&text);
                self.operands.extend(names.iter().cloned());
                let is_operand = is_plain(&text, "_.+-/@~:,%{}[]*?");
                if !is_operand || self.is_in_code {
                    self.read.extend(names.iter().cloned());
                }
                // `perl -esystem+rm`, `perl -e system+rm`
                let before = at.and_then(|at| invocation.words[at - 1].value.as_deref());
                let follows =
                    before.is_some_and(|text| text.starts_with('-') && !text.starts_with("--"));
                if programs::SCRIPTS.contains(program) && (follows || text.starts_with('-')) {
                    self.add_text(&format!("{text} "));
                }
                if programs::GLUED_NAMES.contains(program) {
                    self.add_glued(&text);
                }
                if !(only_reads && (is_operand || text.starts_with('-'))) {
                    self.changed.extend(names);
                }
            }
        }
        if program == "git" {
            // The words of the invocation have gaps where pathspecs have patterns.
            let texts = level.words.iter().filter_map(|word| word.value.as_deref());
            for text in texts.filter(|text| text.contains(['*', '?', '[', '(', '\\'])) {
                self.add_scripts(invocation, text, scope);
            }
        }
    }

    /// Adds the texts that a command may read.
    fn add_input(&mut self, invocation: &Invocation, level: &CommandPart, scope: Scope<'_>) {
        let program = invocation.program();
        let is_data = takes_data(invocation, level);
        let input = level.input.text().into_iter().map(|text| (text, true));
        let read = scope
            .given
            .iter()
            .filter(|given| !is_data || given.is_configuration);
        for (text, names_files) in input.chain(read.flat_map(|given| given.texts())) {
            if programs::GLUED_NAMES.contains(program) && names_files {
                self.add_glued(text);
            }
            if program.ends_with("sed") {
                self.runnable.extend(run_by_sed(text).flat_map(words_of));
            }
            if !names_files {
                // `s/echo/rm/`
                self.runnable.extend(words_of(&format!("{text} ")));
            } else if !self.add_scripts(invocation, text, scope) {
                self.add_text(text);
            }
        }
    }

    /// Adds the values of variables that a command sets.
    fn add_assigned(&mut self, level: &CommandPart, context: &PathContext<'_>) {
        let set = level.assignments.iter();
        for text in set.flat_map(|set| outlines(&set.word, context)) {
            self.add_text(&text);
        }
        if context.gives_arguments() {
            let program = level.program();
            self.runnable.extend(words_of(program.unwrap_or_default()));
        }
        let sets = |text: &str| text.starts_with("-v") || text.contains("${") && text.contains('=');
        if level.words.iter().any(|word| sets(&word.text)) {
            // `printf -v x`, `${x:=y}`.
            for word in &level.words {
                self.add_text(&word.text);
            }
        }
    }

    /// Adds the commands in a text that a program may run, and in the strings of the text; returns whether it is a
    /// script of a shell that is understood.
    fn add_scripts(&mut self, invocation: &Invocation, text: &str, scope: Scope<'_>) -> bool {
        let program = invocation.program();
        let is_shell = programs::SHELLS.contains(program);
        let is_file = invocation
            .words
            .first()
            .is_some_and(|word| word.text.contains('/'));
        let may_run = is_shell
            || is_file
            || invocation.begins_anywhere()
            || programs::SCRIPTS.contains(program)
            || programs::INTERPRETS.contains(program);
        if !may_run {
            return false;
        }
        if is_shell && self.add_script(text, scope) {
            return true;
        }
        let is_in_code = std::mem::replace(&mut self.is_in_code, true);
        let whole = Some(text.to_owned()).filter(|_| !is_shell);
        for script in strings_in(text).take(MAX_COMMANDS).chain(whole) {
            self.add_script(&script, scope);
        }
        self.is_in_code = is_in_code;
        false
    }

    /// Adds the commands of a script; returns whether it is understood.
    fn add_script(&mut self, script: &str, scope: Scope<'_>) -> bool {
        let Some(depth) = scope.depth.checked_sub(1) else {
            return false;
        };
        let is_script = script.contains(char::is_whitespace) && !script.contains([GAP, GLOB]);
        if !is_script || !scope.context.spend(script.len()) {
            return false;
        }
        let line = analyse(script).line;
        let parts = line.all_commands();
        let guessed = (parts.is_none() && self.is_in_code).then(|| lenient_parts(script).parts);
        let found = parts.or(guessed.as_deref()).unwrap_or_default();
        let line = StandardInput::new(found, scope.context);
        for (index, part) in found.iter().enumerate() {
            let inside = Given {
                texts: line.composed(),
                index,
                is_configuration: false,
                names_files: true,
            };
            let given: Vec<Given<'_>> = scope.given.iter().copied().chain([inside]).collect();
            for level in part.levels() {
                let given = &given;
                self.add(
                    &level,
                    Scope {
                        given,
                        depth,
                        ..scope
                    },
                );
            }
        }
        parts.is_some()
    }

    /// Adds the names that may follow the letters of a command.
    fn add_glued(&mut self, text: &str) {
        for piece in text.split(|letter: char| letter.is_whitespace() || letter == '|') {
            if piece.len() > MAX_GLUED {
                self.read.extend(any_names());
                self.changed.extend(any_names());
                continue;
            }
            let starts = piece.char_indices().map(|(at, _)| &piece[at..]);
            let names = starts.map(|name| name.trim_end_matches(['"', '\'', '|', 'q', 'x']));
            let names = names.filter(|name| name.len() > 1).map(str::to_owned);
            let names: Vec<String> = names.collect();
            self.read.extend(names.iter().cloned());
            self.changed.extend(names);
        }
    }

    fn add_text(&mut self, text: &str) {
        if !self.known.insert(text.to_owned()) {
            return;
        }
        self.runnable.extend(words_of(text));
        let names = names_of(text);
        self.read.extend(names.iter().cloned());
        self.changed.extend(names.iter().cloned());
        // A name may be a directory: `chdir("x")`, `lcd x` of `debugfs`.
        self.operands.extend(names);
    }
}

/// Whether the words of a command are data unless they contain special characters.
fn takes_data(invocation: &Invocation, level: &CommandPart) -> bool {
    let program = invocation.program();
    !invocation.begins_anywhere()
        && programs::is_harmlessly_set(level)
        && (programs::TAKES_DATA.contains(program) || programs::CHANGES.contains(program))
}
