//! `Grep`: searches file contents with ripgrep's crates.
//!
//! Files are searched in the order of their paths, so that results are deterministic. A full page ends the
//! search. `grep-printer` is not used: long lines are truncated around their match, and pages have offsets.

mod parameters;
mod report;
mod search;

pub(in crate::run::tools) use parameters::Grep;

#[cfg(test)]
mod tests;
