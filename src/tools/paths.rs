//! Which file a path in a tool's input means, and how a path is shown in a result.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::tool::AccessError;
use super::{Access, DecisionContext};
pub(super) use crate::permission::normalised;

/// As many symbolic links as the kernel follows before it gives up.
const LINK_LIMIT: usize = 40;

/// The absolute path that `text` means: `~` is the home directory of the session's environment, a
/// relative path starts in the session's directory, `.` and `..` are removed lexically.
pub(super) fn absolute(text: &str, context: &DecisionContext) -> PathBuf {
    let home = context.environment.text("HOME").map(Path::new);
    let path = match (text.strip_prefix('~'), home) {
        (Some(""), Some(home)) => home.to_path_buf(),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(text),
    };
    normalised(&context.directory.join(path))
}

/// The same of a path that may be left out for the session's directory.
pub(super) fn named_or_here(text: Option<&str>, context: &DecisionContext) -> PathBuf {
    text.map_or_else(|| context.directory.clone(), |path| absolute(path, context))
}

/// The one name of what `path` (absolute) leads to: every link on the way is followed, also one
/// that dangles. What does not exist yet keeps its spelling below the deepest directory that does.
///
/// # Errors
/// Links in a circle, a file used as a directory, no permission to look.
pub(super) fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = normalised(path);
    let mut missing: Vec<OsString> = Vec::new();
    let mut links = 0;
    loop {
        match path.canonicalize() {
            Ok(found) => {
                return Ok(missing
                    .into_iter()
                    .rev()
                    .fold(found, |path, name| path.join(name)));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(error) => {
                if let Ok(target) = path.read_link() {
                    links += 1;
                    if links > LINK_LIMIT {
                        return Err(error);
                    }
                    let parent = path.parent().unwrap_or(Path::new("/"));
                    path = normalised(&parent.canonicalize()?.join(target));
                } else {
                    let Some(name) = path.file_name() else {
                        return Err(error);
                    };
                    missing.push(name.to_owned());
                    path.pop();
                }
            }
        }
    }
}

/// The same; `None` if it cannot be told.
pub(super) fn real_path(path: &Path) -> Option<PathBuf> {
    resolve_links(path).ok()
}

/// What a call touches that reads the file or the tree at `path` (absolute).
pub(super) fn reading(path: &Path) -> Result<Access, AccessError> {
    resolve_links(path)
        .map(Access::reads)
        .map_err(|error| unresolved(path, &error))
}

/// What a call touches that changes the file at `path` (absolute).
pub(super) fn writing(path: &Path) -> Result<Access, AccessError> {
    resolve_links(path)
        .map(Access::writes)
        .map_err(|error| unresolved(path, &error))
}

fn unresolved(path: &Path, error: &io::Error) -> AccessError {
    AccessError(format!("{}: {error}", path.display()))
}

/// `path` as a result shows it: relative to `directory` when it lies below it.
pub(super) fn shown(path: &Path, directory: &Path) -> String {
    match path.strip_prefix(directory) {
        Ok(relative) if !relative.as_os_str().is_empty() => relative.to_string_lossy(),
        _ => path.to_string_lossy(),
    }
    .into_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
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
            assert_eq!(absolute(text, context), expected, "{text}");
        }
    }

    #[test]
    fn two_names_of_one_file_resolve_to_the_same() {
        let session = Session::new();
        session.write("real/file", "x");
        symlink(session.path("real"), session.path("alias")).unwrap();
        symlink("real/file", session.path("direct")).unwrap();
        let real = session.path("real/file");
        for name in ["real/file", "alias/file", "direct"] {
            assert_eq!(resolve_links(&session.path(name)).unwrap(), real, "{name}");
        }
    }

    #[test]
    fn what_does_not_exist_keeps_its_spelling_below_what_does() {
        let session = Session::new();
        session.write("real/file", "x");
        symlink("real", session.path("alias")).unwrap();
        symlink("real/future", session.path("dangling")).unwrap();
        symlink("circle", session.path("circle")).unwrap();
        let resolved = |name: &str| resolve_links(&session.path(name)).ok();
        assert_eq!(resolved("alias/new/a"), Some(session.path("real/new/a")));
        assert_eq!(resolved("dangling"), Some(session.path("real/future")));
        assert_eq!(resolved("circle"), None);
        assert_eq!(resolved("real/file/below"), None);
    }

    #[test]
    fn paths_below_the_directory_are_shown_relative() {
        assert_eq!(shown(Path::new("/a/b/c"), Path::new("/a")), "b/c");
        assert_eq!(shown(Path::new("/a"), Path::new("/a")), "/a");
        assert_eq!(shown(Path::new("/ab/c"), Path::new("/a")), "/ab/c");
    }

    proptest! {
        #[test]
        fn normalising_is_idempotent_and_leaves_no_dots(text in "/?([a-c.]{0,3}/){0,6}[a-c.]{0,3}") {
            let once = normalised(&Path::new("/base").join(text));
            prop_assert!(once.is_absolute());
            prop_assert_eq!(normalised(&once), once.clone());
            prop_assert!(!once.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir)));
        }
    }
}
