//! The session files of coding agents, for [turnpipe](https://docs.rs/turnpipe): finding, reading, searching, counting,
//! appending and archiving.

pub mod session;
pub mod state;
