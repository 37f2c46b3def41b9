//! Whether a call may run: rules, modes, and the decision with the rule that made it.
//!
//! [`Rules::decide`] is a pure function. Rules are written as in Claude Code's settings; see
//! `docs/protocol.md`, Permission rules. Nothing is run, asked or opened here; where a path leads is
//! asked of the caller.

mod decision;
mod mode;
mod request;
mod rule;

pub use decision::{Decided, DecidedPart};
pub use mode::Mode;
pub use request::{Action, Request};
pub use rule::{Behavior, InvalidRule, Rule, Rules, Source};
