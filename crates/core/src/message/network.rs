//! The network of programs in a workspace.

use schemars::JsonSchema;
use serde::Serialize;

/// What programs in a workspace reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Loopback of its own
    #[default]
    Off,
    /// Loopback of its own, with a proxy to domains.
    #[cfg_attr(feature = "clap", value(skip))]
    Domains,
    /// That of this system
    On,
}
