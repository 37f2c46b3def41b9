//! Working directories of the commands of a command line.

use std::path::{Component, Path, PathBuf};

use super::invocation::Invocation;
use super::operands::option_values;
use super::outline::outlines;
use super::path_context::{PathContext, normalised};
use super::programs;
use super::started::StartedCommands;
use super::wildcard::{GAP, GLOB};
use crate::shell::{CommandPart, PartInput, PartWord};

/// Maximum number of possible directories; more count as unknown.
const MAX_DIRECTORIES: usize = 16;

/// Base directories of relative paths.
pub(super) struct BaseDirectories {
    /// Known directories; never empty.
    pub(super) known: Vec<PathBuf>,
    /// Whether other directories are possible.
    pub(super) is_open: bool,
}

/// The target of a change of directory.
pub(super) enum Target {
    /// One of these, relative to the directory before.
    Known(Vec<PathBuf>),
    /// A directory of an earlier command.
    Back,
    Unknown,
}

/// Returns the possible working directories of each command; empty if unknown. A `cd` may fail or
/// not run, so the previous directory stays possible unless all commands are joined by `&&`.
pub(super) fn of(
    script: &str,
    parts: &[Vec<CommandPart>],
    context: &PathContext<'_>,
) -> Vec<Vec<PathBuf>> {
    let mut possible = vec![context.request.directory.to_owned()];
    let mut earlier = possible.clone();
    let targets: Vec<_> = parts.iter().map(|levels| target(levels, context)).collect();
    let changes = targets.iter().any(Option::is_some);
    if changes && may_repeat(script) {
        possible.clear();
    }
    let mut of_parts = Vec::new();
    for (levels, target) in parts.iter().zip(targets) {
        // A `trap` may run in any later directory.
        let runs_later = is_program(levels, "trap") && changes;
        of_parts.push(if runs_later {
            Vec::new()
        } else {
            possible.clone()
        });
        if is_program(levels, "trap") && changes_directory(levels) {
            possible.clear();
        }
        let Some(target) = target else {
            continue;
        };
        let mut after: Vec<PathBuf> = match target {
            Target::Known(to) => (possible.iter())
                .flat_map(|from| to.iter().flat_map(|to| led_to(from, to, context)))
                .collect(),
            Target::Back if !possible.is_empty() => earlier.clone(),
            Target::Back | Target::Unknown => Vec::new(),
        };
        earlier.extend_from_slice(&after);
        if !after.is_empty() && !levels.first().is_some_and(|part| is_certain(script, part)) {
            after.append(&mut possible);
        }
        after.sort_unstable();
        after.dedup();
        if after.len() > MAX_DIRECTORIES {
            after.clear();
        }
        possible = after;
    }
    of_parts
}

/// Returns directories that commands may be in whose directory is unknown, since they may run several times or later:
/// where the command line starts, and where it goes from there.
pub(super) fn entered(parts: &[Vec<CommandPart>], context: &PathContext<'_>) -> Vec<PathBuf> {
    let mut entered = vec![context.request.directory.to_owned()];
    for levels in parts {
        let Some(Target::Known(to)) = target(levels, context) else {
            continue;
        };
        let from = entered.iter().take(MAX_DIRECTORIES);
        let pairs = from.flat_map(|from| to.iter().map(move |to| (from, to)));
        let further: Vec<PathBuf> = pairs
            .flat_map(|(from, to)| led_to(from, to, context))
            .collect();
        entered.extend(further);
        entered.truncate(MAX_DIRECTORIES);
    }
    entered
}

/// Whether commands may run several times, or later than they are written.
fn may_repeat(script: &str) -> bool {
    const REPEATS: &[&str] = &[
        "for", "while", "until", "function", "repeat", "foreach", "select",
    ];
    let is_separator = |letter: char| letter.is_whitespace() || ";&|(){}`".contains(letter);
    let mut pieces = script.split('(').skip(1);
    pieces.any(|piece| piece.trim_start().starts_with(')'))
        || script
            .split(is_separator)
            .any(|word| REPEATS.contains(&word))
}

/// Whether a command runs the program with this name.
fn is_program(levels: &[CommandPart], name: &str) -> bool {
    levels.iter().any(|level| level.program() == Some(name))
}

/// Whether the words of a command may change the directory: `trap "cd x" DEBUG`.
fn changes_directory(levels: &[CommandPart]) -> bool {
    let mut words = levels.iter().flat_map(|level| &level.words);
    words.any(|word| {
        let mut names = programs::ENTERS.names().iter();
        names.any(|name| word.value_or_text().contains(name))
    })
}

/// Returns the directories that a path may lead to: `..` may follow a link or not.
fn led_to(from: &Path, to: &Path, context: &PathContext<'_>) -> Vec<PathBuf> {
    let by_name = normalised(&from.join(to));
    let is_upward = to.components().any(|part| part == Component::ParentDir);
    let real = context.resolve(&from.join(to)).real.filter(|_| is_upward);
    let real = real
        .map(|real| real.to_path_buf())
        .filter(|real| *real != by_name);
    std::iter::once(by_name).chain(real).collect()
}

/// Returns the directory that a command changes to, if any.
pub(super) fn target(levels: &[CommandPart], context: &PathContext<'_>) -> Option<Target> {
    let level = levels.last()?;
    let words = &level.words;
    match level.program()? {
        program if programs::ENTERS.contains(program) => {}
        "popd" => {
            return Some(if words.len() == 1 {
                Target::Back
            } else {
                Target::Unknown
            });
        }
        "." | "source" => {
            let is_given = level.input != PartInput::Inherited;
            return is_given.then_some(Target::Unknown);
        }
        _ => return None,
    }
    Some(known_target(words, context).map_or(Target::Unknown, Target::Known))
}

/// Returns the possible operands of `cd` or `pushd`, unless it may lead elsewhere.
fn known_target(words: &[PartWord], context: &PathContext<'_>) -> Option<Vec<PathBuf>> {
    let words: Vec<PartWord> = words
        .iter()
        .skip(1)
        .flat_map(PartWord::alternatives)
        .collect();
    let is_option = |word: &&PartWord| {
        let value = word.value.as_deref();
        value.is_some_and(|value| matches!(value, "--" | "-P" | "-L" | "-e" | "-PP" | "-Pe"))
    };
    let operands: Vec<&PartWord> = words.iter().skip_while(is_option).collect();
    if operands.is_empty() {
        return Some(vec![context.home()?.to_owned()]);
    }
    let values = operands
        .into_iter()
        .flat_map(|word| outlines(word, context));
    let values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
    let is_known = |to: &String| {
        let is_fixed = !["/proc/", "/dev/"].iter().any(|start| to.contains(start));
        is_fixed && !to.starts_with(['-', '+']) && !to.contains([GAP, GLOB])
    };
    let is_exact = !context.finds_directories() && values.iter().all(is_known);
    is_exact.then(|| values.into_iter().map(PathBuf::from).collect())
}

/// Whether the rest of the command line runs only if its first command, a `cd`, succeeds.
fn is_certain(script: &str, first: &CommandPart) -> bool {
    let before = script.get(..first.span.start).unwrap_or_default();
    let after = script.get(first.span.end..).unwrap_or_default();
    let joined_otherwise = after.replace("&&", "").replace(">&", "").replace("&>", "");
    before.trim().is_empty()
        && after.trim_start().starts_with("&&")
        && !joined_otherwise.contains([';', '\n', '&'])
        && !joined_otherwise.contains("||")
}

/// Returns the base directories of relative paths for a command that runs in one of `directories`, or if there are
/// none, perhaps in one of `entered`, including directories given with options such as `-C`.
pub(super) fn reached(
    started: &StartedCommands,
    directories: &[PathBuf],
    entered: &[PathBuf],
    context: &PathContext<'_>,
) -> BaseDirectories {
    let mut is_open = directories.is_empty() || started.changes_directory;
    is_open |= started.invocations.iter().any(Invocation::starts_elsewhere);
    let mut variables = programs::DIRECTORY_VARIABLES.names().iter();
    is_open |= variables.any(|name| context.sets(name));
    let mut known = directories.to_vec();
    // Git looks for repositories at the top of the work tree.
    if started.invocations.iter().any(Invocation::transfers) {
        let above = directories
            .iter()
            .flat_map(|directory| directory.ancestors().skip(1));
        known.extend(above.take(MAX_DIRECTORIES).map(Path::to_owned));
    }
    if known.is_empty() {
        known.extend_from_slice(entered);
    }
    let words = started.invocations.iter().flat_map(|one| {
        option_values(&one.words, |option| {
            let options = &programs::DIRECTORY_OPTIONS;
            let is_own = |option| options.is_mark(one.program(), &PartWord::known(option));
            options.has_option(option) || !option.contains('=') && is_own(option)
        })
    });
    let entered = started.entered.iter().cloned();
    for to in words
        .chain(entered)
        .flat_map(|word| outlines(&word, context))
    {
        if to.contains([GAP, GLOB]) {
            is_open = true;
        } else if known.len() <= MAX_DIRECTORIES {
            let further: Vec<PathBuf> = known
                .iter()
                .flat_map(|from| led_to(from, Path::new(&to), context))
                .collect();
            known.extend(further);
        }
    }
    known.sort_unstable();
    known.dedup();
    BaseDirectories { known, is_open }
}

/// Whether a change of directory may leave a link to a directory.
pub(super) fn leaves_links(levels: &[CommandPart]) -> bool {
    let words = levels.last().map_or(&[][..], |level| &level.words);
    let mut values = words.iter().map(|word| word.value.as_deref());
    let program = values.next().flatten();
    program.is_some_and(|program| programs::ENTERS.contains(program))
        && values.any(|word| word.is_none_or(|word| word.starts_with('-') || word.contains("..")))
}
