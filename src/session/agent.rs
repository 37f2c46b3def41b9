//! The agents whose session files turnpipe reads.

use std::path::Path;

use super::claude::CLAUDE;
use super::codex::CODEX;
use super::format::Format;
use super::gemini::GEMINI;
use super::pi::PI;
use super::qwen::QWEN;

/// An agent whose session files are known.
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
}

impl Agent {
    /// The name in records and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Qwen => "qwen",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Pi => "pi",
        }
    }

    /// The shell command that resumes the session with this id in this file, to be run in the session's
    /// directory. None if the id could mean something else to a shell or to the agent.
    pub fn resume_command(self, id: &str, path: &Path) -> Option<String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if id.is_empty() || id.starts_with('-') || !id.bytes().all(is_plain) {
            return None;
        }
        match self {
            Self::Claude => Some(format!("claude --resume {id}")),
            Self::Qwen => Some(format!("qwen --resume {id}")),
            Self::Codex => Some(format!("codex resume {id}")),
            Self::Gemini => Some(format!("gemini --resume {id}")),
            // Not every version knows ids.
            Self::Pi => {
                let path = path.to_str().filter(|path| path.starts_with('/'))?;
                let path = shlex::try_quote(path).ok()?;
                Some(format!("pi --session {path}"))
            }
        }
    }

    /// The format of its session files.
    pub fn format(self) -> &'static Format {
        match self {
            Self::Claude => &CLAUDE,
            Self::Qwen => &QWEN,
            Self::Codex => &CODEX,
            Self::Gemini => &GEMINI,
            Self::Pi => &PI,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_resumed_by_a_harmless_command() {
        let path = Path::new("/x y/s.jsonl");
        let rows = [
            (Agent::Claude, "5e55-1", Some("claude --resume 5e55-1")),
            (Agent::Qwen, "5e55-1", Some("qwen --resume 5e55-1")),
            (Agent::Codex, "5e55-1", Some("codex resume 5e55-1")),
            (Agent::Gemini, "5e55-1", Some("gemini --resume 5e55-1")),
            (Agent::Pi, "5e55-1", Some("pi --session '/x y/s.jsonl'")),
            (Agent::Claude, "", None),
            (Agent::Claude, "--dangerously-skip-permissions", None),
            (Agent::Claude, "x; rm -rf ~", None),
            (Agent::Claude, "x\u{1b}[2J", None),
        ];
        for (agent, id, command) in rows {
            assert_eq!(agent.resume_command(id, path).as_deref(), command, "{id}");
        }
        assert_eq!(Agent::Pi.resume_command("5e55-1", Path::new("-")), None);
    }
}
