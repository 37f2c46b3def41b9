//! What happens to calls about which no rule decides.

/// The permission mode (`--permission-mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Calls that only read run; about the others somebody is asked.
    #[default]
    Default,
    /// A judge decides about calls that the rules leave open.
    Auto,
    /// Every call runs, but for what no mode allows.
    #[value(name = "bypassPermissions", alias = "bypass-permissions")]
    BypassPermissions,
}

impl Mode {
    /// Its name in settings and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Auto => "auto",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}
