//! The agents whose session files turnpipe reads.

use turnpipe_core::text::names;

/// Declares the agents: the name in options and records, and the product.
macro_rules! agents {
    ($($(#[$documentation:meta])+ $agent:ident = $name:literal, $product:expr;)+) => {
        /// A coding agent.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
        pub enum Agent {
            $($(#[$documentation])+ $agent,)+
        }

        names! { Agent: $($agent = $name),+ }

        impl Agent {
            /// Returns the name of the product, as in documentation. `None` for files that are not an agent's own.
            pub const fn product(self) -> Option<&'static str> {
                match self {
                    $(Self::$agent => $product,)+
                }
            }
        }
    };
}

agents! {
    /// Claude Code.
    Claude = "claude", Some("Claude Code");
    /// Qwen Code.
    Qwen = "qwen", Some("Qwen Code");
    /// Codex CLI.
    Codex = "codex", Some("Codex");
    /// Gemini CLI.
    Gemini = "gemini", Some("Gemini CLI");
    /// pi.
    Pi = "pi", Some("pi");
    /// opencode.
    Opencode = "opencode", Some("opencode");
    /// GitHub Copilot CLI.
    Copilot = "copilot", Some("GitHub Copilot CLI");
    /// Droid.
    Droid = "droid", Some("Droid");
    /// Cursor.
    Cursor = "cursor", Some("Cursor");
    /// Kimi Code.
    Kimi = "kimi", Some("Kimi Code");
    /// goose.
    Goose = "goose", Some("goose");
    /// Any agent, as a trajectory in the format ATIF.
    Atif = "atif", None;
    /// Agents built with turnpipe.
    Turnpipe = "turnpipe", None;
}
