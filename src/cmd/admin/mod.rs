//! Commands for setting up: `doctor`, completions, manual, schemas, state.

pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod hook_settings;
pub(crate) mod schema;
pub(crate) mod state_clean;
