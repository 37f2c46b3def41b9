//! One typed configuration: flags over environment over file over defaults. Values carry their sources.
//!
//! The only module that reads settings from the environment.

mod agent_settings;
mod file;
mod models;
mod permission_table;
mod permissions;
mod restrictions;
mod rule_examples;
mod settings;
mod side;
mod sourced;
mod variables;

pub use file::{ConfigError, ConfigSource};
pub use permissions::{PermissionFlags, PermissionSettings, project_directory};
pub use settings::{Config, Overrides, Settings};
pub use side::SideGates;
pub use sourced::{Setting, ValueSource};
pub use variables::{VARIABLES, has_less_options, pager};
