//! 10,000 captured no-op children, three ways: through `Spawners`, by a plain captured
//! `posix_spawn` loop, and by `xargs -P10 -n1`. The ways alternate; the medians are compared.
//!
//! `cargo bench --bench spawn [-- ROUNDS [CHILDREN]]`

#![expect(
    clippy::cast_precision_loss,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measurement prints its figures and stops at the first surprise"
)]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[path = "spawn/linux.rs"]
mod linux;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}
