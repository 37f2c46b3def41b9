//! One typed configuration, resolved from flags over environment over file (protocol section 4).
//!
//! The only room that looks into the environment. What a setting means is its room's business.

mod file;
mod model_tables;
mod models;
mod session_roots;
mod settings;
mod side;
mod variables;

pub use file::{ConfigError, ConfigSource};
pub use models::{ModelOverrides, model_settings};
pub use session_roots::session_roots;
pub use settings::{Overrides, Settings};
pub use side::{SideGates, side_gates};
pub use variables::{VARIABLES, Variable};
