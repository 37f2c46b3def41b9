//! The machinery of coding agents as composable Unix filters.
//!
//! This is the library of the command `turnpipe`. Four modules are meant for other programs; they need
//! neither a network nor a model:
//!
//! | module | purpose |
//! |---|---|
//! | [`session`] | session files of coding agents: messages, token counts and costs |
//! | [`shell`] | analysis of shell commands without running them |
//! | [`permission`] | permission rules, modes and decisions |
//! | [`text`] | untrusted text: terminal-safe output, redaction of secrets, display width |
//!
//! [`message`] has the types that they share. `examples/` has complete programs. Everything else is
//! internal to the command and can change in any version.
//!
//! # Cargo features
//!
//! `cli` (default) builds the command, `model` everything that runs tools or calls models, and `mcp`
//! (default) the client of MCP servers. For the library alone, without an HTTP client and TLS:
//!
//! ```toml
//! turnpipe = { version = "0.1", default-features = false }
//! ```
//!
//! # Read a session
//!
//! [`session::Session::open`] detects which agent wrote a file.
//!
//! ```
//! use std::path::Path;
//! use turnpipe::session::{Scope, Session};
//!
//! let session = Session::open(Path::new("examples/session.jsonl"))?;
//! let (mut calls, mut tokens) = (0, 0);
//! for message in session.messages(Scope::Live)? {
//!     let message = message?;
//!     calls += message.calls().count();
//!     tokens += message.usage.map_or(0, |usage| usage.total());
//! }
//! println!("{}: {calls} calls, {tokens} tokens", session.agent().name());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Analyse a command line
//!
//! [`shell::analyse`] decides whether a command only reads, and splits it into its parts. It takes time
//! linear in the length of the command.
//!
//! ```
//! use turnpipe::shell::{Verdict, analyse, simple_commands};
//!
//! assert!(analyse("grep -r TODO src | head").verdict.is_read_only());
//!
//! let analysis = analyse("ls; rm -rf build");
//! assert_eq!(analysis.verdict, Verdict::Writes);
//! assert_eq!(analysis.why, "`rm` changes files");
//!
//! let commands = simple_commands("ls; rm -rf build").commands;
//! assert_eq!(commands[1].words, ["rm", "-rf", "build"]);
//! ```
//!
//! # Decide by rules
//!
//! Rules have the syntax of Claude Code's settings. [`permission::Rules::decide`] is a pure function: the
//! caller describes the call and resolves links.
//!
//! ```
//! use std::path::{Path, PathBuf};
//! use std::sync::Arc;
//! use turnpipe::message::Decision;
//! use turnpipe::permission::{Action, Mode, Request, Rule, RuleSource, Rules};
//! use turnpipe::shell::analyse;
//!
//! let source = Arc::new(RuleSource { name: "example".to_owned(), anchor: PathBuf::from("/project") });
//! let rules = Rules::new(vec![
//!     Rule::parse("Bash(npm run *)", Decision::Allow, &source)?,
//!     Rule::parse("Bash(git push *)", Decision::Deny, &source)?,
//! ]);
//!
//! let script = "npm run build && git push origin main";
//! let analysis = analyse(script);
//! let decided = rules.decide(Mode::Default, &Request {
//!     tool: "Bash",
//!     input: &serde_json::Map::new(),
//!     action: &Action::Command {
//!         script: script.to_owned(),
//!         only_reads: analysis.verdict.is_read_only(),
//!         parts: analysis.parts,
//!         is_ambiguous: false,
//!     },
//!     directory: Path::new("/project"),
//!     working_directories: &[PathBuf::from("/project")],
//!     confines_reads: false,
//!     home: None,
//!     real_path: &|path| path.canonicalize().ok(),
//!     entries: &|_| Box::new(std::iter::empty()),
//! });
//! assert_eq!(decided.decision, Decision::Deny);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Print untrusted text
//!
//! ```
//! use turnpipe::text::{MASK, redact, terminal_safe_line};
//!
//! assert_eq!(terminal_safe_line("ok\u{1b}]0;title\u{7}\u{202e} done"), "ok done");
//! assert!(redact("password=hunter2hunter2").contains(MASK));
//! ```

// Without the command, some items of lower modules are unused.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]

pub use turnpipe_rules::text;

#[doc(hidden)]
pub mod io;

pub(crate) use turnpipe_rules::json;

#[doc(hidden)]
pub mod jsonl;

#[doc(hidden)]
pub mod process;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod http;

pub use turnpipe_rules::message;

pub(crate) use turnpipe_rules::tool_facts;

#[doc(hidden)]
pub mod records;

#[doc(hidden)]
pub mod api;

#[doc(hidden)]
pub mod agent;

#[doc(hidden)]
pub mod assemble;

#[doc(hidden)]
pub mod view;

#[doc(hidden)]
pub mod state;

pub mod session;

pub use turnpipe_rules::shell;

pub use turnpipe_rules::permission;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod hooks;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod tools;

#[cfg(feature = "mcp")]
#[doc(hidden)]
pub mod mcp;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod results;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod exec;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod model;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod side;

#[cfg(feature = "model")]
#[doc(hidden)]
pub mod turn;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod config;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cmd;
