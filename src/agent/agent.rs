//! The agents whose session files turnpipe reads.

use std::path::{Component, Path};

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Qwen Code.
    Qwen,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// pi.
    Pi,
    /// opencode.
    Opencode,
    /// GitHub Copilot CLI.
    Copilot,
    /// Droid.
    Droid,
    /// Cursor.
    Cursor,
    /// Any agent, as a trajectory in the format ATIF.
    Atif,
}

impl Agent {
    /// All agents.
    pub const ALL: [Self; 10] = [
        Self::Claude,
        Self::Qwen,
        Self::Codex,
        Self::Gemini,
        Self::Pi,
        Self::Opencode,
        Self::Copilot,
        Self::Droid,
        Self::Cursor,
        Self::Atif,
    ];

    /// Returns the name in records and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Qwen => "qwen",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
            Self::Opencode => "opencode",
            Self::Copilot => "copilot",
            Self::Droid => "droid",
            Self::Cursor => "cursor",
            Self::Atif => "atif",
        }
    }
}

/// Programs that run a script.
const INTERPRETERS: [&str; 5] = ["node", "bun", "deno", "python", "python3"];

/// Arguments of processes that serve many sessions. They keep files open without their user.
const SERVERS: [&str; 4] = ["app-server", "daemon", "mcp-server", "serve"];

/// Whether a process of an agent with these arguments serves many sessions.
pub fn serves_sessions(arguments: &[String]) -> bool {
    arguments
        .iter()
        .any(|argument| SERVERS.contains(&argument.as_str()))
}

impl Agent {
    /// Returns the agent that a process with these arguments is. The name of the program decides, or for an
    /// interpreter the path of its script: `node …/@qwen-code/qwen-code/dist/cli.js`.
    pub fn of_process(arguments: &[String]) -> Option<Self> {
        let program = Path::new(arguments.first()?).file_name()?.to_str()?;
        if !INTERPRETERS.contains(&program) {
            return Self::ALL.into_iter().find(|agent| agent.is_name(program));
        }
        let mut scripts = arguments.iter().skip(1);
        let script = scripts.find(|argument| !argument.starts_with('-'))?;
        let parts: Vec<&str> = Path::new(script)
            .components()
            .filter_map(|part| match part {
                Component::Normal(part) => part.to_str(),
                _ => None,
            })
            .collect();
        // The last directory decides: others are where the agent is installed.
        let mut parts = parts.into_iter().rev();
        parts.find_map(|part| Self::ALL.into_iter().find(|agent| agent.is_name(part)))
    }

    /// Whether a file or a directory has the name of the agent's program: `codex`, `codex.js`, `gemini-cli`.
    fn is_name(self, part: &str) -> bool {
        let rest = part.strip_prefix(self.name());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_recognized_by_their_arguments() {
        let rows = [
            ("claude --resume x", Some(Agent::Claude)),
            ("/usr/bin/codex exec hi", Some(Agent::Codex)),
            (
                "/n/@openai/codex-linux-x64/vendor/codex/codex",
                Some(Agent::Codex),
            ),
            ("node /n/.bin/qwen -p hi", Some(Agent::Qwen)),
            (
                "/usr/bin/node --max-old-space-size=9 /n/@google/gemini-cli/bundle/gemini.js",
                Some(Agent::Gemini),
            ),
            (
                "node /n/@anthropic-ai/claude-code/cli.js",
                Some(Agent::Claude),
            ),
            ("cursor-agent", Some(Agent::Cursor)),
            ("vim /h/.claude/projects/p/s.jsonl", None),
            ("less claude", None),
            ("node /srv/app/server.js claude", None),
            ("pip install x", None),
            ("", None),
        ];
        for (line, expected) in rows {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(Agent::of_process(&arguments), expected, "{line}");
        }
    }
}
