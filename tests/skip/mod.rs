//! Tests that cannot run on every machine, and tests that take minutes.
//!
//! A test that needs a program or a kernel feature which a machine may lack calls [`is_missing`] or [`skip`], and returns.
//! The last test target of `cargo test` (`crates/guard/tests/skips.rs`) prints how many were skipped, for lack of what.

#![allow(dead_code, reason = "each test target uses a part")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

mod sample;

#[allow(unused_imports, reason = "each test target uses a part")]
pub(crate) use sample::{is_full_run, sample};

/// Returns the directories in which tests and their children look for programs: the absolute ones of `PATH`.
pub(crate) fn search_path() -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    std::env::join_paths(directories)
        .unwrap()
        .into_string()
        .unwrap()
}

/// Whether this machine lacks a program; then the running test is recorded as skipped.
pub(crate) fn is_missing(program: &str) -> bool {
    let is_installed =
        std::env::split_paths(&search_path()).any(|directory| directory.join(program).is_file());
    if !is_installed {
        skip(program);
    }
    !is_installed
}

/// Records that the running test is skipped for lack of `missing`. Panics with `TURNPIPE_TEST_ALL=1`, so that a gate
/// never passes by skipping.
pub(crate) fn skip(missing: &str) {
    // Past the harness, which hides what a test that passes prints.
    let _ = writeln!(std::io::stderr(), "skipped: {missing}");
    assert!(
        !is_full_run(),
        "TURNPIPE_TEST_ALL is set, and this machine lacks {missing}"
    );
    let file = skip_log();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut file = fs::File::options()
        .create(true)
        .append(true)
        .open(file)
        .unwrap();
    file.write_all(format!("{missing}\n").as_bytes()).unwrap();
}

/// Returns the file with one line per skipped test of this run. All test targets of a run have the same parent, `cargo`;
/// its start time tells it from an earlier process with its id.
pub(crate) fn skip_log() -> PathBuf {
    let run = std::os::unix::process::parent_id();
    let stat = fs::read_to_string(format!("/proc/{run}/stat")).unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let began = fields.split_whitespace().nth(19).unwrap_or_default();
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("skips/{run}-{began}"))
}
