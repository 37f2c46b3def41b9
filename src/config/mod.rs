//! The typed configuration: flags override the environment, which overrides the file. Values carry their sources.
//!
//! The only module that reads settings from the environment.

mod file;
mod models;
mod permissions;
mod restrictions;
mod sandbox_path;
mod sandbox_settings;
mod settings;
mod variables;

pub use file::{ConfigError, ConfigSource, deletion_warning};
pub use permissions::{PermissionFlags, PermissionSettings, project_directory};
pub use sandbox_path::SandboxPath;
pub use sandbox_settings::SandboxSettings;
pub use settings::{Config, Overrides, Settings, SideGates};
#[cfg(test)]
pub(crate) use variables::is_true;
pub use variables::{Setting, VARIABLES, ValueSource, has_less_options, pager};
