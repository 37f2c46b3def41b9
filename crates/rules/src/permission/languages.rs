//! Texts that commands evaluate: scripts in arguments, variables and other languages.

use super::invocation::joined;
use super::outline::{names_in, outlines};
use super::path_context::PathContext;
use super::programs;
use super::wildcard::{GAP, GLOB, begins_with_gap};
use crate::shell::{CommandPart, PartWord, is_identifier};

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
        .flat_map(|value| {
            // `ZIPOPT=-TTrm`
            let attached = value
                .split_whitespace()
                .flat_map(|word| names_in(word).skip(1));
            std::iter::once(value.trim_start_matches(['!', '|', '-'])).chain(attached)
        })
        .map(str::to_owned)
        .collect()
}

/// Returns the command lines in arguments with their possible values: texts of several words, and
/// text after an option letter or `=` with the arguments that follow (`env -Srm x`).
pub(super) fn scripts_in(arguments: &[Vec<String>]) -> Vec<String> {
    // The words that follow are passed unchanged.
    let words = arguments.iter().map(|values| values[0].as_str());
    let words = joined(words).replace('*', "\\*").replace('?', "\\?");
    let mut following = words.as_str();
    let scripts = arguments.iter().flat_map(|values| {
        let own = values[0].len() + values[0].matches(['*', '?']).count();
        following = following.get(own + 1..).unwrap_or_default();
        let values = values.iter().filter(|value| !is_query(value));
        values.flat_map(move |value| {
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
    });
    scripts.collect()
}

/// Whether a text is a query of a database: `select count(*) from t`. As a command line, it could only start a program
/// of that name.
fn is_query(text: &str) -> bool {
    let text = text.replace("(*)", "");
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_plain = |letter: char| letter.is_alphanumeric() || " *,._=".contains(letter);
    first.eq_ignore_ascii_case("select") && text.trim_end_matches(';').chars().all(is_plain)
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
        let words = words.map(PartWord::value_or_text);
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
    commands.extend(strings_in(script));
    // `awk -v c="cd x && rm y"`
    let assigned = script
        .split_once('=')
        .filter(|(name, _)| is_identifier(name));
    commands.extend(assigned.map(|(_, value)| value.to_owned()));
    commands.retain(|command| command.contains(char::is_whitespace));
    commands
}

/// Returns the texts in quotes in code, with escapes of line ends and tabs replaced.
pub(super) fn strings_in(code: &str) -> impl Iterator<Item = String> {
    let mut letters = code.chars();
    std::iter::from_fn(move || {
        let quote = letters.find(|letter| "\"'`".contains(*letter))?;
        let mut text = String::new();
        while let Some(letter) = letters.next().filter(|letter| *letter != quote) {
            if letter == '\\' {
                text.extend(letters.next().map(|letter| match letter {
                    'n' => '\n',
                    't' => '\t',
                    letter => letter,
                }));
            } else {
                text.push(letter);
            }
        }
        Some(text)
    })
}

/// Returns the command lines that the command `e` of `sed` may run: `1erm x`.
pub(super) fn run_by_sed(script: &str) -> impl Iterator<Item = &str> {
    let letters = script.match_indices('e');
    letters.filter_map(|(at, _)| {
        // The address `/x/I` may precede it.
        let before = script[..at].trim_end_matches(['I', 'M']);
        let rest = script[at + 1..].split(['\n', ';']).next()?.trim_start();
        let is_command = !before.ends_with(char::is_alphabetic)
            && rest.starts_with(|letter: char| letter.is_alphabetic() || "./".contains(letter));
        is_command.then_some(rest)
    })
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
