//! Links the program so that it starts fast: what happens before `main` is most of what a small
//! command takes. `docs/performance.md` has the figures.
//!
//! - The C library is linked in, so that nothing is found, mapped and relocated at a start. The
//!   standard library asks for the shared one by name; linker scripts of those names, found first,
//!   send the linker to the archives. (`-C target-feature=+crt-static` does the same, but cannot be
//!   set from here.) What such a library cannot do safely is to load the modules that find hosts
//!   on some systems: `src/http/resolver.rs` asks a program of the system instead.
//! - The unwinder is linked in, in the same way, also where the C library is not.
//! - The program has a fixed address. One that can be moved has thousands of pointers to correct
//!   at every start, and a private copy of every page they stand in. Stack, heap and libraries are
//!   still at random addresses.
//!
//! Tests, benches and whoever uses the library are linked as ever: all this goes to the linker of
//! the program alone. Where the C library or the unwinder is no archive, the others remain; where
//! this is not a native build for Linux with glibc, nothing changes.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The parts of the C library that the standard library asks for.
const C_LIBRARIES: [&str; 6] = ["c", "dl", "m", "pthread", "rt", "util"];

/// The unwinder, and what it needs.
const UNWINDER: &str = "-lgcc_eh -lgcc";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name| env::var(name).unwrap_or_default();
    let is_native = variable("HOST") == variable("TARGET");
    let has_shared_libraries = variable("CARGO_CFG_TARGET_OS") == "linux"
        && variable("CARGO_CFG_TARGET_ENV") == "gnu"
        && !variable("CARGO_CFG_TARGET_FEATURE").contains("crt-static");
    if !(is_native && has_shared_libraries && linker_has("gcc_eh") && linker_has("gcc")) {
        return Ok(());
    }
    // Of its own for what it holds, so that no script of an earlier build is found.
    let output = PathBuf::from(env::var("OUT_DIR")?);
    let mut scripts = vec![("gcc_s", format!("GROUP ( {UNWINDER} )\n"))];
    let directory = if C_LIBRARIES.into_iter().all(linker_has) {
        scripts.extend(C_LIBRARIES.map(|library| (library, c_library_script(library))));
        println!("cargo::rustc-link-arg-bins=-static");
        output.join("link-static")
    } else {
        output.join("link")
    };
    fs::create_dir_all(&directory)?;
    for (library, script) in scripts {
        fs::write(directory.join(format!("lib{library}.so")), script)?;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", directory.display());
    println!("cargo::rustc-link-arg-bins=-no-pie");
    Ok(())
}

/// Sends the linker to the archive. What ends a thread needs the unwinder, which needs the C
/// library.
fn c_library_script(library: &str) -> String {
    format!("GROUP ( -l:lib{library}.a {UNWINDER} )\n")
}

/// Whether the C compiler that links Rust programs knows where the archive of this library is.
fn linker_has(library: &str) -> bool {
    // Set by cargo where its configuration names one.
    let compiler = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let output = Command::new(compiler)
        .arg(format!("-print-file-name=lib{library}.a"))
        .output();
    output.is_ok_and(|output| {
        let answer = String::from_utf8_lossy(&output.stdout);
        Path::new(answer.trim()).is_absolute()
    })
}
