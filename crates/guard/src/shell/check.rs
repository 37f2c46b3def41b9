//! The check of a command line that was read: whether it, and each of its commands, only reads.

use super::call::{CheckedCommand, Effects};
use super::commands;
use super::parts::{CommandPart, MAX_LENGTH};
use super::reader::Reading;
use super::verdict::{Checked, Refusal};

/// Maximum number of commands and redirections. A shell that fails to start a process, or to open a file, may abandon a
/// pipeline that is partly started.
const MAX_COMMANDS: usize = 64;

/// Checks a command line, and records in its commands whether they only read.
///
/// # Errors
/// The first construct that is not known to be read-only.
pub(super) fn check(script: &str, reading: &mut Reading) -> Result<Effects, Refusal> {
    if script.len() > MAX_LENGTH {
        let why = "the command exceeds 16 KiB, the limit of the analysis";
        return Err(Refusal::unknown(0..0, why));
    }
    let mut effects = Effects::default();
    let mut refusals = std::mem::take(&mut reading.refusals);
    let mut checked = Vec::new();
    for command in &reading.commands {
        let found = check_command(script, command);
        if let Err(refusal) = &found.line {
            refusals.push(refusal.clone());
        }
        checked.push(found);
    }
    let mut moves = Vec::new();
    for found in &mut checked {
        moves.append(&mut found.effects.moves);
    }
    let is_whole = reading.stop.is_none();
    let mut is_clean = is_whole;
    for (command, found) in reading.commands.iter_mut().zip(&mut checked) {
        // In an unknown directory, git does not only read.
        command.requires = found.effects.git_uses(&moves).unwrap_or_default();
        // Earlier commands could change the configuration.
        let can_be_required = is_clean && !command.context.is_repeated;
        command.only_reads = found.only_reads
            && (found.effects.git.is_empty() || (!command.requires.is_empty() && can_be_required));
        is_clean &= command.only_reads && command.writes.is_empty();
        if !command.only_reads {
            command.requires.clear();
        }
    }
    let printing = checked
        .iter()
        .find_map(|found| found.effects.reveals.clone());
    let mut secrets = reading.secrets.iter();
    let secret = secrets.find(|name| !sets(reading, name));
    reading.reveals = printing.or(secret.map(|name| format!("${name}")));
    for found in checked {
        effects.add(found.effects);
    }
    effects.moves = moves;
    refusals.sort_by_key(|refusal| refusal.span.start);
    let commands = reading.commands.iter();
    let size = commands.map(|command| 1 + command.redirections.len());
    if size.sum::<usize>() > MAX_COMMANDS {
        return Err(Refusal::unknown(0..0, "too many commands"));
    }
    if let Some(refusal) = refusals.into_iter().next() {
        return Err(refusal);
    }
    if script.trim_ascii().is_empty() {
        return Err(Refusal::unknown(0..0, "the command is empty"));
    }
    match &reading.stop {
        Some(stop) => Err(Refusal::unknown(stop.span.clone(), stop.why.clone())),
        None => Ok(effects),
    }
}

/// Whether the line sets a variable.
fn sets(reading: &Reading, name: &str) -> bool {
    let mut commands = reading.commands.iter();
    let reads = |command: &CommandPart| {
        let mut words = command.words.iter();
        command.program() == Some("read") && words.any(|word| word.literal() == Some(name))
    };
    reading.names.contains(name) || commands.any(reads)
}

/// The check of a command.
struct Found {
    /// The check as a part of the line.
    line: Checked,
    effects: Effects,
    /// Whether it only reads on its own.
    only_reads: bool,
}

fn check_command(script: &str, command: &CommandPart) -> Found {
    let mut effects = Effects::default();
    let redirections = command.redirections.iter();
    let opened = redirections.map(super::redirection::Redirection::check);
    let opened = opened.collect::<Checked>();
    let assigned = commands::check_assignments(script, command);
    let words = if command.is_condition {
        effects.read_language("[[");
        Ok(())
    } else {
        let mut call = CheckedCommand {
            context: command.context,
            effects: &mut effects,
            level: 0,
        };
        call.check(&command.words)
    };
    let only_reads = words.is_ok()
        && (!command.words.is_empty() || assigned.is_ok())
        && effects.language.is_none()
        && !command.has_processes;
    Found {
        line: opened.and(assigned).and(words),
        effects,
        only_reads,
    }
}
