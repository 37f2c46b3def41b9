//! The format of Codex's `apply_patch`.

/// How a patch names the files that it changes.
const FILE_HEADERS: [&str; 4] = [
    "*** Add File: ",
    "*** Update File: ",
    "*** Delete File: ",
    "*** Move to: ",
];

/// Returns the names of the files that a patch in the format of `apply_patch` adds, changes, deletes or
/// moves to, in order; nothing for other texts.
pub fn patched_files(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().filter_map(|line| {
        let mut headers = FILE_HEADERS.iter();
        let file = headers.find_map(|header| line.trim_start().strip_prefix(header));
        file.map(str::trim)
    })
}
