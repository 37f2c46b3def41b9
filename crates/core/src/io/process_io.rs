//! The [`Io`] of this process, and paths that lead to other files in each process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, LineWriter};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use rustix::termios::tcgetsid;

use super::{
    Clock, Environment, FixedClock, Ids, InputStream, Io, Messages, OutputStream, RandomIds,
    Screen, SeededIds, SystemClock, TerminalFacts,
};

/// Fixes the clock: an RFC 3339 time. Every duration is then zero.
const CLOCK_VARIABLE: &str = "TURNPIPE_CLOCK";

/// Fixes the sequence of new ids: a whole number from 0 to 2^64 - 1.
const ID_SEED_VARIABLE: &str = "TURNPIPE_ID_SEED";

/// Maximum number of links on a path, as in Linux.
const MAX_LINKS: usize = 40;

/// Whether standard output was open at the start. The runtime replaces a closed one by `/dev/null`, so the
/// binary checks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StdoutAtStart {
    /// Open, so that records can be written.
    Open,
    /// Closed (`>&-`): nothing runs.
    Closed,
}

/// An invalid environment variable.
#[derive(Debug, thiserror::Error)]
#[error("{variable}: {reason}: {value}")]
pub struct UnusableVariable {
    variable: &'static str,
    reason: &'static str,
    value: String,
}

impl Io {
    /// Returns the streams, clock, ids and environment of this process. Clock and ids are fixed by
    /// `TURNPIPE_CLOCK` and `TURNPIPE_ID_SEED`.
    ///
    /// # Errors
    /// One of these variables is invalid.
    pub fn from_process(stdout: StdoutAtStart) -> Result<Self, UnusableVariable> {
        let environment = Environment::from_process();
        let screen = Screen::from_process();
        Ok(Self {
            stdin: standard_input(),
            stdout: standard_output(stdout, &screen),
            stdout_watch: io::stdout().as_fd().try_clone_to_owned().ok(),
            messages: Messages::from_process(&screen),
            screen,
            terminal: TerminalFacts {
                stdin: io::stdin().is_terminal(),
                stdout: io::stdout().is_terminal(),
                stderr: io::stderr().is_terminal(),
                columns: columns(),
            },
            clock: clock(&environment)?,
            ids: ids(&environment, &stage())?,
            environment,
        })
    }
}

impl Environment {
    /// Reads the environment of this process.
    pub fn from_process() -> Self {
        std::env::vars_os().collect()
    }
}

impl Messages {
    /// Writes messages to standard error, each line in one write.
    pub fn from_process(screen: &Screen) -> Self {
        if io::stderr().is_terminal() {
            Self::new(LineWriter::new(screen.line_writer()))
        } else {
            Self::new(LineWriter::new(io::stderr()))
        }
    }
}

impl Screen {
    /// Returns the screen of standard error, else of standard output, if that is a terminal.
    pub fn from_process() -> Self {
        let streams =
            [io::stderr().as_fd(), io::stdout().as_fd()].map(|stream| stream.try_clone_to_owned());
        let mut streams = streams.into_iter().flatten().map(File::from);
        Self::new(streams.find(IsTerminal::is_terminal))
    }
}

/// Returns the width of the terminal; `None` if standard output is not a terminal or its size is unknown.
pub fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

fn standard_input() -> InputStream {
    // A descriptor that cannot be duplicated is closed.
    let duplicate = io::stdin().as_fd().try_clone_to_owned();
    duplicate.map_or(InputStream::Closed, |descriptor| {
        InputStream::Descriptor(File::from(descriptor))
    })
}

fn standard_output(at_start: StdoutAtStart, screen: &Screen) -> OutputStream {
    let (stderr, stdout) = (io::stderr(), io::stdout());
    // A terminal may have several names, but only one terminal controls the process.
    let is_same = || tcgetsid(&stdout).is_ok() == tcgetsid(&stderr).is_ok();
    let is_on_screen = stdout.is_terminal() && (!stderr.is_terminal() || is_same());
    match (at_start, stdout.as_fd().try_clone_to_owned()) {
        (StdoutAtStart::Open, Ok(_)) if is_on_screen => {
            OutputStream::Sink(Box::new(screen.writer()))
        }
        (StdoutAtStart::Open, Ok(descriptor)) => {
            OutputStream::Sink(Box::new(File::from(descriptor)))
        }
        (StdoutAtStart::Closed, _) | (_, Err(_)) => OutputStream::Closed,
    }
}

fn clock(environment: &Environment) -> Result<Arc<dyn Clock>, UnusableVariable> {
    Ok(
        match parse_variable::<Timestamp>(environment, CLOCK_VARIABLE, "not an RFC 3339 time")? {
            Some(time) => Arc::new(FixedClock(time)),
            None => Arc::new(SystemClock::default()),
        },
    )
}

/// Returns the value of a variable, if it is set.
fn parse_variable<T: FromStr>(
    environment: &Environment,
    variable: &'static str,
    reason: &'static str,
) -> Result<Option<T>, UnusableVariable> {
    let parse = |value: &str| {
        value.parse().map_err(|_| UnusableVariable {
            variable,
            reason,
            value: value.to_owned(),
        })
    };
    environment.text(variable).map(parse).transpose()
}

/// Returns the words of the command. Stages of a pipeline share their environment, and must not generate
/// the same ids from the same seed.
fn stage() -> String {
    std::env::args_os()
        .skip(1)
        .take_while(|word| !word.to_string_lossy().starts_with('-'))
        .take(2)
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

fn ids(environment: &Environment, stage: &str) -> Result<Arc<dyn Ids>, UnusableVariable> {
    let reason = "not a whole number from 0 to 18446744073709551615";
    Ok(
        match parse_variable(environment, ID_SEED_VARIABLE, reason)? {
            Some(seed) => Arc::new(SeededIds::for_stage(seed, stage)),
            None => Arc::new(RandomIds),
        },
    )
}

/// Whether a path, or a link on it, leads to files that differ by process, wherever procfs is mounted.
pub fn is_per_process_path(path: &Path) -> bool {
    let parts = |path: &Path| -> Vec<OsString> {
        let components = path.components().rev();
        components.map(|part| part.as_os_str().to_owned()).collect()
    };
    let (mut left, mut reached, mut links) = (parts(path), PathBuf::new(), 0);
    while let Some(part) = left.pop() {
        if part == ".." {
            reached.pop();
        } else {
            reached.push(part);
        }
        let mut prefixes = ["/proc", "/dev/fd", "/dev/stdin"].iter();
        if links > MAX_LINKS || prefixes.any(|prefix| reached.starts_with(prefix)) {
            return true;
        }
        if let Ok(target) = reached.read_link() {
            links += 1;
            reached.pop();
            if is_procfs(rustix::fs::statfs(&reached)) {
                return true;
            }
            left.extend(parts(&target));
        }
    }
    is_procfs(rustix::fs::statfs(&reached))
}

/// Whether a file system, if its description could be read, is procfs, which only Linux has.
pub fn is_procfs(file_system: rustix::io::Result<rustix::fs::StatFs>) -> bool {
    // `PROC_SUPER_MAGIC`
    file_system.is_ok_and(|system| u64::try_from(system.f_type) == Ok(0x9fa0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(name: &str, value: &str) -> Environment {
        [(name, value)].into_iter().collect()
    }

    #[test]
    fn clock_and_ids_can_be_fixed() {
        let fixed = clock(&environment(CLOCK_VARIABLE, "2026-01-02T03:04:05Z")).unwrap();
        assert_eq!(fixed.now().to_string(), "2026-01-02T03:04:05Z");
        let seeded = ids(&environment(ID_SEED_VARIABLE, "7"), "run-tools").unwrap();
        assert_eq!(seeded.uuid(), SeededIds::for_stage(7, "run-tools").uuid());
    }

    #[test]
    fn invalid_values_are_refused() {
        let error = clock(&environment(CLOCK_VARIABLE, "noon")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "TURNPIPE_CLOCK: not an RFC 3339 time: noon"
        );
        assert!(
            ids(&environment(ID_SEED_VARIABLE, "-1"), "").is_err_and(|error| {
                error
                    .to_string()
                    .starts_with("TURNPIPE_ID_SEED: not a whole number")
            })
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_processes_are_recognized_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (target, link) in [
            ("/proc", "proc"),
            ("proc/self/environ", "environ"),
            ("/proc/self/cwd", "cwd"),
            ("/etc", "etc"),
        ] {
            std::os::unix::fs::symlink(target, path(link)).unwrap();
        }
        for (name, expected) in [
            ("proc", true),
            ("proc/cpuinfo", true),
            ("environ", true),
            ("cwd/x", true),
            ("proc/self/root/etc", true),
            ("etc/passwd", false),
            ("missing", false),
            ("", false),
        ] {
            assert_eq!(is_per_process_path(&path(name)), expected, "{name}");
        }
    }

    #[test]
    fn empty_values_are_ignored() {
        assert!(clock(&environment(CLOCK_VARIABLE, "")).is_ok());
        assert!(ids(&environment(ID_SEED_VARIABLE, ""), "").is_ok());
    }
}
