//! The formats of [turnpipe](https://docs.rs/turnpipe): one file for each model API and each coding agent, the joining
//! of their streams, and turnpipe's own records.

pub mod agent;
pub mod api;
pub mod assemble;
pub mod records;
