//! What a shell command does, what rules decide about a call, and processes that the kernel confines. [`shell`] and
//! [`permission`] are pure: they run nothing and read no file.
//!
//! # Analyse a command line
//!
//! [`shell::analyse`] decides whether a command only reads, and splits it into its parts. It takes time linear in the
//! length of the command. A construct that it does not know makes the verdict unknown.
//!
//! ```no_run
#![doc = include_str!("../examples/analyse_command.rs")]
//! ```
//!
//! # Decide on a call
//!
//! Rules have the syntax of Claude Code's settings. [`permission::Rules::decide`] is a pure function: the caller
//! describes the call and resolves links. A matching deny rule wins in every mode. Rules about commands compare text;
//! only the kernel can keep a program from a file.
//!
//! ```no_run
#![doc = include_str!("../examples/decide.rs")]
//! ```
//!
//! # Other tasks
//!
//! | task | starts at |
//! |---|---|
//! | match a host as in `WebFetch(domain:…)` | [`permission::DomainPattern`] |
//! | run a command with limits, and nothing of it left behind | [`process::Supervisor`] |
//! | find the files that rules name, to mask them | `sandbox::FileRules` |
//! | start programs in namespaces with masks | `process::Sandbox` |

pub mod permission;
pub mod process;
#[cfg(sandbox)]
pub mod sandbox;
pub mod shell;

#[cfg(test)]
#[path = "../../../tests/skip/sample.rs"]
mod sample;
