//! Texts that commands evaluate: scripts in arguments, variables and other languages.

use super::invocation::joined;
use super::outline::{names_in, outlines};
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB, begins_with_gap};
use crate::shell::CommandPart;

/// Returns the variables that a command sets, with their values if known.
pub(super) fn variables(
    level: &CommandPart,
    program: &str,
    context: &PathContext<'_>,
) -> Vec<(String, Option<String>)> {
    let is_known = |value: &String| !value.contains([GAP, GLOB]);
    let assigned = level.assignments.iter();
    let assigned = assigned.map(|set| (set.name.clone(), set.word.value.clone()));
    let words = level
        .words
        .iter()
        .skip(1)
        .filter(|_| programs::SETS.contains(program));
    let named = words.flat_map(|word| outlines(word, context)).map(|text| {
        let (name, value) = text.split_once('=').unwrap_or((&text, "\0"));
        (name.to_owned(), Some(value.to_owned()).filter(is_known))
    });
    assigned.chain(named).collect()
}

/// Returns the values of variables that programs run as command lines.
pub(super) fn run_variables(set: &[(String, Option<String>)]) -> Vec<String> {
    let run = set
        .iter()
        .filter(|(name, _)| programs::RUN_VARIABLES.contains(name));
    let values = run.filter_map(|(_, value)| value.as_deref());
    values
        .map(|value| value.trim_start_matches(['!', '|', '-']).to_owned())
        .collect()
}

/// Returns the command lines in arguments with their possible values: texts of several words, and
/// text after an option letter or `=` with the arguments that follow (`env -Srm x`).
pub(super) fn scripts_in(arguments: &[Vec<String>]) -> impl Iterator<Item = String> {
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

/// Returns evaluated texts of a command that contain substitutions. Assignment to an integer
/// variable evaluates the value.
pub(super) fn evaluated(
    level: &CommandPart,
    program: &str,
    context: &PathContext<'_>,
) -> Vec<String> {
    let assigned = level.assignments.iter();
    let mut texts: Vec<String> = assigned
        .flat_map(|set| outlines(&set.word, context))
        .collect();
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
pub(super) const MAX_COMMANDS: usize = 32;

/// Returns possible command lines in a text of another language: strings as in `awk`, recipes as in
/// `make`, and text after `e`, `!` and similar commands.
pub(super) fn commands_in(script: &str) -> Vec<String> {
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
    // `1erm x` of `sed`.
    let letters = script.match_indices('e');
    let is_command = |at: &usize| !script[..*at].ends_with(|letter: char| letter.is_lowercase());
    let runs = letters.map(|(at, _)| at).filter(is_command);
    let runs = runs.filter_map(|at| script[at + 1..].lines().next());
    commands.extend(runs.take(MAX_COMMANDS + 1).map(str::to_owned));
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
pub(super) fn names_of_files(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| " \t\n\"'|<>();".contains(letter))
        .filter(|name| !name.is_empty())
}

/// Returns the files that a `sed` script may read or write.
pub(super) fn files_of_sed(script: &str) -> impl Iterator<Item = &str> {
    let commands = script.match_indices(['r', 'R', 'w', 'W']);
    commands.filter_map(|(at, _)| {
        let rest = script.get(at + 1..)?;
        Some(rest.split('\n').next().unwrap_or_default().trim())
    })
}
