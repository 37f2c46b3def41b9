//! What a command may start: itself, the command that it is a wrapper of, and command lines in its
//! arguments, its variables and its standard input.

use super::command::names_in;
use super::invocation::{Invocation, joined};
use super::named_file::outline;
use super::programs;
use super::surroundings::Surroundings;
use super::wildcard::GAP;
use crate::shell::{CommandPart, PartAssignment, PartInput, PartWord, analyse};

/// Maximum depth of command lines in the arguments of commands.
const MAX_DEPTH: usize = 4;

/// Keywords that a command follows.
const BEFORE_COMMANDS: &[&str] = &[
    "!", "{", "coproc", "do", "elif", "else", "if", "then", "time", "until", "while",
];

/// All that a command may run.
#[derive(Default)]
pub(super) struct Started {
    pub(super) invocations: Vec<Invocation>,
    /// Whether it may also run commands that are only known when it runs.
    pub(super) runs_unknown: bool,
}

/// Collects what is started by a command, given with the commands that it starts in its place.
/// `printed` are texts that the command line prints, which a shell in it may read.
pub(super) fn started(
    levels: &[CommandPart],
    printed: &[String],
    surroundings: &Surroundings<'_>,
) -> Started {
    let mut started = Started::default();
    for level in levels {
        started.add_level(level, printed, MAX_DEPTH, surroundings);
    }
    started
}

/// Collects what may be run by a text that is not understood: anything between characters that separate
/// commands.
pub(super) fn guessed(script: &str, surroundings: &Surroundings<'_>) -> Started {
    let mut started = Started::default();
    started.guess(script, surroundings);
    let mut renaming = ["BASH_ALIASES", "BASH_CMDS", "histexpand"].iter();
    started.runs_unknown |= renaming.any(|name| script.contains(name));
    started
}

impl Started {
    fn add_level(
        &mut self,
        level: &CommandPart,
        printed: &[String],
        depth: usize,
        surroundings: &Surroundings<'_>,
    ) {
        let mut invocation = Invocation::new(level.words.clone(), false, surroundings);
        invocation.reads.clone_from(&level.reads);
        invocation.writes.clone_from(&level.writes);
        let program = invocation.program().to_owned();
        let (first, arguments) = (
            level.words.first(),
            level.words.get(1..).unwrap_or_default(),
        );
        let mut scripts: Vec<String> = level.assignments.iter().filter_map(script_of).collect();
        if invocation.begins_anywhere {
            scripts.extend(scripts_in(arguments));
            // `sudo $x`, `bash -c "$x"`, `xargs -I{} {}` and `bash <(…)` run anything.
            let is_unknown = |at: usize| {
                level.words.get(at).is_some_and(|word| {
                    matches!(word.text.as_str(), "{}" | "%")
                        || word.text.starts_with("<(")
                        || outline(word, surroundings).starts_with(GAP)
                })
            };
            let is_last = level.unwrapped().is_none();
            if is_last && programs::STARTS.contains(&program) {
                for at in invocation.operand_positions() {
                    if is_unknown(at) {
                        self.runs_unknown = true;
                    } else if depth > 0 {
                        let inner = CommandPart {
                            words: level.words.get(at..).unwrap_or_default().to_vec(),
                            ..level.clone()
                        };
                        self.add_level(&inner, printed, depth - 1, surroundings);
                    }
                }
            }
            if programs::INTERPRETS.contains(&program) {
                // Text in quotes of a script of `awk`, or behind a command letter of `sed`.
                for script in arguments.iter().filter_map(|word| word.value.as_deref()) {
                    self.guess(script, surroundings);
                    invocation
                        .add_changed(script.split(|letter: char| " \t\n\"'|>();".contains(letter)));
                }
            }
        }
        self.guess_evaluated(level, &program, surroundings);
        let mut started = arguments.iter().filter_map(|word| word.value.as_deref());
        let starts_shell = invocation.begins_anywhere
            && level.unwrapped().is_none()
            && !programs::SHELLS.contains(&program)
            && started.any(|word| programs::SHELLS.contains(programs::name(word)));
        let is_shell =
            starts_shell || (programs::SHELLS.contains(&program) && reads_script(arguments));
        self.runs_unknown |= is_shell && arguments.iter().any(|word| word.text.starts_with("<("));
        if is_shell || programs::READS_COMMANDS.contains(&program) {
            match &level.input {
                PartInput::Text(Some(text)) => scripts.push(text.clone()),
                PartInput::Inherited if level.reads.is_empty() => {}
                PartInput::Text(None) | PartInput::Inherited | PartInput::Given => {
                    scripts.extend_from_slice(printed);
                    self.runs_unknown = true;
                }
            }
        }
        let is_named = first.is_none_or(|word| word.value.is_some());
        let mut assigned = level.assignments.iter();
        self.runs_unknown |= !is_named
            || programs::RENAMES.contains_with(&program, arguments)
            || assigned.any(|set| {
                programs::CODE_VARIABLES.contains(&set.name)
                    || (programs::RUN_VARIABLES.contains(&set.name) && set.value.is_none())
            });
        if programs::PATCHES.contains_with(&program, arguments) {
            invocation.patch(level);
        }
        if programs::COPIES.contains(&program) {
            invocation.add_copies();
        }
        let is_expanded = |word: &PartWord| word.text.starts_with('{') && word.text.contains(',');
        if level.words.iter().any(is_expanded) {
            let written = joined(level.words.iter().map(|word| word.text.as_str()));
            self.guess(&written, surroundings);
        }
        self.invocations.push(invocation);
        for script in scripts {
            match analyse(&script).parts.filter(|_| depth > 0) {
                Some(parts) => {
                    for part in parts.iter() {
                        for level in part.levels() {
                            self.add_level(&level, printed, depth - 1, surroundings);
                        }
                    }
                }
                None => self.guess(&script, surroundings),
            }
        }
    }

    /// Collects command substitutions in what a command evaluates.
    fn guess_evaluated(
        &mut self,
        level: &CommandPart,
        program: &str,
        surroundings: &Surroundings<'_>,
    ) {
        // An integer variable evaluates what it is set to.
        let mut evaluated: Vec<String> = level
            .assignments
            .iter()
            .filter_map(|set| set.value.clone())
            .collect();
        if programs::EVALUATES.contains(program) {
            let words = level.words.iter().skip(1);
            let words = words.map(|word| word.value.as_ref().unwrap_or(&word.text));
            evaluated.extend(words.map(|text| text.replace('\\', "")));
            if let PartInput::Text(Some(text)) = &level.input {
                evaluated.push(text.clone());
            }
        }
        for text in evaluated {
            if text.contains("$(") || text.contains('`') {
                self.guess(&text, surroundings);
            }
        }
    }

    fn guess(&mut self, script: &str, surroundings: &Surroundings<'_>) {
        let script = script
            .replace("\\\n", "")
            .replace("$()", "")
            .replace("$\"", "\"")
            .replace("``", "");
        let script = script.replace('>', " > ").replace('<', " < ");
        self.guess_words(&script, surroundings);
        if script.contains('=') {
            // `git -c alias.x='rm y'`
            self.guess_words(&script.replace('=', " "), surroundings);
        }
        if script.contains('{') && script.contains(',') {
            // `{rm,x}` runs `rm x`.
            self.guess_words(&script.replace(['{', ',', '}'], " "), surroundings);
        }
    }

    fn guess_words(&mut self, script: &str, surroundings: &Surroundings<'_>) {
        for piece in script.split([';', '|', '&', '\n', '(', ')', '`']) {
            let words = piece.split_whitespace().map(|word| {
                // What `$'…'` stands for is not known here.
                let text = if word.contains("$'") || word == "$" {
                    "$x".to_owned()
                } else if word.ends_with('$') {
                    format!("{word}x")
                } else {
                    word.replace(['"', '\'', '\\'], "")
                };
                PartWord {
                    span: 0..0,
                    value: is_plain(&text).then(|| text.clone()),
                    text,
                }
            });
            let words: Vec<PartWord> = words.collect();
            let command = CommandPart {
                words: without_beginning(&words).to_vec(),
                ..CommandPart::default()
            };
            let is_unknown = |word: &PartWord| word.value.is_none() && word.text.starts_with('$');
            if let Some((first, arguments)) = command.words.split_first() {
                let is_shell = programs::SHELLS.contains(programs::name(&first.text));
                self.runs_unknown |= is_unknown(first) || (is_shell && reads_script(arguments));
            }
            let levels = command.levels().into_iter().map(|level| level.words);
            let ways = std::iter::once(words).chain(levels);
            self.invocations.extend(
                ways.filter(|words| !words.is_empty())
                    .map(|words| Invocation::new(words, true, surroundings)),
            );
        }
    }
}

/// Whether bash leaves a word without quotes as it is.
fn is_plain(word: &str) -> bool {
    matches!(word, "[" | "[[") || !word.replace("{}", "").contains(['$', '{', '*', '?', '['])
}

/// Returns the words that begin at the command: without keywords, assignments and redirections.
fn without_beginning(mut words: &[PartWord]) -> &[PartWord] {
    while let Some((first, rest)) = words.split_first() {
        let text = first.text.as_str();
        words = match text {
            ">" | "<" => rest.get(1..).unwrap_or_default(),
            _ if BEFORE_COMMANDS.contains(&text) || text.contains(['=', '<']) => rest,
            // The descriptor that is redirected.
            _ if text.bytes().all(|byte| byte.is_ascii_digit()) => rest,
            _ => break,
        };
    }
    words
}

/// Command lines in arguments: texts of several words, and those behind an option's letter or `=`
/// together with the arguments after them (`env -Srm x`).
fn scripts_in(arguments: &[PartWord]) -> impl Iterator<Item = String> {
    arguments.iter().enumerate().flat_map(|(index, word)| {
        let value = word.value.as_deref().unwrap_or_default();
        let is_script = value
            .replace("{}", "")
            .contains(|letter: char| " \t\n;|&<>{$`'\"\\(".contains(letter));
        let attached = names_in(value)
            .skip(1)
            .filter(|text| !text.starts_with('-'));
        let following = arguments.get(index + 1..).unwrap_or_default();
        let following = joined(following.iter().map(|word| word.text.as_str()));
        let attached = attached.map(move |text| format!("{text} {following}"));
        let itself = is_script.then(|| value.to_owned());
        // `!` is how git marks them, `\_` a blank of `env -S`.
        itself
            .into_iter()
            .chain(attached)
            .map(|text| text.trim_start_matches('!').replace("\\_", " "))
    })
}

/// The value of a variable that programs run as a command line.
fn script_of(assignment: &PartAssignment) -> Option<String> {
    let is_run = programs::RUN_VARIABLES.contains(&assignment.name);
    let value = assignment.value.as_ref().filter(|_| is_run)?;
    Some(value.trim_start_matches('!').to_owned())
}

/// Whether a shell with these arguments runs what it reads from standard input. What is not known may be
/// an option.
fn reads_script(arguments: &[PartWord]) -> bool {
    let is_stdin = |value: &str| matches!(value, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
    let mut values = arguments.iter().map(|word| word.value.as_deref());
    while let Some(value) = values.next() {
        match value {
            None => return true,
            Some("-" | "--") => return values.next().flatten().is_none_or(is_stdin),
            Some("--rcfile" | "--init-file") => _ = values.next(),
            Some(option) if option.starts_with("--") => {}
            Some(option) if option.starts_with(['-', '+']) => {
                if option.contains(['c', 's']) {
                    return !option.contains('c');
                }
                if option.ends_with(['o', 'O']) {
                    values.next();
                }
            }
            Some(operand) => return is_stdin(operand),
        }
    }
    true
}
