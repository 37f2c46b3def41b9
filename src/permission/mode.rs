//! What happens to calls about which no rule decides.

/// The permission mode (`--permission-mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Calls that only read run; permission is asked for all others.
    #[default]
    #[value(alias = "manual")]
    Default,
    /// Changes to files in the working directories run as well.
    #[value(
        name = "acceptEdits",
        aliases = ["accept-edits", "auto-edit", "auto_edit"]
    )]
    AcceptEdits,
    /// Calls that only read run; permission is asked for all others, even if a rule allows them.
    Plan,
    /// A model decides what rules leave open.
    Auto,
    /// What rules leave open is denied.
    #[value(name = "dontAsk", alias = "dont-ask")]
    DontAsk,
    /// Every call runs, except what no mode allows.
    #[value(name = "bypassPermissions", aliases = ["bypass-permissions", "yolo"])]
    BypassPermissions,
}

impl Mode {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}
