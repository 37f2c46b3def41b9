//! The agents whose session files turnpipe reads.

use super::claude::CLAUDE;
use super::codex::CODEX;
use super::format::Format;
use super::gemini::GEMINI;
use super::pi::PI;
use super::qwen::QWEN;

/// An agent whose session files are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
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
    /// All agents.
    pub const ALL: [Self; 5] = [
        Self::Claude,
        Self::Qwen,
        Self::Codex,
        Self::Gemini,
        Self::Pi,
    ];

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
