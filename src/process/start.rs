//! All that is needed to start one child, prepared by the calling thread.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::pipes::ChildEnds;
use super::program_path::find_program;
use super::{Command, SpawnError};

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
    /// # Errors
    /// The program cannot be found, or a string contains a NUL byte.
    pub(super) fn prepare(command: &Command, ends: ChildEnds) -> Result<Self, SpawnError> {
        let path = find_program(&command.program, &command.environment, &command.directory)
            .ok_or_else(|| not_found(command))?;
        let strings = || -> io::Result<Self> {
            let arguments = std::iter::once(&command.program).chain(&command.arguments);
            let environment = command.environment.iter();
            Ok(Self {
                program: c_string(path.as_os_str())?,
                arguments: arguments
                    .map(|argument| c_string(argument))
                    .collect::<io::Result<_>>()?,
                environment: environment
                    .map(|(name, value)| variable(name, value))
                    .collect::<io::Result<_>>()?,
                directory: c_string(command.directory.as_os_str())?,
                ends,
            })
        };
        strings().map_err(|source| system_error(command, source))
    }

    /// Gives the child a variable, in place of one of the same name.
    ///
    /// # Errors
    /// The value contains a NUL byte.
    pub(super) fn set_variable(&mut self, name: &str, value: &OsStr) -> io::Result<()> {
        let is_other = |entry: &CString| {
            let rest = entry.as_bytes().strip_prefix(name.as_bytes());
            rest.is_none_or(|rest| rest.first() != Some(&b'='))
        };
        self.environment.retain(is_other);
        self.environment.push(variable(name.as_ref(), value)?);
        Ok(())
    }
}

/// What a failure to start means. The system does not say whether the directory or the program
/// was the cause, so the directory is tried again.
pub(super) fn start_error(command: &Command, source: io::Error) -> SpawnError {
    if let Err(source) = enterable(&command.directory) {
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

/// A failure that is neither the program's nor the directory's.
pub(super) fn system_error(command: &Command, source: io::Error) -> SpawnError {
    SpawnError::System {
        program: command.program.clone(),
        source,
    }
}

fn not_found(command: &Command) -> SpawnError {
    SpawnError::NotFound {
        program: command.program.clone(),
    }
}

fn enterable(directory: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};
    if !std::fs::metadata(directory)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(access(directory, Access::EXEC_OK)?)
}

/// A string for the kernel.
///
/// # Errors
/// It contains a NUL byte.
pub(super) fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| contains_nul())
}

/// An entry of an environment.
///
/// # Errors
/// It contains a NUL byte.
fn variable(name: &OsStr, value: &OsStr) -> io::Result<CString> {
    let mut entry = OsString::with_capacity(name.len() + value.len() + 2);
    for part in [name, OsStr::new("="), value] {
        entry.push(part);
    }
    CString::new(entry.into_vec()).map_err(|_| contains_nul())
}

fn contains_nul() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "contains a NUL byte")
}

#[cfg(test)]
mod tests {
    use super::super::pipes::PipeMaker;
    use super::super::{Capture, Limits, Stdin};
    use super::*;

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
        let (theirs, _ours) = PipeMaker::default().make(command).unwrap();
        Start::prepare(command, theirs)
    }

    #[test]
    fn a_variable_is_replaced_or_added() {
        let mut start = prepare(&command()).unwrap();
        assert_eq!(start.arguments, [c"/bin/sh".into(), CString::default()]);
        for (name, value) in [("TMPDIR", "/private"), ("NEW", "")] {
            start.set_variable(name, value.as_ref()).unwrap();
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
}
