//! Adds the hooks of turnpipe to the settings of an agent, and removes them. Everything else in the file,
//! including comments, is preserved.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::agent::{HookSettings, SettingsSyntax};

/// A hook of turnpipe in the settings of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The agent's event.
    pub event: &'static str,
    /// The command that the agent runs.
    pub command: String,
    /// Whether the agent's user trusts the hook. `None` if the agent needs no trust.
    pub is_trusted: Option<bool>,
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
}

fn unexpected(name: &str) -> SettingsError {
    SettingsError::Unexpected(name.to_owned())
}

/// Whether a command runs `turnpipe hook`.
fn is_ours(command: &str) -> bool {
    let words = shlex::split(command).unwrap_or_default();
    let program = words.first().map(|word| word.rsplit('/').next());
    program == Some(Some("turnpipe")) && words.get(1).is_some_and(|word| word == "hook")
}

/// Returns the settings with a hook for each event, whose command is `command(subcommand)`. The command of an
/// earlier hook of turnpipe is replaced, which revokes the user's trust in the hook. `path` is the path of
/// the file.
///
/// # Errors
/// See [`SettingsError`].
pub fn install_hooks(
    text: &str,
    facts: &HookSettings,
    path: &str,
    command: &dyn Fn(&str) -> String,
) -> Result<String, SettingsError> {
    match facts.syntax {
        SettingsSyntax::Json => edit_json(text, facts, Some(command)),
        SettingsSyntax::Toml => edit_toml(text, facts, path, Some(command)),
    }
}

/// Returns the settings without the hooks of turnpipe. `path` is the path of the file.
///
/// # Errors
/// See [`SettingsError`].
pub fn uninstall_hooks(
    text: &str,
    facts: &HookSettings,
    path: &str,
) -> Result<String, SettingsError> {
    match facts.syntax {
        SettingsSyntax::Json => edit_json(text, facts, None),
        SettingsSyntax::Toml => edit_toml(text, facts, path, None),
    }
}

/// Returns the hooks of turnpipe in settings. `path` is the path of their file.
///
/// # Errors
/// See [`SettingsError`].
pub fn installed_hooks(
    text: &str,
    facts: &HookSettings,
    path: &str,
) -> Result<Vec<InstalledHook>, SettingsError> {
    match facts.syntax {
        SettingsSyntax::Json => in_json(text, facts),
        SettingsSyntax::Toml => in_toml(text, facts, path),
    }
}

type NewCommand<'a> = Option<&'a dyn Fn(&str) -> String>;

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
    let members = root.object_value_or_create();
    let members = members.ok_or_else(|| unexpected("the file"))?;
    if command.is_none() && members.get("hooks").is_none() {
        return Ok(text.to_owned());
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
            let list = group.array_value("hooks");
            if list.is_none_or(|list| list.elements().is_empty()) {
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

/// Returns the hooks of turnpipe in the list of an event, each with its group and its command.
fn our_json_hooks(groups: &CstArray) -> Vec<(CstObject, CstNode, String)> {
    let groups = groups.elements().into_iter();
    let groups = groups.filter_map(|group| group.as_object());
    let hooks = groups.flat_map(|group| {
        let list = group.array_value("hooks");
        let hooks = list.map(|list| list.elements()).unwrap_or_default();
        hooks.into_iter().map(move |hook| (group.clone(), hook))
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
    CstInputValue::Object(vec![
        ("matcher".to_owned(), text("*")),
        (
            "hooks".to_owned(),
            CstInputValue::Array(vec![CstInputValue::Object(hook)]),
        ),
    ])
}

fn in_json(text: &str, facts: &HookSettings) -> Result<Vec<InstalledHook>, SettingsError> {
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

fn in_toml(
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::Agent;

    fn facts(agent: Agent) -> &'static HookSettings {
        agent.format().hook_settings.as_ref().unwrap()
    }

    fn command(subcommand: &str) -> String {
        format!("turnpipe hook {subcommand} --deny 'Read(.env)'")
    }

    const JSON: &str = "{
  // the theme of the terminal
  \"theme\": \"dark\", /* not light */
  \"hooks\": {
    \"PreToolUse\": [
      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"./mine.sh\" }] }
    ]
  }
 }
";

    const TOML: &str = "# my settings
model = \"x\" # fast

[[hooks.PreToolUse]]
matcher = \"Bash\"

[[hooks.PreToolUse.hooks]]
type = \"command\"
command = \"./mine.sh\"
";

    #[test]
    fn removing_the_hooks_restores_the_settings() {
        let rows = [
            (Agent::Claude, JSON),
            (Agent::Qwen, JSON),
            (Agent::Gemini, "{\n  // none\n  \"a\": 1\n}\n"),
            (Agent::Codex, TOML),
            (Agent::Codex, "model = \"x\"\n"),
        ];
        for (agent, text) in rows {
            let facts = facts(agent);
            let installed = install_hooks(text, facts, "/c", &command).unwrap();
            let hooks = installed_hooks(&installed, facts, "/c").unwrap();
            assert_eq!(hooks.len(), facts.hooks.len(), "{installed}");
            for line in text.lines().filter(|line| line.contains(['#', '/'])) {
                let kept = line.trim().trim_end_matches(',');
                assert!(installed.contains(kept), "{line} in {installed}");
            }
            let again = install_hooks(&installed, facts, "/c", &command).unwrap();
            assert_eq!(again, installed, "installing twice");
            let removed = uninstall_hooks(&installed, facts, "/c").unwrap();
            let (removed, text): (String, String) = match facts.syntax {
                SettingsSyntax::Json => (removed, text.to_owned()),
                SettingsSyntax::Toml => (removed.trim().to_owned(), text.trim().to_owned()),
            };
            let blank = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(blank(&removed), blank(&text), "{removed}");
            assert_eq!(installed_hooks(&removed, facts, "/c").unwrap(), []);
        }
    }

    #[test]
    fn an_empty_file_gets_the_hooks_alone() {
        let text = install_hooks("", facts(Agent::Claude), "/c", &command).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        let group = &parsed["hooks"]["PreToolUse"][0];
        assert_eq!(group["matcher"], "*");
        assert_eq!(group["hooks"][0]["command"], command("pre-tool-use"));
        let text = install_hooks("", facts(Agent::Codex), "/c", &command).unwrap();
        assert!(text.starts_with("[[hooks.PreToolUse]]\n"), "{text}");
    }

    #[test]
    fn settings_of_another_form_are_left_alone() {
        let rows = [
            (Agent::Claude, "[]", "`the file` has an unexpected type"),
            (
                Agent::Claude,
                "{\"hooks\": 1}",
                "`hooks` has an unexpected type",
            ),
            (
                Agent::Claude,
                "{\"hooks\": {\"PreToolUse\": {}}}",
                "`hooks.PreToolUse` has an unexpected type",
            ),
            (Agent::Codex, "hooks = 1", "`hooks` has an unexpected type"),
        ];
        for (agent, text, expected) in rows {
            let error = install_hooks(text, facts(agent), "/c", &command).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for agent in [Agent::Claude, Agent::Codex] {
            assert!(install_hooks("{\"a\": ", facts(agent), "/c", &command).is_err());
        }
    }

    #[test]
    fn a_hook_is_trusted_if_its_hash_is_recorded() {
        let facts = facts(Agent::Codex);
        let text = install_hooks(TOML, facts, "/h/config.toml", &command).unwrap();
        let trusted = |text: &str| -> Vec<Option<bool>> {
            let hooks = installed_hooks(text, facts, "/h/config.toml").unwrap();
            hooks.iter().map(|hook| hook.is_trusted).collect()
        };
        assert_eq!(trusted(&text), [Some(false), Some(false)]);
        let text = format!(
            "{text}\n[hooks.state.\"/h/config.toml:pre_tool_use:1:0\"]\ntrusted_hash = \"sha256:1\"\n"
        );
        assert_eq!(trusted(&text), [Some(true), Some(false)]);
        let install = |text: &str, command: &dyn Fn(&str) -> String| {
            install_hooks(text, facts, "/h/config.toml", command).unwrap()
        };
        assert_eq!(install(&text, &command), text, "nothing changed");
        let other = install(&text, &|subcommand| format!("turnpipe hook {subcommand}"));
        assert_eq!(trusted(&other), [Some(false), Some(false)], "{other}");
    }

    proptest! {
        #[test]
        fn any_text_is_edited_or_refused(text in "[\\[\\]{}:,=\"a-c# \n]{0,40}") {
            for agent in [Agent::Claude, Agent::Codex] {
                let facts = facts(agent);
                if let Ok(installed) = install_hooks(&text, facts, "/c", &command) {
                    let hooks = installed_hooks(&installed, facts, "/c").unwrap();
                    prop_assert_eq!(hooks.len(), facts.hooks.len());
                }
            }
        }
    }
}
