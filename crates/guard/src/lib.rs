//! The guard of [turnpipe](https://docs.rs/turnpipe): what a command line does, and what rules decide about it.

pub mod permission;
pub mod shell;

#[cfg(test)]
#[path = "../../../tests/skip/sample.rs"]
mod sample;
