//! Directories for temporary files and state.

use std::io;
use std::path::Path;

/// A directory in memory, which containers have even if they have no `/tmp`.
const SHARED_MEMORY: &str = "/dev/shm";

/// Calls `create` with the directory of temporary files, or with one in memory if that fails.
///
/// # Errors
/// `create` failed for both. Names the first directory.
pub fn create_temporary<Created>(
    create: impl Fn(&Path) -> io::Result<Created>,
) -> io::Result<Created> {
    let directory = tempfile::env::temp_dir();
    create(&directory).or_else(|error| {
        create(Path::new(SHARED_MEMORY)).map_err(|_| unwritable_error(&directory, &error, "TMPDIR"))
    })
}

/// Returns the error about a directory that cannot be written to, and the `setting` that names another.
pub fn unwritable_error(directory: &Path, error: &io::Error, setting: &str) -> io::Error {
    let directory = directory.display();
    let reason = error.to_string();
    // `tempfile` adds the random name of the file, and its error type is private.
    let reason = reason.split(" at path ").next().unwrap_or_default();
    io::Error::other(format!(
        "cannot write to {directory}: {reason}; set {setting} to a writable directory"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_that_was_asked_for_is_named() {
        let usual = tempfile::env::temp_dir();
        let nothing = |directory: &Path| -> io::Result<()> {
            let name = format!("{} is full", directory.display());
            Err(io::Error::other(name))
        };
        let (name, error) = (usual.display(), create_temporary(nothing).unwrap_err());
        let expected =
            format!("cannot write to {name}: {name} is full; set TMPDIR to a writable directory");
        assert_eq!(error.to_string(), expected);
        let in_memory = create_temporary(|directory| {
            if directory == usual {
                Err(io::Error::other(""))
            } else {
                Ok(directory.to_owned())
            }
        });
        assert_eq!(in_memory.unwrap(), Path::new(SHARED_MEMORY));
        let absent = Path::new("/nonexistent");
        let error = tempfile::tempdir_in(absent).unwrap_err();
        let error = unwritable_error(absent, &error, "TMPDIR").to_string();
        assert!(
            error.ends_with(" (os error 2); set TMPDIR to a writable directory"),
            "{error}"
        );
    }
}
