//! The hooks of turnpipe in each syntax of settings. Everything else in the file, including comments, is preserved.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde::Deserialize;
use serde_json::{Map, Value};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::agent::{Agent, HookSettings, SettingsSyntax};

/// A hook of turnpipe in the settings of an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct InstalledHook {
    /// The agent's event.
    pub event: &'static str,
    /// The command that the agent runs.
    pub command: String,
    /// Whether the agent's user trusts the hook. `None` if the agent needs no trust.
    pub is_trusted: Option<bool>,
    /// The setting that turns off all hooks of the agent, if there is one.
    pub disabled_by: Option<&'static str>,
    /// The tools whose calls the hook gets; all if `None`.
    pub matcher: Option<String>,
    /// Its timeout, in the unit of the agent.
    pub timeout: Option<f64>,
    /// Further variables.
    pub environment: Map<String, Value>,
    /// Its directory, if it is not the agent's.
    pub directory: Option<String>,
}

/// Settings that cannot be edited.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The file is not valid.
    #[error("{0}")]
    Invalid(String),
    /// A member has an unexpected type.
    #[error("`{0}` has an unexpected type")]
    Unexpected(String),
    /// The file exists, and turnpipe did not write it.
    #[error("was not written by turnpipe")]
    Foreign,
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

fn unexpected_key(name: &str) -> SettingsError {
    SettingsError::Unexpected(name.to_owned())
}

/// Returns the command that runs a subcommand of `turnpipe hook` for an agent, with these options.
pub(super) fn hook_command(
    program: &str,
    subcommand: &str,
    agent: Agent,
    options: &[String],
) -> String {
    let fixed = [program, "hook", subcommand, "--agent", agent.name()].into_iter();
    let words = fixed.chain(options.iter().map(String::as_str));
    // Only NUL cannot be quoted, and no argument of a process contains it.
    shlex::try_join(words).unwrap_or_default()
}

/// Whether a command runs `turnpipe hook`.
fn is_ours(command: &str) -> bool {
    let words = shlex::split(command).unwrap_or_default();
    let program = words.first().map(|word| word.rsplit('/').next());
    program == Some(Some("turnpipe")) && words.get(1).is_some_and(|word| word == "hook")
}

/// The command for a subcommand of `turnpipe hook`. `None` removes the hooks.
type NewCommand<'a> = Option<&'a dyn Fn(&str) -> String>;

/// Returns the settings with a hook for each event, or without the hooks of turnpipe if there is no `command`. The
/// command of an earlier hook is replaced, which revokes the user's trust in the hook. `path` is the path of the file.
///
/// # Errors
/// See [`SettingsError`].
pub(super) fn edit_hooks(
    text: &str,
    facts: &HookSettings,
    path: &str,
    command: NewCommand<'_>,
) -> Result<String, SettingsError> {
    match facts.syntax {
        SettingsSyntax::Json | SettingsSyntax::FlatJson => edit_json(text, facts, command),
        SettingsSyntax::Toml => edit_toml(text, facts, path, command),
        SettingsSyntax::Script(template) => edit_script(text, facts, template, command),
    }
}

/// Returns the hooks of turnpipe in settings. `path` is the path of their file.
///
/// # Errors
/// See [`SettingsError`].
pub(super) fn find_installed_hooks(
    text: &str,
    facts: &HookSettings,
    path: &str,
) -> Result<Vec<InstalledHook>, SettingsError> {
    let (settings, disabled_by) = match facts.syntax {
        SettingsSyntax::Script(_) => return Ok(find_in_script(text, facts).collect()),
        SettingsSyntax::Json | SettingsSyntax::FlatJson => {
            let settings = parse_json(text)?.to_serde_value().unwrap_or_default();
            let is_disabled = settings["disableAllHooks"] == true;
            (settings, is_disabled.then_some("disableAllHooks"))
        }
        SettingsSyntax::Toml => {
            let settings = toml::from_str::<Value>(text)
                .map_err(|error| SettingsError::Invalid(error.message().to_owned()))?;
            let is_disabled = settings["features"]["hooks"] == false;
            (settings, is_disabled.then_some("features.hooks"))
        }
    };
    Ok(find_in_settings(&settings, facts, path, disabled_by))
}

fn parse_json(text: &str) -> Result<CstRootNode, SettingsError> {
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| SettingsError::Invalid(error.to_string()))
}

fn edit_json(
    text: &str,
    facts: &HookSettings,
    command: NewCommand<'_>,
) -> Result<String, SettingsError> {
    let root = parse_json(text)?;
    let members = root
        .object_value_or_create()
        .ok_or_else(|| unexpected_key("the file"))?;
    if command.is_none() && members.get("hooks").is_none() {
        return Ok(text.to_owned());
    }
    let is_flat = facts.syntax == SettingsSyntax::FlatJson;
    if is_flat && command.is_some() && members.get("version").is_none() {
        members.insert(0, "version", CstInputValue::Number("1".to_owned()));
    }
    let hooks = members
        .object_value_or_create("hooks")
        .ok_or_else(|| unexpected_key("hooks"))?;
    for (event, subcommand) in facts.hooks {
        if command.is_none() && hooks.get(event).is_none() {
            continue;
        }
        let groups = hooks
            .array_value_or_create(event)
            .ok_or_else(|| unexpected_key(&format!("hooks.{event}")))?;
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

fn parse_toml(text: &str) -> Result<DocumentMut, SettingsError> {
    let parsed = text.parse::<DocumentMut>();
    parsed.map_err(|error| SettingsError::Invalid(error.message().to_owned()))
}

fn edit_toml(
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
    let hooks = hooks
        .as_table_mut()
        .ok_or_else(|| unexpected_key("hooks"))?;
    for (event, subcommand) in facts.hooks {
        if command.is_none() && !hooks.contains_key(event) {
            continue;
        }
        let groups = hooks
            .entry(event)
            .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
            .as_array_of_tables_mut()
            .ok_or_else(|| unexpected_key(&format!("hooks.{event}")))?;
        let mut new = command.map(|command| command(subcommand));
        for (group_index, group) in groups.iter_mut().enumerate() {
            let list = group
                .get_mut("hooks")
                .and_then(Item::as_array_of_tables_mut);
            let Some(list) = list else {
                continue;
            };
            for (hook_index, hook) in list.iter_mut().enumerate() {
                let old = hook.get("command").and_then(Item::as_str);
                if !old.is_some_and(is_ours) || old == new.as_deref() {
                    continue;
                }
                untrusted.push(trust_key(path, subcommand, group_index, hook_index));
                if let Some(new) = &new {
                    hook.insert("command", value(new));
                }
            }
            let mut keeps_next = new.is_some();
            list.retain(|hook| !is_our_table(hook) || std::mem::take(&mut keeps_next));
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

/// Returns the hooks of turnpipe in settings that were read.
fn find_in_settings(
    settings: &Value,
    facts: &HookSettings,
    path: &str,
    disabled_by: Option<&'static str>,
) -> Vec<InstalledHook> {
    let hooks = &settings["hooks"];
    let mut found = Vec::new();
    for (event, subcommand) in facts.hooks {
        let groups = hooks[*event].as_array().into_iter().flatten();
        for (group_index, group) in groups.enumerate() {
            let list = group["hooks"].as_array().map(Vec::as_slice);
            let list = list.unwrap_or(std::slice::from_ref(group));
            for (hook_index, hook) in list.iter().enumerate() {
                let command = hook["command"].as_str().unwrap_or_default();
                if !is_ours(command) {
                    continue;
                }
                let key = trust_key(path, subcommand, group_index, hook_index);
                let is_trusted = hooks["state"][key].get("trusted_hash").is_some();
                found.push(InstalledHook {
                    event,
                    command: command.to_owned(),
                    is_trusted: facts.needs_trust.then_some(is_trusted),
                    disabled_by,
                    matcher: group["matcher"].as_str().map(str::to_owned),
                    timeout: hook["timeout"].as_f64().or(hook["timeoutSec"].as_f64()),
                    environment: Map::deserialize(&hook["env"]).unwrap_or_default(),
                    directory: hook["cwd"].as_str().map(str::to_owned),
                });
            }
        }
    }
    found
}

/// The beginning of the line with the command.
const COMMAND: &str = "const command = ";

/// Returns `template` with this command, or an empty text without a command. A file that turnpipe did not write is an
/// error with a command, and not changed without one.
fn edit_script(
    text: &str,
    facts: &HookSettings,
    template: &str,
    command: NewCommand<'_>,
) -> Result<String, SettingsError> {
    let is_free = text.trim().is_empty();
    let is_changed = is_free || find_in_script(text, facts).next().is_some();
    let Some((_, subcommand)) = facts.hooks.first().filter(|_| is_changed) else {
        return match command {
            Some(_) => Err(SettingsError::Foreign),
            None => Ok(text.to_owned()),
        };
    };
    let Some(command) = command else {
        return Ok(String::new());
    };
    let command = Value::String(command(subcommand));
    let lines = template
        .lines()
        .map(|line| match line.strip_prefix(COMMAND) {
            Some(_) => format!("{COMMAND}{command};\n"),
            None => format!("{line}\n"),
        });
    Ok(lines.collect())
}

/// Returns the hook in a file that turnpipe wrote.
fn find_in_script(text: &str, facts: &HookSettings) -> impl Iterator<Item = InstalledHook> {
    let mut lines = text.lines();
    let literal = lines.find_map(|line| line.strip_prefix(COMMAND)?.strip_suffix(';'));
    let command = literal
        .and_then(|literal| serde_json::from_str(literal).ok())
        .filter(|command: &String| is_ours(command));
    let event = facts.hooks.first().map(|(event, _)| *event);
    event
        .zip(command)
        .into_iter()
        .map(|(event, command)| InstalledHook {
            event,
            command,
            timeout: Some(facts.timeout.into()),
            ..InstalledHook::default()
        })
}
