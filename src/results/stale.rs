//! Files that changed after the model read them.

use std::path::PathBuf;

/// Most files named in a hint.
const NAMED: usize = 10;

/// The note for the model when a call changed files that it had read: `before` and `after` are the
/// files whose state on disk differed from the remembered one before and after the call. `None`
/// if the call changed none of them.
pub fn stale_read_hint(before: &[PathBuf], after: &[PathBuf]) -> Option<String> {
    let changed: Vec<String> = after
        .iter()
        .filter(|path| !before.contains(path))
        .map(|path| path.display().to_string())
        .collect();
    if changed.is_empty() {
        return None;
    }
    let named = changed[..changed.len().min(NAMED)].join(", ");
    let more = match changed.len().saturating_sub(NAMED) {
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
