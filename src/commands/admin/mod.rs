//! Commands for setting up: `doctor`, completions, manual, schemas, state.

pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod generated;
pub(crate) mod hook_settings;
pub(crate) mod state_clean;
