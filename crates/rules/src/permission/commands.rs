//! The commands of a command line, each with what the others do to it.

use std::rc::Rc;

use super::command::Command;
use super::directories;
use super::invocation::Invocation;
use super::new_names::{self, NewName};
use super::outline::found_by;
use super::path_context::PathContext;
use super::programs;
use super::standard_input::StandardInput;
use super::started::{guessed, started};
use crate::shell::{CommandPart, PartWord, WordPiece, lenient_parts};

/// Returns the commands of a command line that consists of `parts`. A command line that cannot be
/// parsed is one command that may be anything in its text.
pub(super) fn commands<'a>(
    script: &'a str,
    parts: Option<&[CommandPart]>,
    context: &PathContext<'_>,
) -> Vec<Command<'a>> {
    let Some(parts) = parts else {
        return vec![unparsed(script, context)];
    };
    let mut line = StandardInput::new(parts, context);
    let parts: Vec<Vec<CommandPart>> = parts.iter().map(CommandPart::levels).collect();
    let directories = directories::of(script, &parts, context);
    let entered = directories::entered(&parts, context);
    let leaves_links = parts.iter().any(|levels| directories::leaves_links(levels));
    let mut commands: Vec<Command<'a>> = Vec::new();
    for (index, (levels, directories)) in parts.into_iter().zip(directories).enumerate() {
        line.current = Some(index);
        let written = levels
            .first()
            .and_then(|part| script.get(part.span.clone()));
        let started = started(&levels, &line);
        let reached = directories::reached(&started, &directories, &entered, context);
        let mut command = Command::new(
            written.unwrap_or_default(),
            levels,
            started,
            directories,
            reached,
            context,
        );
        if command.takes_names() {
            let pieces = match commands.last() {
                Some(before) if before.is_piped_into(&command, script) => {
                    found_by(&before.levels[0].words)
                }
                _ => vec![WordPiece::Unknown],
            };
            command.names_taken.push(PartWord {
                pieces,
                ..PartWord::unknown(0..0, "$name")
            });
        }
        commands.push(command);
    }
    if let [first, _, ..] = commands.as_mut_slice() {
        first.line = Some(script.trim());
    }
    let names = commands
        .iter()
        .flat_map(|command| command.new_names(context));
    let creating = commands
        .iter()
        .filter(|command| command.relocating().next().is_some());
    let creating = creating.count();
    let names: Rc<[NewName]> = new_names::linked(names.collect(), context).into();
    for command in &mut commands {
        let mut invocations = command.invocations.iter();
        let is_alone = creating == 1 && command.relocating().next().is_some();
        // `script -c 'ln -s x y; cat y/z'`
        let is_own = |one: &Invocation| {
            let mut programs = command.levels.iter().filter_map(CommandPart::program);
            programs.any(|program| programs::name(program) == one.program())
        };
        let starts = command.relocating().any(|one| !is_own(one));
        if !is_alone
            || starts
            || invocations.any(|one| {
                programs::STARTS.contains_with(one.program(), &one.words) || one.program() == "find"
            })
        {
            command.new_names = names.clone();
            command.reached.is_open |= !names.is_empty() && leaves_links;
        }
    }
    // `if awk …; then …; fi <<< text`
    let feeds = |levels: &[CommandPart]| {
        let alone = levels.iter().filter(|level| level.words.is_empty());
        alone.clone().any(|level| level.input.text().is_some())
    };
    let passes_text =
        context.passes_text() || commands.iter().any(|command| feeds(&command.levels));
    for (index, command) in commands.iter_mut().enumerate() {
        command.index = index;
        line.current = Some(index);
        command.uses_text = passes_text;
        if command.uses_text || line.writes() {
            command.composed = line.composed().clone();
        }
        let mut programs = command.invocations.iter().map(Invocation::program);
        if programs.any(|program| programs::SHELLS.contains(program)) && context.sets("PATH") {
            command.reached.is_open = true;
        }
        // `EDITOR='make check' git commit`
        let mut started = command.invocations.iter().map(|one| one.words.as_slice());
        if line.is_used_by(&command.levels) || started.any(|words| line.is_named_by(words)) {
            command.uses_text = true;
            let program = command.levels.last().and_then(CommandPart::program);
            command.is_configured =
                line.configures(&command.levels) || line.is_default_of(program.unwrap_or_default());
            let mut invocations = command.invocations.iter();
            command.runs_unknown |= !line.is_exact() && invocations.any(Invocation::may_run_a_file);
        }
        command.runs_unknown |= context.is_unclear();
    }
    commands
}

/// Returns the command of a text that cannot be parsed.
fn unparsed<'a>(script: &'a str, context: &PathContext<'_>) -> Command<'a> {
    let mut started = guessed(script, context);
    let directories = if std::mem::take(&mut started.changes_directory) {
        Vec::new()
    } else {
        vec![context.request.directory.to_owned()]
    };
    let entered = [context.request.directory.to_owned()];
    let reached = directories::reached(&started, &directories, &entered, context);
    let mut command = Command::new(script, Vec::new(), started, directories, reached, context);
    command.runs_unknown |= context.is_unclear();
    // Bash runs the lines before the one that it cannot parse.
    let read = lenient_parts(script).parts;
    let line = StandardInput::new(&read, context);
    if context.passes_text() || line.writes() {
        command.composed = line.composed().clone();
        command.uses_text = true;
    }
    command.index = usize::MAX;
    if command.takes_names() {
        command.names_taken.push(PartWord::unknown(0..0, "$name"));
    }
    command.new_names = new_names::linked(command.new_names(context), context).into();
    command
}
