//! Output of commands over many inputs, recorded in `tests/data/recorded`.
//!
//! `TURNPIPE_UPDATE=1 cargo test recorded` writes the files again. Review the difference before you
//! commit.

use std::fs;
use std::path::Path;

/// Whether the files are to be written again.
pub(crate) fn is_updated() -> bool {
    std::env::var_os("TURNPIPE_UPDATE").is_some()
}

/// Compares the output with the recorded one, or records it.
pub(crate) fn compare(name: &str, output: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/recorded")
        .join(name);
    if is_updated() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, output).unwrap();
        return;
    }
    let recorded = fs::read_to_string(&file).unwrap();
    let lines = recorded.lines().zip(output.lines());
    let differing: Vec<_> = lines.filter(|(old, new)| old != new).take(5).collect();
    assert!(
        recorded == output,
        "{name} differs from the recorded output: {differing:#?}\n\
         `TURNPIPE_UPDATE=1 cargo test recorded` records it again"
    );
}
