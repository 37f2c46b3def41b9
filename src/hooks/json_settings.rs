//! The hooks of turnpipe in JSON settings.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};

use super::installed_hook::{InstalledHook, NewCommand, SettingsError, is_ours, unexpected};
use crate::agent::{HookSettings, SettingsSyntax};

fn parse_json(text: &str) -> Result<CstRootNode, SettingsError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| SettingsError::Invalid(error.to_string()))
}

pub(super) fn edit_json(
    text: &str,
    facts: &HookSettings,
    command: NewCommand<'_>,
) -> Result<String, SettingsError> {
    let root = parse_json(text)?;
    let members = root.object_value_or_create();
    let members = members.ok_or_else(|| unexpected("the file"))?;
    if command.is_none() && members.get("hooks").is_none() {
        return Ok(text.to_owned());
    }
    let is_flat = facts.syntax == SettingsSyntax::FlatJson;
    if is_flat && command.is_some() && members.get("version").is_none() {
        members.insert(0, "version", CstInputValue::Number("1".to_owned()));
    }
    let hooks = members.object_value_or_create("hooks");
    let hooks = hooks.ok_or_else(|| unexpected("hooks"))?;
    for (event, subcommand) in facts.hooks {
        if command.is_none() && hooks.get(event).is_none() {
            continue;
        }
        let groups = hooks.array_value_or_create(event);
        let groups = groups.ok_or_else(|| unexpected(&format!("hooks.{event}")))?;
        let ours = our_json_hooks(&groups);
        let replaced = command.and_then(|command| {
            let property = ours.first()?.1.as_object()?.get("command")?;
            property.set_value(CstInputValue::String(command(subcommand)));
            Some(())
        });
        for (group, hook, _) in ours.into_iter().skip(usize::from(replaced.is_some())) {
            hook.remove();
            let list = group.and_then(|group| Some((group.array_value("hooks")?, group)));
            if let Some((_, group)) = list.filter(|(list, _)| list.elements().is_empty()) {
                group.remove();
            }
        }
        if let Some(command) = command.filter(|_| replaced.is_none()) {
            groups.ensure_multiline();
            groups.append(json_group(facts, &command(subcommand)));
        } else if groups.elements().is_empty()
            && let Some(list) = hooks.get(event)
        {
            list.remove();
        }
    }
    if hooks.properties().is_empty()
        && let Some(hooks) = members.get("hooks")
    {
        hooks.remove();
    }
    Ok(root.to_string())
}

/// Returns the hooks of turnpipe in the list of an event, each with its group, if any, and its command.
fn our_json_hooks(groups: &CstArray) -> Vec<(Option<CstObject>, CstNode, String)> {
    let hooks = groups.elements().into_iter().flat_map(|element| {
        let group = element.as_object();
        match group.as_ref().and_then(|group| group.array_value("hooks")) {
            Some(list) => list
                .elements()
                .into_iter()
                .map(|hook| (group.clone(), hook))
                .collect(),
            None => vec![(None, element)],
        }
    });
    let ours = hooks.filter_map(|(group, hook)| {
        let command = hook.as_object()?.get("command")?.value()?;
        let command = command.as_string_lit()?.decoded_value().ok()?;
        is_ours(&command).then_some((group, hook, command))
    });
    ours.collect()
}

fn json_group(facts: &HookSettings, command: &str) -> CstInputValue {
    let text = |text: &str| CstInputValue::String(text.to_owned());
    let mut hook = vec![("type".to_owned(), text("command"))];
    if facts.has_names {
        hook.push(("name".to_owned(), text("turnpipe")));
    }
    hook.push(("command".to_owned(), text(command)));
    let timeout = CstInputValue::Number(facts.timeout.to_string());
    hook.push(("timeout".to_owned(), timeout));
    if facts.syntax == SettingsSyntax::FlatJson {
        return CstInputValue::Object(hook);
    }
    CstInputValue::Object(vec![
        ("matcher".to_owned(), text("*")),
        (
            "hooks".to_owned(),
            CstInputValue::Array(vec![CstInputValue::Object(hook)]),
        ),
    ])
}

pub(super) fn in_json(
    text: &str,
    facts: &HookSettings,
) -> Result<Vec<InstalledHook>, SettingsError> {
    let root = parse_json(text)?;
    let hooks = root
        .object_value()
        .and_then(|root| root.object_value("hooks"));
    let events = facts.hooks.iter().filter_map(|(event, _)| {
        let groups = hooks.as_ref()?.array_value(event)?;
        Some((*event, our_json_hooks(&groups)))
    });
    let found = events.flat_map(|(event, hooks)| {
        hooks.into_iter().map(move |(_, _, command)| InstalledHook {
            event,
            command,
            is_trusted: None,
        })
    });
    Ok(found.collect())
}
