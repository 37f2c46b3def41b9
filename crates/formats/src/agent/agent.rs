//! The agents whose session files turnpipe reads.

use turnpipe_core::text::names;

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
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
    /// Kimi Code.
    Kimi,
    /// Any agent, as a trajectory in the format ATIF.
    Atif,
    /// Agents built with turnpipe.
    Turnpipe,
}

names! {
    Agent: Claude = "claude", Qwen = "qwen", Codex = "codex", Gemini = "gemini", Pi = "pi",
    Opencode = "opencode", Copilot = "copilot", Droid = "droid", Cursor = "cursor", Kimi = "kimi", Atif = "atif",
    Turnpipe = "turnpipe",
}

impl Agent {
    /// Returns the name of the product, as in documentation. `None` for files that are not an agent's own.
    pub const fn product(self) -> Option<&'static str> {
        Some(match self {
            Self::Claude => "Claude Code",
            Self::Qwen => "Qwen Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Pi => "pi",
            Self::Opencode => "opencode",
            Self::Copilot => "GitHub Copilot CLI",
            Self::Droid => "Droid",
            Self::Cursor => "Cursor",
            Self::Kimi => "Kimi Code",
            Self::Atif | Self::Turnpipe => return None,
        })
    }
}
