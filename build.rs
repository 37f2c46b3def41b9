//! Links programs for Linux at a fixed address. Libraries, heap and stack still have random addresses.
//!
//! Otherwise the dynamic loader has to change 58,000 addresses at each start, which takes 0.8 ms, more than all that `hook`
//! does for most calls; in debug builds 225,000.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name, value| var(name).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
}
