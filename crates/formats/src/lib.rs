//! The formats of model APIs and coding agents. Nothing here opens a connection.
//!
//! | module | one file for |
//! |---|---|
//! | [`api`] | each model API: whole messages, parts of streamed ones, requests, results |
//! | [`agent`] | each coding agent: its records, streams, locations, titles; docs/adding-an-agent.md adds one |
//! | [`assemble`] | the joining of deltas into blocks, and of records into messages; which calls are the same |
//! | [`records`] | the records that turnpipe writes |
//!
//! A line becomes events by [`assemble::Decoder`], which recognises each line by itself.

pub mod agent;
pub mod api;
pub mod assemble;
pub mod records;
