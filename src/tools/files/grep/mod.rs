//! `Grep`: the contents of files, searched with ripgrep's own crates.
//!
//! The walk is in the order of paths, so that equal trees give equal results; a page that is full
//! ends it early.

mod parameters;
mod report;
mod search;
mod sinks;

pub(in crate::tools) use parameters::Grep;

#[cfg(test)]
mod tests;
