//! Commands of the agent flow: `run-tools`, `turn`, `tools`, `hook`, `sandbox`.

pub(crate) mod arguments;
pub(crate) mod guards;
pub(crate) mod hook;
#[cfg(sandbox)]
mod network;
pub(crate) mod run_sandbox;
pub(crate) mod run_tools;
#[cfg_attr(not(sandbox), path = "no_sandbox.rs")]
pub(crate) mod sandbox;
#[cfg(sandbox)]
mod sandbox_files;
pub(crate) mod tools;
pub(crate) mod turn;
pub(crate) mod turn_reply;
