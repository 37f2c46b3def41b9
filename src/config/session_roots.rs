//! Default directories of session files.

use std::path::{Path, PathBuf};

use super::variables::{
    CLAUDE_HOME, CODEX_HOME, CONFIG_HOME, GEMINI_HOME, HOME, PI_HOME, QWEN_RUNTIME,
};
use crate::io::Environment;
use crate::session::{Agent, Root};

/// The directories of all agents' sessions, existing or not. Without a home directory, only those that
/// variables set.
pub fn session_roots(environment: &Environment) -> Vec<Root> {
    let home = HOME.text(environment).map(Path::new);
    let in_home = |path: &str| home.map(|home| home.join(path));
    let mut roots = Vec::new();
    let mut add = |agent: Agent, home: Option<PathBuf>, folders: &[&str]| {
        for folder in folders {
            if let Some(home) = &home {
                roots.push(Root {
                    agent: Some(agent),
                    path: home.join(folder),
                });
            }
        }
    };
    if let Some(list) = CLAUDE_HOME.text(environment) {
        for path in list
            .split(',')
            .map(str::trim)
            .filter(|path| !path.is_empty())
        {
            add(Agent::Claude, Some(path.into()), &["projects"]);
        }
    } else {
        let configuration = CONFIG_HOME
            .text(environment)
            .map_or_else(|| in_home(".config"), |path| Some(path.into()));
        add(Agent::Claude, in_home(".claude"), &["projects"]);
        let other = configuration.map(|path| path.join("claude"));
        add(Agent::Claude, other, &["projects"]);
    }
    let named = |variable: super::variables::Variable, usual: &str| {
        variable
            .text(environment)
            .map_or_else(|| in_home(usual), |path| Some(path.into()))
    };
    add(Agent::Qwen, named(QWEN_RUNTIME, ".qwen"), &["projects"]);
    let codex = ["sessions", "archived_sessions"];
    add(Agent::Codex, named(CODEX_HOME, ".codex"), &codex);
    add(Agent::Gemini, named(GEMINI_HOME, ""), &[".gemini/tmp"]);
    add(Agent::Pi, named(PI_HOME, ".pi/agent"), &["sessions"]);
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(pairs: &[(&str, &str)]) -> Vec<String> {
        let environment = pairs.iter().copied().collect();
        let roots = session_roots(&environment).into_iter();
        roots.map(|root| root.path.display().to_string()).collect()
    }

    #[test]
    fn variables_override_the_home_directory() {
        assert!(paths(&[]).is_empty());
        assert_eq!(
            paths(&[("HOME", "/h")]),
            [
                "/h/.claude/projects",
                "/h/.config/claude/projects",
                "/h/.qwen/projects",
                "/h/.codex/sessions",
                "/h/.codex/archived_sessions",
                "/h/.gemini/tmp",
                "/h/.pi/agent/sessions",
            ]
        );
        assert_eq!(
            paths(&[
                ("CLAUDE_CONFIG_DIR", "/a, /b"),
                ("QWEN_HOME", "/q"),
                ("QWEN_RUNTIME_DIR", "/r"),
                ("GEMINI_CLI_HOME", "/g"),
            ]),
            [
                "/a/projects",
                "/b/projects",
                "/r/projects",
                "/g/.gemini/tmp"
            ]
        );
    }
}
