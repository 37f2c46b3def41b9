//! Hooks: programs and servers of the user that look at tool calls before and after they run.
//!
//! The protocol is Claude Code's, so that hooks written for it work unchanged; see `docs/protocol.md`,
//! Hooks. What a settings file says (`settings`), which hooks a call fires (`matcher`), what an answer
//! means (`answer`) and what several answers mean together (`merge`) are rules; `runner` runs.

mod answer;
mod input;
mod matcher;
mod merge;
mod runner;
mod settings;

pub use answer::{Answer, HookDecision, HookEnd, answer};
pub use input::HookInput;
pub use merge::{Merged, merge};
pub use runner::{HookRun, HookRunner};
pub use settings::{Handler, HookEvent, Hooks, InvalidHooks};
