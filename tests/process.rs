//! The module `process` with real children: their start, their environment, their end, and that
//! none of them is left.

#![expect(clippy::unwrap_used, reason = "a test may fail anywhere")]
#![cfg(target_os = "linux")]

#[path = "process/bounds.rs"]
mod bounds;
#[path = "process/closed_streams.rs"]
mod closed_streams;
#[path = "process/endings.rs"]
mod endings;
#[path = "process/lane.rs"]
mod lane;
#[path = "process/leftovers.rs"]
mod leftovers;
#[path = "process/no_process_left.rs"]
mod no_process_left;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[path = "process/proxy.rs"]
mod proxy;
#[path = "skip/mod.rs"]
mod skip;
#[path = "process/starting.rs"]
mod starting;
#[path = "process/support.rs"]
mod support;
