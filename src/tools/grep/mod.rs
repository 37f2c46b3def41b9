//! `Grep`: the contents of files, searched with ripgrep's own crates.
//!
//! The walk is in the order of paths, so that equal trees give equal results; a page that is full
//! ends it early.

mod content;
mod counts;
mod lines;
mod report;
mod request;
mod run;
mod search;
mod tool;

pub use tool::Grep;

#[cfg(test)]
mod tests;
