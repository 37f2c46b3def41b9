//! Finding and listing sessions, and what they are doing.

pub(crate) mod activity;
pub(crate) mod find;
pub(crate) mod in_use;
pub(crate) mod listing;
pub(crate) mod parts;
pub(crate) mod projects;
pub(crate) mod selection;
