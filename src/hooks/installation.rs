//! Adds the hooks of turnpipe to the settings of an agent, and removes them. Everything else in the file,
//! including comments, is preserved.

use super::installed_hook::{InstalledHook, NewCommand, SettingsError, is_ours};
use super::json_settings::{edit_json, in_json};
use super::toml_settings::{edit_toml, in_toml};
use crate::agent::{HookSettings, SettingsSyntax};

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
    edit(text, facts, path, Some(command))
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
    edit(text, facts, path, None)
}

fn edit(
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
pub fn installed_hooks(
    text: &str,
    facts: &HookSettings,
    path: &str,
) -> Result<Vec<InstalledHook>, SettingsError> {
    match facts.syntax {
        SettingsSyntax::Json | SettingsSyntax::FlatJson => in_json(text, facts),
        SettingsSyntax::Toml => in_toml(text, facts, path),
        SettingsSyntax::Script(_) => Ok(in_script(text, facts).collect()),
    }
}

/// The beginning of the line with the command.
const COMMAND: &str = "const command = ";

/// Returns `template` with this command, or nothing without one. A file that turnpipe did not write stays.
fn edit_script(
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
fn in_script(text: &str, facts: &HookSettings) -> impl Iterator<Item = InstalledHook> {
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
            (Agent::Copilot, JSON),
            (
                Agent::Cursor,
                "{\n  \"version\": 1, // one\n  \"hooks\": {\n    \"preToolUse\": [\n      { \"command\": \"./mine.sh\" }\n    ]\n  }\n}\n",
            ),
            (Agent::Opencode, ""),
            (Agent::Pi, ""),
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
                SettingsSyntax::Toml => (removed.trim().to_owned(), text.trim().to_owned()),
                _ => (removed, text.to_owned()),
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
        let text = install_hooks("", facts(Agent::Cursor), "/c", &command).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(parsed["version"], 1);
        let hook = &parsed["hooks"]["preToolUse"][0];
        assert_eq!(hook["command"], command("pre-tool-use"));
        // Qwen Code and Gemini CLI wait for milliseconds.
        for agent in [Agent::Qwen, Agent::Gemini] {
            let text = install_hooks("", facts(agent), "/c", &command).unwrap();
            assert!(text.contains("\"timeout\": 10000"), "{text}");
        }
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
            (
                Agent::Opencode,
                "const command = \"make\";\n",
                "was not written by turnpipe",
            ),
        ];
        for (agent, text, expected) in rows {
            let error = install_hooks(text, facts(agent), "/c", &command).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        let mine = "export const Mine = 1;\n";
        assert_eq!(uninstall_hooks(mine, facts(Agent::Pi), "/c").unwrap(), mine);
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
            for agent in [Agent::Claude, Agent::Codex, Agent::Cursor, Agent::Pi] {
                let facts = facts(agent);
                if let Ok(installed) = install_hooks(&text, facts, "/c", &command) {
                    let hooks = installed_hooks(&installed, facts, "/c").unwrap();
                    prop_assert_eq!(hooks.len(), facts.hooks.len());
                }
            }
        }
    }
}
