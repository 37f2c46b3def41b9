//! Programs that tests write and execute.

use std::path::Path;
use std::process::Command;

/// Writes a program in another process: while this one had the file open for writing, children that
/// other tests start would inherit it, and the kernel would refuse to execute it (ETXTBSY).
pub(crate) fn executable(path: &Path, text: &str) {
    let script = "printf %s \"$1\" > \"$0\" && chmod +x \"$0\"";
    let mut shell = Command::new("sh");
    let written = shell.args(["-c", script]).arg(path).arg(text).status();
    assert!(written.unwrap().success());
}
