//! Whether a call may run: rules, modes, and the decision with the rule that made it.
//!
//! [`Rules::decide`] is a pure function. Rules are written as in Claude Code's settings; see
//! `docs/permissions.md`, Rules. Nothing is run, asked or opened here; where a path leads is
//! asked of the caller.

mod call;
mod changes;
mod command;
mod command_pattern;
mod decision;
mod directories;
mod domain;
mod invocation;
mod named_file;
mod outline;
mod path_pattern;
mod programs;
mod reason;
mod remedy;
mod request;
mod rule;
mod rules;
mod started;
mod surroundings;
mod table;
mod tool_name;
mod wildcard;

pub use crate::message::{Decision as Behavior, Mode};
pub use decision::Decided;
pub use request::{Action, Request};
pub use rule::{InvalidRule, OutsideAccess, Rule, Source};
pub use rules::Rules;
pub use surroundings::{is_of_system, normalised};
pub use tool_name::canonical_tool;

#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod rule_tests;
