//! Permission for calls: rules, modes, and decisions with their cause.
//!
//! [`Rules::decide`] is a pure function. Rules are written as in Claude Code's settings; see
//! `docs/permissions.md`, Rules. It has no side effects; the caller resolves links.

mod allow;
mod call;
mod changes;
mod command;
mod command_pattern;
mod decision;
mod directories;
mod domain;
mod effects;
mod enforcement;
mod file_list;
mod hint;
mod invocation;
mod outline;
mod path_context;
mod path_pattern;
mod pattern;
mod program_use;
mod reads;
mod request;
mod rule;
mod rule_text;
mod rules;
mod started_programs;
mod tool_name;

pub use decision::{CheckedPart, Decided};
pub use domain::DomainPattern;
pub use enforcement::DeniedFiles;
pub use file_list::{is_named_protected_from_commands, is_of_system, is_protected_from_commands};
pub use hint::Hint;
pub use path_context::normalise;
pub use path_pattern::RuleSource;
pub use request::{Action, Request};
pub use rule::{FileUse, OutsideAccess, Rule};
pub use rule_text::InvalidRule;
pub use rules::Rules;
pub use tool_name::canonical_tool;
pub use turnpipe_core::message::{Decision as Behavior, Mode};

#[cfg(test)]
mod decision_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod rule_tests;
