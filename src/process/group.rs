//! One child and its process group: waiting for the child, signalling the group.
//!
//! A group's number may be given to somebody else once its leader was waited for and its members
//! are gone. So the group is addressed by the leader's pidfd where the kernel can (Linux 6.9), and
//! else by number, but then the leader is waited for only after the last signal.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use super::ExitStatus;
use super::escalation::Rest;
use super::start::Spawned;

/// A child that was started as the leader of its own group.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    descriptor: Option<OwnedFd>,
    addressing: Addressing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Addressing {
    #[cfg(target_os = "linux")]
    Descriptor,
    Number,
}

impl Group {
    /// Takes charge of a child that was just started and not yet waited for.
    pub(super) fn of(child: Spawned) -> Self {
        let Spawned { leader, descriptor } = child;
        #[cfg(target_os = "linux")]
        {
            use rustix::process::{PidfdFlags, pidfd_open};
            let descriptor = descriptor.or_else(|| pidfd_open(leader, PidfdFlags::empty()).ok());
            let addressing = descriptor
                .as_ref()
                .map_or(Addressing::Number, |descriptor| {
                    addressing(descriptor.as_fd())
                });
            Self {
                leader,
                descriptor,
                addressing,
            }
        }
        #[cfg(not(target_os = "linux"))]
        {
            drop(descriptor);
            Self::by_number(leader)
        }
    }

    /// The same where there are no pidfds.
    #[cfg(any(not(target_os = "linux"), test))]
    pub(super) fn by_number(leader: Pid) -> Self {
        Self {
            leader,
            descriptor: None,
            addressing: Addressing::Number,
        }
    }

    pub(super) fn leader(&self) -> Pid {
        self.leader
    }

    /// A descriptor that becomes readable when the leader ends; `None` if the system has none.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// How the leader ended, `None` while it runs. Must not be called again after it said so, but
    /// [`Group::reap`] must.
    pub(super) fn leader_status(&self) -> Option<ExitStatus> {
        let mut options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        if self.addressing == Addressing::Number {
            options |= WaitIdOptions::NOWAIT;
        }
        match waitid(WaitId::Pid(self.leader), options) {
            Ok(status) => status.map(|status| exit_status(&status)),
            Err(rustix::io::Errno::INTR) => None,
            // Somebody else in this process waited for it: the status is lost.
            Err(_) => Some(ExitStatus::Code(-1)),
        }
    }

    /// Lets go of the number of a leader that has ended. No signal may follow if it is addressed
    /// by number.
    pub(super) fn reap(&self) {
        if self.addressing == Addressing::Number {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            let _ = waitid(WaitId::Pid(self.leader), options);
        }
    }

    /// Sends a signal to every member. That nobody is left is no error.
    pub(super) fn signal(&self, signal: Signal) {
        match (self.addressing, &self.descriptor) {
            #[cfg(target_os = "linux")]
            (Addressing::Descriptor, Some(descriptor)) => {
                let _ = signal_group(descriptor.as_fd(), signal.as_raw());
            }
            _ => {
                let _ = rustix::process::kill_process_group(self.leader, signal);
            }
        }
    }

    /// Whether the group has living members besides its leader, which must have ended.
    pub(super) fn rest(&self) -> Rest {
        #[cfg(target_os = "linux")]
        if self.addressing == Addressing::Descriptor
            && let Some(descriptor) = &self.descriptor
        {
            let empty = signal_group(descriptor.as_fd(), 0)
                .is_err_and(|error| error.raw_os_error() == Some(libc::ESRCH));
            // Members that have ended, but which nobody waits for (a container without an init
            // process), still count for the signal; only the process table tells.
            return if empty || !super::process_table::has_living_member(self.leader) {
                Rest::Gone
            } else {
                Rest::Alive
            };
        }
        Rest::Unknown
    }
}

fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Code(-1),
    }
}

/// Whether this kernel can signal a group through a pidfd. Asked once, with signal 0.
#[cfg(target_os = "linux")]
fn addressing(descriptor: BorrowedFd<'_>) -> Addressing {
    static KNOWN: std::sync::OnceLock<Addressing> = std::sync::OnceLock::new();
    *KNOWN.get_or_init(|| match signal_group(descriptor, 0) {
        Ok(()) => Addressing::Descriptor,
        Err(_) => Addressing::Number,
    })
}

#[cfg(target_os = "linux")]
fn signal_group(descriptor: BorrowedFd<'_>, signal: i32) -> std::io::Result<()> {
    use std::os::fd::AsRawFd;
    const PIDFD_SIGNAL_PROCESS_GROUP: libc::c_uint = 1 << 2;
    // SAFETY: a system call on plain numbers and an open descriptor; no signal information.
    let result = unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            descriptor.as_raw_fd(),
            signal,
            std::ptr::null::<libc::siginfo_t>(),
            PIDFD_SIGNAL_PROCESS_GROUP,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}
