//! Turns the tables of commands into sorted arrays, so that a process that looks up a few words builds no maps of all, and
//! says with `cfg(sandbox)` where sandboxes are implemented.

use std::env;
use std::fs;
use std::io;
use std::path::PathBuf;

#[path = "src/shell/rows.rs"]
mod table_rows;

fn main() -> io::Result<()> {
    println!("cargo::rustc-check-cfg=cfg(sandbox)");
    let is = |name, value| env::var(name).is_ok_and(|found| found == value);
    // The tables of system calls have the numbers of these.
    let is_known = ["x86_64", "aarch64"].map(|known| is("CARGO_CFG_TARGET_ARCH", known));
    if is("CARGO_CFG_TARGET_OS", "linux") && is_known.contains(&true) {
        println!("cargo::rustc-cfg=sandbox");
        println!("cargo::metadata=sandbox=1");
    }
    println!("cargo::rerun-if-changed=src/shell/rows.rs");
    println!("cargo::rerun-if-changed=src/shell/tables");
    let tables = ["commands", "git", "wrappers", "launchers"];
    tables.into_iter().try_for_each(write_commands)
}

/// Writes a table of commands by their names.
fn write_commands(table: &str) -> io::Result<()> {
    let text = fs::read_to_string(format!("src/shell/tables/{table}.txt"))?;
    let rows = table_rows::Rows::parse(&text).map_err(io::Error::other)?;
    let names: Vec<_> = rows.names.into_iter().collect();
    let count = rows.lines.len();
    let rows = rows.lines.iter();
    let rows = rows.map(|lines| format!("Row::new(&{lines:?}),\n"));
    let rows = rows.collect::<String>();
    let table_text = format!(
        "{{ static ROWS: [Row; {count}] = [{rows}]; Table {{ names: &{names:?}, rows: &ROWS }} }}"
    );
    let directory: PathBuf = env::var_os("OUT_DIR").unwrap_or_default().into();
    fs::write(directory.join(format!("shell-{table}.rs")), table_text)
}
