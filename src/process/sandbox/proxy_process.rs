//! The process that connects a command in a workspace to domains: it stays outside of the namespaces.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;

use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::descriptors::close_all_but;
use super::handover::{receive, send};
use super::namespace::SandboxError;
use super::signals::Signals;
use crate::process::forbid_inspection;
use crate::process::network::{Domains, ProxyStarter};

/// A proxy in a process of its own, which ends with this value, and with this process.
pub(super) struct ProxyProcess {
    child: libc::pid_t,
    socket: UnixStream,
}

/// The message with the socket, and the answer that the proxy runs.
const START: &str = "start";
const STARTED: &str = "started";

impl ProxyProcess {
    /// Forks the process from this one, which must have one thread.
    ///
    /// # Errors
    /// Resources are exhausted.
    pub(super) fn fork(start: ProxyStarter, domains: &Domains) -> Result<Self, SandboxError> {
        let failed = |error: io::Error| SandboxError::new("start the proxy", error);
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        // SAFETY: this process has one thread, so the child can do anything that this process can.
        match unsafe { libc::fork() } {
            -1 => Err(failed(io::Error::last_os_error())),
            0 => {
                drop(socket);
                // The other process notices the end.
                let _ = run(&theirs, start, domains);
                // SAFETY: ends this process only.
                unsafe { libc::_exit(0) }
            }
            child => Ok(Self { child, socket }),
        }
    }

    /// Starts the proxy for the clients of a socket.
    ///
    /// # Errors
    /// It cannot be started.
    pub(super) fn serve(&self, listener: &TcpListener) -> Result<(), SandboxError> {
        let failed = |error: io::Error| SandboxError::new("start the proxy", error);
        send(&self.socket, START, Some(listener)).map_err(failed)?;
        match receive(&self.socket).map_err(failed)? {
            (answer, _) if answer == STARTED => Ok(()),
            (reason, _) => Err(failed(io::Error::other(reason))),
        }
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        // SAFETY: system calls on plain numbers, about a child that was not waited for.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
        }
    }
}

/// Runs the proxy until the other process ends. Signals for the command do not end it.
fn run(socket: &UnixStream, start: ProxyStarter, domains: &Domains) -> io::Result<()> {
    // SAFETY: a system call on plain numbers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    forbid_inspection();
    Signals::block()?;
    // Those who read the output of the command wait for its end alone.
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    close_all_but(&[socket.as_raw_fd(), null.as_raw_fd()]);
    let listener = receive(socket)?.1.ok_or(io::ErrorKind::InvalidData)?;
    let proxy = start(listener, domains);
    let answer = proxy
        .as_ref()
        .map_or_else(ToString::to_string, |_| STARTED.to_owned());
    send(socket, &answer, None)?;
    receive(socket).map(drop)
}
