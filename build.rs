//! Links programs for Linux at a fixed address, and has the `cfg(sandbox)` of the guard.
//!
//! Libraries, heap and stack still have random addresses. With a random address of the program, the dynamic loader has
//! to change 58,000 addresses at each start, which takes 0.8 ms, more than all that `hook` does for most calls; in debug
//! builds 225,000.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(sandbox)");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
    if is("DEP_TURNPIPE_GUARD_SANDBOX", "1") {
        println!("cargo::rustc-cfg=sandbox");
    }
}
