//! Links the program so that it starts fast. Both measures matter, since a whole run of a small
//! command takes a millisecond; `docs/performance.md` has the figures.
//!
//! - The unwinder is linked in. The standard library asks for the shared `libgcc_s`, which then is
//!   found, mapped and relocated at every start. A linker script of that name, found first, sends
//!   the linker to the static `libgcc_eh`.
//! - The program has a fixed address. One that can be moved has thousands of pointers to correct
//!   at every start, and a private copy of every page they stand in. Stack, heap and libraries are
//!   still at random addresses.
//!
//! Where this is not a native build for Linux with glibc, or the compiler lacks the library,
//! nothing changes.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CC");
    let variable = |name| env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    let has_shared_unwinder = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        && !variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    if !(is_native && has_shared_unwinder && compiler_has("libgcc_eh.a")) {
        return Ok(());
    }
    let directory = PathBuf::from(env::var("OUT_DIR")?).join("link");
    fs::create_dir_all(&directory)?;
    fs::write(directory.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc )\n")?;
    println!("cargo::rustc-link-search=native={}", directory.display());
    println!("cargo::rustc-link-arg-bins=-no-pie");
    Ok(())
}

/// Whether the C compiler that links Rust programs knows where this library is.
fn compiler_has(library: &str) -> bool {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler)
        .arg(format!("-print-file-name={library}"))
        .output();
    output.is_ok_and(|output| {
        let answer = String::from_utf8_lossy(&output.stdout);
        Path::new(answer.trim()).is_absolute()
    })
}
