//! The agents whose session files turnpipe reads.

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
