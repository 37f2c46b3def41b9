//! `summarize-batch`, `title`, `recap` and `turn`: the whole binary, with the built-in rules and with
//! a model server that is part of the test.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod agent_script;
mod batches;
mod costs;
#[path = "../executable/mod.rs"]
mod executable;
mod files;
mod fixtures;
mod labels;
mod models;
mod outcomes;
mod output;
mod paid;
mod races;
mod recaps;
mod recorded;
mod scripts;
mod secrets;
mod server;
#[path = "../skip/mod.rs"]
mod skip;
mod titles;
#[path = "../cli/turnpipe.rs"]
#[expect(dead_code, reason = "shared with other tests")]
mod turnpipe;
mod turns;
mod vectors;
