//! The check of a command line that was read: whether it, and each of its commands, only reads.

use super::call::Effects;
use super::commands;
use super::parts::{CommandPart, MAX_LENGTH};
use super::reader::Reading;
use super::verdict::{Checked, Refusal, Requirement};
use super::word::PartWord;

/// Maximum number of redirection operators. The shell itself opens redirections of groups, and when
/// out of descriptors it abandons a pipeline that is partly started.
const MAX_REDIRECTIONS: usize = 64;

/// Checks a command line, and records in its commands whether they only read.
///
/// # Errors
/// The first construct that is not known to be read-only.
pub(super) fn check(script: &str, reading: &mut Reading) -> Result<Effects, Refusal> {
    if script.len() > MAX_LENGTH {
        let why = "the command exceeds 16 KiB, the limit of the analysis";
        return Err(Refusal::unknown(0..0, why));
    }
    let mut effects = Effects {
        may_leave_processes: reading.has_substitutions,
        ..Effects::default()
    };
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
    let names: Vec<String> = set_names(reading);
    let is_own = |name: &String| names.binary_search(name).is_ok();
    let is_whole = reading.stop.is_none();
    let mut is_clean = is_whole;
    for (command, found) in reading.commands.iter_mut().zip(&mut checked) {
        let uses = found.effects.git_uses(&moves);
        let requires = uses.map(|uses| uses.into_iter().map(Requirement::CleanGitConfig));
        command.requires = requires.map(Iterator::collect).unwrap_or_default();
        // Earlier commands could change the configuration.
        let can_be_required = is_clean && !command.context.is_repeated;
        command.only_reads = found.only_reads
            && !reading.has_functions
            && (found.effects.git.is_empty() || (!command.requires.is_empty() && can_be_required));
        is_clean &= command.only_reads && command.writes.is_empty();
        if !command.only_reads {
            command.requires.clear();
        }
        let revealed = found.effects.reveals.iter().cloned();
        if found.only_reads {
            command.reveals.splice(0..0, revealed);
        }
        command.reveals.retain(|name| !is_own(name));
    }
    let commands = reading.commands.iter();
    let secrets = commands.flat_map(|command| &command.reveals);
    effects
        .reveals
        .extend(secrets.chain(&reading.secrets).cloned());
    for found in checked {
        effects.add(found.effects);
    }
    effects.reveals.retain(|name| !is_own(name));
    effects.moves = moves;
    refusals.sort_by_key(|refusal| refusal.span.start);
    if let Some(refusal) = screen(script).err().or(refusals.into_iter().next()) {
        return Err(refusal);
    }
    match &reading.stop {
        Some(stop) => Err(Refusal::unknown(stop.span.clone(), stop.why.clone())),
        None => Ok(effects),
    }
}

/// Refuses text that can be read but is not read-only.
fn screen(script: &str) -> Checked {
    let redirections = script.bytes().filter(|byte| matches!(byte, b'<' | b'>'));
    let why = if redirections.count() > MAX_REDIRECTIONS {
        "too many redirections"
    } else if script.trim_matches([' ', '\t', '\n']).is_empty() {
        "the command is empty"
    } else {
        return Ok(());
    };
    Err(Refusal::unknown(0..0, why))
}

/// Returns the variables that the line sets, as `$NAME`, sorted.
fn set_names(reading: &Reading) -> Vec<String> {
    let read = reading.commands.iter();
    let read = read.filter(|command| command.program() == Some("read"));
    let read = read.flat_map(|command| &command.words);
    let read = read.map(PartWord::known_value);
    let names = reading.names.iter().map(String::as_str).chain(read);
    let mut names: Vec<String> = names.map(|name| format!("${name}")).collect();
    names.sort_unstable();
    names
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
        commands::check_words(&command.words, command.context, &mut effects)
    };
    let only_reads = words.is_ok()
        && (!command.words.is_empty() || assigned.is_ok())
        && effects.language.is_none()
        && effects.network.is_none()
        && !command.has_processes;
    Found {
        line: opened.and(assigned).and(words),
        effects,
        only_reads,
    }
}
