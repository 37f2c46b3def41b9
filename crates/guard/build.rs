//! Sets `cfg(sandbox)` for targets on which sandboxes are implemented.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(sandbox)");
    println!("cargo::rerun-if-changed=build.rs");
    let is_set = |name, value| env::var(name).is_ok_and(|found| found == value);
    // The tables of system calls have the numbers of these architectures.
    let is_known = ["x86_64", "aarch64"].map(|known| is_set("CARGO_CFG_TARGET_ARCH", known));
    if is_set("CARGO_CFG_TARGET_OS", "linux") && is_known.contains(&true) {
        println!("cargo::rustc-cfg=sandbox");
        println!("cargo::metadata=sandbox=1");
    }
}
