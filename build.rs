//! Links programs of debug builds for Linux at a fixed address.
//!
//! The dynamic loader would relocate 225,000 addresses at each start, which takes half the time of `turnpipe --version`,
//! and tests start thousands of programs.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}
