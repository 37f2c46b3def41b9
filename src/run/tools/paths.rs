//! Paths in the input of tools, and in their results.

use std::path::{Path, PathBuf};

use super::context::DecisionContext;
pub(super) use crate::permission::normalise;

/// Returns the absolute path: `~` is the home directory of the session's environment, relative paths are
/// relative to the session's directory, and `.` and `..` are resolved lexically. In a workspace, a path in the directory
/// of temporary files leads to the private one of the workspace.
pub(super) fn absolute_path(text: &str, context: &DecisionContext) -> PathBuf {
    let home = context.environment.text("HOME").map(Path::new);
    let path = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(text),
    };
    let absolute = normalise(&context.directory.join(path));
    let sandbox = context.sandbox.as_ref();
    let private = sandbox.and_then(|sandbox| sandbox.sandbox.private_path(&absolute));
    private.unwrap_or(absolute)
}

/// Like [`absolute_path`]; the default is the session's directory.
pub(super) fn path_or_current(text: Option<&str>, context: &DecisionContext) -> PathBuf {
    text.map_or_else(
        || context.directory.clone(),
        |path| absolute_path(path, context),
    )
}

/// Returns `path` for display: relative to `directory` if it is below it.
pub(super) fn display_path(path: &Path, directory: &Path) -> String {
    match path.strip_prefix(directory) {
        Ok(relative) if !relative.as_os_str().is_empty() => relative.to_string_lossy(),
        _ => path.to_string_lossy(),
    }
    .into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::super::test_context::Session;
    use super::*;

    #[test]
    fn paths_become_absolute() {
        let session = Session::new();
        let context = &session.context;
        let base = session.path("");
        let table = [
            ("a.txt", base.join("a.txt")),
            ("./x/../b", base.join("b")),
            ("/etc/../tmp/./c", PathBuf::from("/tmp/c")),
            ("/../..", PathBuf::from("/")),
            ("~", PathBuf::from("/home/somebody")),
            ("~/d", PathBuf::from("/home/somebody/d")),
            ("~//d", PathBuf::from("/home/somebody/d")),
            ("~other/d", base.join("~other/d")),
        ];
        for (text, expected) in table {
            assert_eq!(absolute_path(text, context), expected, "{text}");
        }
    }

    #[test]
    fn paths_below_the_directory_are_shown_relative() {
        assert_eq!(display_path(Path::new("/a/b/c"), Path::new("/a")), "b/c");
        assert_eq!(display_path(Path::new("/a"), Path::new("/a")), "/a");
        assert_eq!(display_path(Path::new("/ab/c"), Path::new("/a")), "/ab/c");
    }

    proptest! {
        #[test]
        fn normalising_is_idempotent_and_leaves_no_dots(text in "/?([a-c.]{0,3}/){0,6}[a-c.]{0,3}") {
            let once = normalise(&Path::new("/base").join(text));
            prop_assert!(once.is_absolute());
            prop_assert_eq!(normalise(&once), once.clone());
            prop_assert!(!once.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir)));
        }
    }
}
