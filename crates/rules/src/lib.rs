//! The pure rules of [turnpipe](https://docs.rs/turnpipe): text, messages, shell analysis and permission.
//!
//! A package of its own, so that an edit here is compiled and tested without the rest. Programs use the
//! modules through the library `turnpipe`, whose front page has examples.

pub mod text;

#[doc(hidden)]
pub mod json;

pub mod message;

#[doc(hidden)]
pub mod tool_facts;

pub mod shell;

pub mod permission;

#[cfg(test)]
#[path = "../../../tests/skip/sample.rs"]
mod sample;
