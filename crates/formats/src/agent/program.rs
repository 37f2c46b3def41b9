//! Recognizes the processes of agents by their arguments.

use std::path::{Component, Path};

use super::Agent;

/// Programs that run a script.
const INTERPRETERS: [&str; 5] = ["node", "bun", "deno", "python", "python3"];

/// Arguments of processes that serve many sessions. They keep files open without their user.
const SERVERS: [&str; 4] = ["app-server", "daemon", "mcp-server", "serve"];

/// Whether a process of an agent with these arguments serves many sessions.
pub fn is_session_server(arguments: &[String]) -> bool {
    arguments
        .iter()
        .any(|argument| SERVERS.contains(&argument.as_str()))
}

impl Agent {
    /// Returns the agent that a process with these arguments runs, by the name of the program, or for an
    /// interpreter by the path of its script: `node …/@qwen-code/qwen-code/dist/cli.js`.
    pub fn from_process(arguments: &[String]) -> Option<Self> {
        let program = Path::new(arguments.first()?).file_name()?.to_str()?;
        if !INTERPRETERS.contains(&program) {
            return Self::ALL.into_iter().find(|agent| agent.is_named(program));
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
        // The last directory counts: the ones before it are where the agent is installed.
        let mut parts = parts.into_iter().rev();
        parts.find_map(|part| Self::ALL.into_iter().find(|agent| agent.is_named(part)))
    }

    /// Whether a file or a directory has the name of the agent's program: `codex`, `codex.js`, `gemini-cli`.
    fn is_named(self, part: &str) -> bool {
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
            assert_eq!(Agent::from_process(&arguments), expected, "{line}");
        }
    }
}
