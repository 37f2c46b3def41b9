//! Which file a program name means.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where programs are looked for if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Finds `program` the way `execvp` in the child would: a name with a slash is a path, taken from
/// the child's `directory` if relative; any other name is looked up in the `PATH` of
/// `environment`, whose empty and relative entries mean `directory` and places beneath it.
pub(super) fn find_program<'a>(
    program: &'a OsStr,
    environment: &[(OsString, OsString)],
    directory: &Path,
) -> Option<Cow<'a, Path>> {
    if program.is_empty() {
        return None;
    }
    if program.as_bytes().contains(&b'/') {
        return Some(Cow::Borrowed(Path::new(program)));
    }
    let path = environment
        .iter()
        .find(|(name, _)| name == "PATH")
        .map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value);
    // The child enters the directory first, so a relative candidate would miss.
    let directory = std::path::absolute(directory).ok()?;
    std::env::split_paths(path)
        .map(|entry| directory.join(entry).join(program))
        .find(is_executable)
        .map(Cow::<Path>::Owned)
}

fn is_executable(candidate: &PathBuf) -> bool {
    use rustix::fs::{Access, FileType, access, stat};
    access(candidate, Access::EXEC_OK).is_ok()
        && stat(candidate)
            .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(path: &Path, mode: u32) {
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn find(program: &str, path: Option<&str>, directory: &Path) -> Option<PathBuf> {
        let environment: Vec<(OsString, OsString)> = path
            .map(|path| ("PATH".into(), path.into()))
            .into_iter()
            .collect();
        find_program(OsStr::new(program), &environment, directory).map(Cow::into_owned)
    }

    #[test]
    fn the_first_executable_file_of_the_path_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for folder in ["a", "b", "c", "a/tool"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        place(&root.join("b/tool"), 0o644);
        place(&root.join("c/tool"), 0o755);
        place(&root.join("here"), 0o755);
        let tool = Some(root.join("c/tool"));
        let absolute = format!("{0}/a:{0}/b:{0}/c", root.display());
        assert_eq!(find("tool", Some(&absolute), root), tool);
        assert_eq!(find("tool", Some("missing:a:b:c"), root), tool);
        assert_eq!(find("here", Some("a:"), root), Some(root.join("here")));
        assert_eq!(find("here", Some("a:b"), root), None);
        assert_eq!(find("", Some("a:c"), root), None);
    }

    #[test]
    fn a_name_with_a_slash_is_not_looked_up() {
        let room = tempfile::tempdir().unwrap();
        let found = find("./tool", Some("/bin"), room.path());
        assert_eq!(found, Some(PathBuf::from("./tool")));
    }

    #[test]
    fn without_a_path_the_usual_places_are_searched() {
        assert!(find("sh", None, Path::new("/")).is_some());
    }
}
