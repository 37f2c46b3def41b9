//! Prepares a child on the calling thread: its program, arguments, environment and descriptors.

use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::command::ChildEnds;
use super::{Command, SpawnError};

/// Search path if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A child that is ready to be started.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) program: CString,
    pub(super) arguments: Vec<CString>,
    /// Entries as `NAME=value`.
    pub(super) environment: Vec<CString>,
    pub(super) directory: CString,
    pub(super) ends: ChildEnds,
}

impl Start {
    /// Prepares a command.
    ///
    /// # Errors
    /// The program cannot be found, or a string contains a NUL byte.
    pub(super) fn prepare(command: &Command, ends: ChildEnds) -> Result<Self, SpawnError> {
        let path = find_program(&command.program, &command.environment, &command.directory)
            .ok_or_else(|| not_found(command))?;
        let convert = || -> io::Result<Self> {
            let words = std::iter::once(&command.program).chain(&command.arguments);
            let arguments = words.map(|word| c_string(word));
            let variables = command.environment.iter();
            let environment = variables.map(|(name, value)| environment_entry(name, value));
            Ok(Self {
                program: c_string(path.as_os_str())?,
                arguments: arguments.collect::<io::Result<_>>()?,
                environment: environment.collect::<io::Result<_>>()?,
                directory: c_string(command.directory.as_os_str())?,
                ends,
            })
        };
        convert().map_err(|source| system_error(command, source))
    }

    /// Sets a variable of the child.
    ///
    /// # Errors
    /// A string contains a NUL byte.
    pub(super) fn set_variable(&mut self, name: &OsStr, value: &OsStr) -> io::Result<()> {
        self.environment.retain(|entry| !is_entry_of(entry, name));
        self.environment.push(environment_entry(name, value)?);
        Ok(())
    }

    /// Whether the child has a variable.
    #[cfg(target_os = "linux")]
    pub(super) fn has_variable(&self, name: &OsStr) -> bool {
        let mut entries = self.environment.iter();
        entries.any(|entry| is_entry_of(entry, name))
    }
}

/// Whether an entry of an environment sets a variable.
fn is_entry_of(entry: &CString, name: &OsStr) -> bool {
    let rest = entry.as_bytes().strip_prefix(name.as_bytes());
    rest.is_some_and(|rest| rest.first() == Some(&b'='))
}

/// Converts an error of a start. The system does not report whether the directory or the program was the cause, so the
/// directory is checked again.
pub(super) fn start_error(command: &Command, source: io::Error) -> SpawnError {
    if let Err(source) = check_enterable(&command.directory) {
        return SpawnError::Directory {
            directory: command.directory.clone(),
            source,
        };
    }
    match source.kind() {
        io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory => not_found(command),
        _ => system_error(command, source),
    }
}

/// Creates the error for a failure that neither the program nor the directory caused.
pub(super) fn system_error(command: &Command, source: io::Error) -> SpawnError {
    SpawnError::System {
        program: command.program.clone(),
        source,
    }
}

/// Creates the error for a missing program.
fn not_found(command: &Command) -> SpawnError {
    SpawnError::NotFound {
        program: command.program.clone(),
    }
}

/// Checks that a directory can be entered.
fn check_enterable(directory: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(access(directory, Access::EXEC_OK)?)
}

/// Converts a string for the kernel.
///
/// # Errors
/// The string contains a NUL byte.
pub(super) fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| nul_error())
}

/// Creates an entry `NAME=value` of an environment.
///
/// # Errors
/// A string contains a NUL byte.
fn environment_entry(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let mut entry = OsString::with_capacity(name.len() + value.len() + 2);
    for part in [name, OsStr::new("="), value] {
        entry.push(part);
    }
    CString::new(entry.into_vec()).map_err(|_| nul_error())
}

/// Creates the error for a string that contains a NUL byte.
fn nul_error() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "contains a NUL byte")
}

/// Finds `program` as `execvp` would in the child. A name with a slash is a path, relative to `directory`. Other names
/// are looked up in the `PATH` of `environment`, whose relative entries, including the empty one, are relative to
/// `directory`.
fn find_program<'a>(
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
    let variable = environment.iter().find(|(name, _)| name == "PATH");
    let path = variable.map_or(OsStr::new(DEFAULT_PATH), |(_, value)| value);
    // The child enters the directory first, so a relative candidate would not be found.
    let directory = std::path::absolute(directory).ok()?;
    let entries = std::env::split_paths(path);
    let mut candidates = entries.map(|entry| directory.join(entry).join(program));
    candidates.find(is_executable).map(Cow::<Path>::Owned)
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

    use super::super::{Capture, Limits, Stdin};
    use super::*;
    use crate::process::command::PipeMaker;

    fn command() -> Command {
        let variables = [("TMPDIR", "/a"), ("TMPDIR2", "/b"), ("A", "TMPDIR=/c")];
        Command {
            program: "/bin/sh".into(),
            arguments: vec!["".into()],
            environment: variables
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            directory: "/".into(),
            stdin: Stdin::Null,
            report: None,
            capture: Capture::default(),
            limits: Limits::with_timeout(std::time::Duration::ZERO),
        }
    }

    fn prepare(command: &Command) -> Result<Start, SpawnError> {
        let (theirs, _ours) = PipeMaker::default().create_pipes(command).unwrap();
        Start::prepare(command, theirs)
    }

    #[test]
    fn a_variable_is_replaced_or_added() {
        let mut start = prepare(&command()).unwrap();
        assert_eq!(start.arguments, [c"/bin/sh".into(), CString::default()]);
        for (name, value) in [("TMPDIR", "/private"), ("NEW", "")] {
            start.set_variable(name.as_ref(), value.as_ref()).unwrap();
        }
        let expected = [c"TMPDIR2=/b", c"A=TMPDIR=/c", c"TMPDIR=/private", c"NEW="];
        assert_eq!(start.environment, expected.map(CString::from));
    }

    #[test]
    fn a_nul_byte_is_refused() {
        for part in 0..3 {
            let mut command = command();
            match part {
                0 => command.arguments = vec!["a\0b".into()],
                1 => command.environment = [("A".into(), "a\0b".into())].into(),
                _ => command.directory = "a\0b".into(),
            }
            assert!(prepare(&command).is_err(), "{part}");
        }
    }

    fn write_program(path: &Path, mode: u32) {
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
        write_program(&root.join("b/tool"), 0o644);
        write_program(&root.join("c/tool"), 0o755);
        write_program(&root.join("here"), 0o755);
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
        let dir = tempfile::tempdir().unwrap();
        let found = find("./tool", Some("/bin"), dir.path());
        assert_eq!(found, Some(PathBuf::from("./tool")));
    }

    #[test]
    fn without_path_the_default_is_searched() {
        assert!(find("sh", None, Path::new("/")).is_some());
    }
}
