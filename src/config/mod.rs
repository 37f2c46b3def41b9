//! One typed configuration, resolved from flags over environment over file
//! (`docs/protocol.md`, Configuration).
//!
//! The only room that reads settings from the environment.

mod agent_settings;
mod explained;
mod file;
mod models;
mod pager;
mod permission_table;
mod permissions;
mod restrictions;
mod rule_examples;
mod session_roots;
mod settings;
mod side;
mod variables;

pub use explained::Setting;
pub use file::{ConfigError, ConfigSource};
pub use pager::{has_options_of_less, pager};
pub use permissions::{PermissionFlags, PermissionSettings, project_directory};
pub use session_roots::session_roots;
pub use settings::{Config, Overrides, Settings};
pub use side::SideGates;
pub use variables::VARIABLES;
