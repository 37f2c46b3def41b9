//! The rows of `tools.txt`, for the build script too.

/// Returns the words of each row, with those on the indented lines after it.
pub(super) fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    let mut lines = include_str!("tools.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .peekable();
    std::iter::from_fn(move || {
        let mut row: Vec<&str> = lines.next()?.split_whitespace().collect();
        while let Some(more) = lines.next_if(|line| line.starts_with(' ')) {
            row.extend(more.split_whitespace());
        }
        Some(row)
    })
}
