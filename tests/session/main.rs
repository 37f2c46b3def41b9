//! The binary's `session` commands.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod archive;
mod atif;
mod bench;
mod calls;
mod check;
mod comparison;
mod conformance;
mod copies;
mod costs;
mod diff;
mod export;
mod find;
mod homes;
mod identity;
mod limits;
mod list;
mod more_agents;
mod projects;
mod recorded;
#[path = "../recorded/mod.rs"]
mod recording;
mod report;
#[path = "../schema/mod.rs"]
mod schema;
mod search;
mod show;
#[path = "../skip/mod.rs"]
mod skip;
mod states;
mod streams;
mod subagents;
mod sums;
mod tail;
mod views;
