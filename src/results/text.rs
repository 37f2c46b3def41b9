//! Fixed texts in results.

use std::path::PathBuf;

/// Most files that a hint names.
const MAX_NAMED: usize = 10;

/// The text for an empty result. A model might end its turn after an empty one.
pub fn empty_result(tool: &str) -> String {
    format!("({tool} completed with no output)")
}

/// An error that is not the tool's own.
pub fn tool_use_error(message: &str) -> String {
    format!("<tool_use_error>{message}</tool_use_error>")
}

/// A hint for the model that a call changed files which it has read. `before` and `after` are the stale files
/// before and after the call. `None` if the call changed none.
pub fn stale_read_hint(before: &[PathBuf], after: &[PathBuf]) -> Option<String> {
    let changed: Vec<String> = after
        .iter()
        .filter(|path| !before.contains(path))
        .map(|path| path.display().to_string())
        .collect();
    if changed.is_empty() {
        return None;
    }
    let named = changed[..changed.len().min(MAX_NAMED)].join(", ");
    let more = match changed.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "This call changed files that were read before: {named}{more}. Read them again before relying on their content."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newly_changed_files_are_named() {
        let before = [PathBuf::from("/old")];
        assert_eq!(stale_read_hint(&before, &before), None);
        let after = [PathBuf::from("/new"), PathBuf::from("/old")];
        let hint = stale_read_hint(&before, &after).unwrap();
        assert!(hint.contains("/new") && !hint.contains("/old"), "{hint}");
    }
}
