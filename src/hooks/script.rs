//! The hook of turnpipe as a program of the agent's own kind, in a file that is turnpipe's alone.

use super::installed_hook::{InstalledHook, NewCommand, SettingsError, is_ours};
use crate::agent::HookSettings;

/// The beginning of the line with the command.
const COMMAND: &str = "const command = ";

/// Returns `template` with this command, or nothing without one. A file that turnpipe did not write stays.
pub(super) fn edit_script(
    text: &str,
    facts: &HookSettings,
    template: &str,
    command: NewCommand<'_>,
) -> Result<String, SettingsError> {
    let is_free = text.trim().is_empty();
    let is_changed = is_free || in_script(text, facts).next().is_some();
    let Some((_, subcommand)) = facts.hooks.first().filter(|_| is_changed) else {
        return match command {
            Some(_) => Err(SettingsError::Foreign),
            None => Ok(text.to_owned()),
        };
    };
    let Some(command) = command else {
        return Ok(String::new());
    };
    let command = serde_json::Value::String(command(subcommand));
    let lines = template
        .lines()
        .map(|line| match line.strip_prefix(COMMAND) {
            Some(_) => format!("{COMMAND}{command};\n"),
            None => format!("{line}\n"),
        });
    Ok(lines.collect())
}

/// Returns the hook in a file that turnpipe wrote.
pub(super) fn in_script(text: &str, facts: &HookSettings) -> impl Iterator<Item = InstalledHook> {
    let mut lines = text.lines();
    let command = lines.find_map(|line| line.strip_prefix(COMMAND)?.strip_suffix(';'));
    let command = command.and_then(|command| serde_json::from_str(command).ok());
    let command = command.filter(|command: &String| is_ours(command));
    let event = facts.hooks.first().map(|(event, _)| *event);
    event
        .zip(command)
        .into_iter()
        .map(|(event, command)| InstalledHook {
            event,
            command,
            is_trusted: None,
        })
}
