//! Commands on session files.

pub(crate) mod agent_name;
pub(crate) mod append;
pub(crate) mod archive;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod export;
pub(crate) mod gates;
pub(crate) mod hits;
mod limits;
pub(crate) mod list;
pub(crate) mod names;
pub(crate) mod rename;
pub(crate) mod report;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod source;
pub(crate) mod stats;
pub(crate) mod tail;
