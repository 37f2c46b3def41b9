//! The hooks of turnpipe in TOML settings.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::installed_hook::{InstalledHook, NewCommand, SettingsError, is_ours, unexpected};
use crate::agent::HookSettings;

fn parse_toml(text: &str) -> Result<DocumentMut, SettingsError> {
    let parsed = text.parse::<DocumentMut>();
    parsed.map_err(|error| SettingsError::Invalid(error.message().to_owned()))
}

pub(super) fn edit_toml(
    text: &str,
    facts: &HookSettings,
    path: &str,
    command: NewCommand<'_>,
) -> Result<String, SettingsError> {
    let mut document = parse_toml(text)?;
    let mut untrusted = Vec::new();
    if command.is_none() && !document.contains_key("hooks") {
        return Ok(text.to_owned());
    }
    let new_table = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let hooks = document.entry("hooks").or_insert_with(new_table);
    let hooks = hooks.as_table_mut().ok_or_else(|| unexpected("hooks"))?;
    for (event, subcommand) in facts.hooks {
        if command.is_none() && !hooks.contains_key(event) {
            continue;
        }
        let groups = hooks
            .entry(event)
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let groups = groups.as_array_of_tables_mut();
        let groups = groups.ok_or_else(|| unexpected(&format!("hooks.{event}")))?;
        let mut new = command.map(|command| command(subcommand));
        for (at, group) in groups.iter_mut().enumerate() {
            let list = group
                .get_mut("hooks")
                .and_then(Item::as_array_of_tables_mut);
            let Some(list) = list else {
                continue;
            };
            for (within, hook) in list.iter_mut().enumerate() {
                let old = hook.get("command").and_then(Item::as_str);
                if !old.is_some_and(is_ours) || old == new.as_deref() {
                    continue;
                }
                untrusted.push(trust_key(path, subcommand, at, within));
                if let Some(new) = &new {
                    hook.insert("command", value(new));
                }
            }
            let mut keep = new.is_some();
            list.retain(|hook| !is_our_table(hook) || std::mem::take(&mut keep));
            if list.iter().any(is_our_table) {
                new = None;
            }
        }
        groups.retain(|group| {
            let list = group.get("hooks").and_then(Item::as_array_of_tables);
            list.is_none_or(|list| !list.is_empty())
        });
        if let Some(new) = new {
            let mut hook = Table::new();
            hook.insert("type", value("command"));
            hook.insert("command", value(new));
            hook.insert("timeout", value(i64::from(facts.timeout)));
            let mut list = ArrayOfTables::new();
            list.push(hook);
            let mut group = Table::new();
            group.insert("hooks", Item::ArrayOfTables(list));
            groups.push(group);
        } else if groups.is_empty() {
            hooks.remove(event);
        }
    }
    if let Some(state) = hooks.get_mut("state").and_then(Item::as_table_like_mut) {
        for key in untrusted {
            state.remove(&key);
        }
        if state.is_empty() {
            hooks.remove("state");
        }
    }
    if hooks.is_empty() {
        document.remove("hooks");
    }
    Ok(document.to_string())
}

/// Returns the name under which the trust in a hook is recorded.
fn trust_key(path: &str, subcommand: &str, group: usize, hook: usize) -> String {
    format!("{path}:{}:{group}:{hook}", subcommand.replace('-', "_"))
}

fn is_our_table(hook: &Table) -> bool {
    let command = hook.get("command").and_then(Item::as_str);
    command.is_some_and(is_ours)
}

pub(super) fn in_toml(
    text: &str,
    facts: &HookSettings,
    path: &str,
) -> Result<Vec<InstalledHook>, SettingsError> {
    let document = parse_toml(text)?;
    let mut found = Vec::new();
    let Some(hooks) = document.get("hooks").and_then(Item::as_table) else {
        return Ok(found);
    };
    let trusted = hooks.get("state").and_then(Item::as_table_like);
    for (event, subcommand) in facts.hooks {
        let groups = hooks.get(event).and_then(Item::as_array_of_tables);
        for (at, group) in groups.into_iter().flatten().enumerate() {
            let list = group.get("hooks").and_then(Item::as_array_of_tables);
            for (within, hook) in list.into_iter().flatten().enumerate() {
                if !is_our_table(hook) {
                    continue;
                }
                let key = trust_key(path, subcommand, at, within);
                let state = trusted.and_then(|state| state.get(&key));
                let hash = state.and_then(|state| state.get("trusted_hash"));
                let command = hook.get("command").and_then(Item::as_str);
                found.push(InstalledHook {
                    event,
                    command: command.unwrap_or_default().to_owned(),
                    is_trusted: facts.needs_trust.then_some(hash.is_some()),
                });
            }
        }
    }
    Ok(found)
}
