//! The network of programs in a workspace.

use schemars::JsonSchema;
use serde::Serialize;

/// The network that programs in a workspace can reach.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Loopback of its own
    #[default]
    Off,
    /// Loopback of its own, with a proxy to the allowed domains.
    #[cfg_attr(feature = "clap", value(skip))]
    Domains,
    /// That of this system
    On,
}
