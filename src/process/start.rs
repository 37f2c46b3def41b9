//! Everything a spawner thread needs to start one child, prepared by the calling thread.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::process::Pid;

use super::exec_strings::{ExecStrings, exec_string};
use super::pipes::ChildEnds;
use super::program_path::find_program;
use super::{Command, SpawnError};

/// A child that is ready to be started.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) program: CString,
    pub(super) arguments: ExecStrings,
    pub(super) environment: ExecStrings,
    pub(super) directory: CString,
    pub(super) ends: ChildEnds,
}

/// A child that was just started.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) leader: Pid,
    /// Becomes readable when it ends; `None` where the start made none.
    pub(super) descriptor: Option<OwnedFd>,
}

impl Start {
    /// # Errors
    /// The program cannot be found, or a string contains a NUL byte.
    pub(super) fn prepare(command: &Command, ends: ChildEnds) -> Result<Self, SpawnError> {
        let path = find_program(&command.program, &command.environment, &command.directory)
            .ok_or_else(|| not_found(command))?;
        let system = |source| system_error(command, source);
        Ok(Self {
            program: exec_string(path.as_os_str()).map_err(system)?,
            arguments: arguments(command).map_err(system)?,
            environment: environment(command).map_err(system)?,
            directory: exec_string(command.directory.as_os_str()).map_err(system)?,
            ends,
        })
    }
}

/// What a failure to start means. The system does not say whether the directory or the program
/// was the trouble, so the directory is looked at again.
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

fn arguments(command: &Command) -> io::Result<ExecStrings> {
    let bytes = command
        .arguments
        .iter()
        .map(|text| text.len() + 1)
        .sum::<usize>();
    let mut strings = ExecStrings::with_capacity(
        command.arguments.len() + 1,
        bytes + command.program.len() + 1,
    );
    strings.push(&[&command.program])?;
    for argument in &command.arguments {
        strings.push(&[argument])?;
    }
    Ok(strings)
}

fn environment(command: &Command) -> io::Result<ExecStrings> {
    let variables = &command.environment;
    let bytes = variables
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2)
        .sum();
    let mut strings = ExecStrings::with_capacity(variables.len(), bytes);
    for (name, value) in variables.iter() {
        strings.push(&[name, OsStr::new("="), value])?;
    }
    Ok(strings)
}
