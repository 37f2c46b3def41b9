//! Adds the hooks of turnpipe to the settings files of agents, removes them, and finds them.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

use super::agent_hook::AgentHook;
use super::settings_syntax::{SettingsError, edit_hooks, find_installed_hooks, hook_command};
use crate::agent::{Agent, HookSettings};
use crate::io::{Environment, read_regular, replace_below};
use crate::records::HookScope;
use crate::text::{marked_diff, terminal_safe_line};

/// Number of unchanged lines that are shown around a change.
const CONTEXT: usize = 2;

/// A change of a settings file.
pub struct SettingsChange {
    /// The path of the file, which may be a link.
    pub path: PathBuf,
    /// The path with links resolved.
    pub target: PathBuf,
    before: String,
    after: String,
}

impl SettingsChange {
    /// Reads settings; empty if there are none. Adds the hooks of turnpipe, with the name of its program and options, or
    /// removes them.
    ///
    /// # Errors
    /// See [`SettingsError`].
    pub fn new(
        path: PathBuf,
        agent: Agent,
        facts: &HookSettings,
        command: Option<(&str, &[String])>,
    ) -> Result<Self, SettingsError> {
        let before = read_or_empty(&path)?;
        let target = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let name = target.display().to_string();
        let after = match command {
            None => edit_hooks(&before, facts, &name, None),
            Some((program, options)) => edit_hooks(
                &before,
                facts,
                &name,
                Some(&|subcommand| hook_command(program, subcommand, agent, options)),
            ),
        }?;
        Ok(Self {
            path,
            target,
            before,
            after,
        })
    }

    /// Whether the settings stay as they are.
    pub fn is_empty(&self) -> bool {
        self.before == self.after
    }

    /// Returns the path, and the changed lines with some lines around them.
    pub fn difference(&self) -> String {
        let [old, new] = [&self.before, &self.after].map(|text| text.lines().collect::<Vec<_>>());
        let lines = marked_diff(&old, &new);
        let is_near = |at: usize| {
            let first = at.saturating_sub(CONTEXT);
            let surrounding = lines.iter().skip(first).take(at - first + CONTEXT + 1);
            surrounding.into_iter().any(|(mark, _)| *mark != ' ')
        };
        let mut text = format!("{}\n", terminal_safe_line(&self.path.display().to_string()));
        for (at, (mark, line)) in lines.iter().enumerate() {
            if is_near(at) {
                let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
                let rest = terminal_safe_line(rest);
                text += &[&mark.to_string(), " ", indent, &rest, "\n"].concat();
            } else if at > 0 && is_near(at - 1) {
                text.push_str("  ...\n");
            }
        }
        text
    }

    /// Replaces the file, through a link to it, or removes it if nothing is left. Keeps a backup of the old one.
    ///
    /// # Errors
    /// Writing failed.
    pub fn write(&self) -> io::Result<()> {
        let folder = self.target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let permissions = fs::metadata(&self.target).map(|metadata| metadata.permissions());
        let name = self.target.file_name().unwrap_or_default().to_owned();
        let write = |suffix: &str, text: &str| {
            let mut name = name.clone();
            name.push(suffix);
            let fill = |mut file: &File| {
                file.write_all(text.as_bytes())?;
                if let Ok(permissions) = &permissions {
                    file.set_permissions(permissions.clone())?;
                }
                file.sync_all()
            };
            replace_below(folder, Path::new(&name), Mode::RWXU, fill, |error| error).map(drop)
        };
        if permissions.is_ok() {
            write(".backup", &self.before)?;
        }
        if self.after.is_empty() {
            return fs::remove_file(&self.target);
        }
        write("", &self.after)
    }
}

fn read_or_empty(path: &Path) -> io::Result<String> {
    match read_regular(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Returns the hooks of turnpipe in the settings of the user and of the project in `project_directory`, if any.
///
/// # Errors
/// The path of settings that are unreadable or invalid, and why.
pub fn find_hooks(
    agents: &[Agent],
    environment: &Environment,
    project_directory: Option<&Path>,
) -> Result<Vec<AgentHook>, (PathBuf, SettingsError)> {
    let mut found: Vec<AgentHook> = Vec::new();
    for agent in agents {
        let Some(facts) = agent.format().hook_settings.as_ref() else {
            continue;
        };
        let project =
            project_directory.map(|project_directory| facts.project_file(project_directory));
        let user = facts.user_file(environment);
        for (scope, path) in [(HookScope::User, user), (HookScope::Project, project)] {
            let Some(path) = path else {
                continue;
            };
            let path = fs::canonicalize(&path).unwrap_or(path);
            if found.iter().any(|found| Path::new(&found.path) == path) {
                continue;
            }
            let name = path.display().to_string();
            let hooks = read_or_empty(&path)
                .map_err(SettingsError::from)
                .and_then(|text| find_installed_hooks(&text, facts, &name))
                .map_err(|error| (path, error))?;
            found.extend(hooks.into_iter().map(|hook| AgentHook {
                agent: *agent,
                facts,
                scope,
                path: name.clone(),
                hook,
            }));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::SettingsSyntax;

    fn facts(agent: Agent) -> &'static HookSettings {
        agent.format().hook_settings.as_ref().unwrap()
    }

    fn install_hooks(
        text: &str,
        facts: &HookSettings,
        path: &str,
        command: &dyn Fn(&str) -> String,
    ) -> Result<String, SettingsError> {
        edit_hooks(text, facts, path, Some(command))
    }

    fn uninstall_hooks(text: &str, facts: &HookSettings) -> Result<String, SettingsError> {
        edit_hooks(text, facts, "/c", None)
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
            let hooks = find_installed_hooks(&installed, facts, "/c").unwrap();
            assert_eq!(hooks.len(), facts.hooks.len(), "{installed}");
            for line in text.lines().filter(|line| line.contains(['#', '/'])) {
                let kept = line.trim().trim_end_matches(',');
                assert!(installed.contains(kept), "{line} in {installed}");
            }
            let again = install_hooks(&installed, facts, "/c", &command).unwrap();
            assert_eq!(again, installed, "installing twice");
            let removed = uninstall_hooks(&installed, facts).unwrap();
            let (removed, text): (String, String) = match facts.syntax {
                SettingsSyntax::Toml => (removed.trim().to_owned(), text.trim().to_owned()),
                _ => (removed, text.to_owned()),
            };
            let blank = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(blank(&removed), blank(&text), "{removed}");
            assert_eq!(find_installed_hooks(&removed, facts, "/c").unwrap(), []);
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
        assert_eq!(uninstall_hooks(mine, facts(Agent::Pi)).unwrap(), mine);
        for agent in [Agent::Claude, Agent::Codex] {
            assert!(install_hooks("{\"a\": ", facts(agent), "/c", &command).is_err());
        }
    }

    #[test]
    fn a_hook_is_trusted_if_its_hash_is_recorded() {
        let facts = facts(Agent::Codex);
        let text = install_hooks(TOML, facts, "/h/config.toml", &command).unwrap();
        let trusted = |text: &str| -> Vec<Option<bool>> {
            let hooks = find_installed_hooks(text, facts, "/h/config.toml").unwrap();
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
                    let hooks = find_installed_hooks(&installed, facts, "/c").unwrap();
                    prop_assert_eq!(hooks.len(), facts.hooks.len());
                }
            }
        }
    }
}
