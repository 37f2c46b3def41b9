//! Permission for calls: rules, modes, and decisions with their cause.
//!
//! [`Rules::decide`] is a pure function. Rules are written as in Claude Code's settings; see
//! `docs/permissions.md`, Rules. It has no side effects; the caller resolves links.

mod changes;
mod command;
mod decision;
mod directories;
mod glob;
mod invocation;
mod line_text;
mod mentions;
mod named_file;
mod operands;
mod outline;
mod path_context;
mod path_pattern;
mod patterns;
mod programs;
mod proposal;
mod rule;
mod rules;
mod standard_input;
mod started;

pub use crate::message::{Decision as Behavior, Mode};
pub use decision::{CheckedPart, Decided};
pub use path_context::{Action, Request, is_of_system, normalised};
pub use path_pattern::RuleSource;
pub use patterns::canonical_tool;
pub use proposal::Proposal;
pub use rule::{InvalidRule, OutsideAccess, Rule};
pub use rules::Rules;

#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod rule_tests;
