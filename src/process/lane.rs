//! The restrictions of a lane's spawner threads: each thread takes them upon itself once, and what
//! it starts inherits them. Other threads keep their rights.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;

use super::{Confinement, Enforcement};

/// What the spawner threads of a pool give up before they start anything.
#[derive(Debug)]
pub(super) enum Restrictions {
    /// Nothing.
    Free,
    /// What the parallel lane's children must not do.
    Lane {
        enforcement: Enforcement,
        /// Where each thread's private directory for temporary files is made, if it gets one.
        temporary: Option<PathBuf>,
    },
}

/// A spawner thread that has given up what it should.
#[derive(Debug)]
pub(super) struct Restricted {
    /// `None` if nothing was asked for.
    pub(super) confinement: Option<Confinement>,
    /// Its children's `TMPDIR`, the only place where they can write.
    pub(super) temporary: Option<Temporary>,
}

/// A private directory. It must be dropped by a thread that is free to remove it.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) directory: tempfile::TempDir,
    /// The same for an environment.
    pub(super) variable: CString,
}

/// Which threads may start a pool's children.
#[derive(Debug)]
pub(super) enum Starter {
    /// Those that restricted themselves.
    SpawnerThread,
    /// Any; what is said of the children's confinement.
    AnyThread(Option<Confinement>),
}

impl Restrictions {
    /// Which threads may start the children.
    pub(super) fn starter(&self) -> Starter {
        match self {
            Self::Free => Starter::AnyThread(None),
            Self::Lane {
                enforcement: Enforcement::Off,
                temporary: None,
            } => Starter::AnyThread(Some(switched_off())),
            Self::Lane { .. } => Starter::SpawnerThread,
        }
    }

    /// Restricts the calling thread for good.
    ///
    /// # Errors
    /// Enforcement is required and the kernel does not do it, or the directory for temporary files
    /// cannot be made.
    pub(super) fn enter(&self) -> io::Result<Restricted> {
        let Self::Lane {
            enforcement,
            temporary,
        } = self
        else {
            return Ok(Restricted {
                confinement: None,
                temporary: None,
            });
        };
        let temporary = temporary.clone().map(Temporary::new).transpose()?;
        let confinement = match enforcement {
            Enforcement::Off => switched_off(),
            Enforcement::Auto | Enforcement::Require => confine(temporary.as_ref()),
        };
        if *enforcement == Enforcement::Require && !confinement.is_complete() {
            let reason = confinement.missing.unwrap_or_default();
            return Err(io::Error::other(reason));
        }
        Ok(Restricted {
            confinement: Some(confinement),
            temporary,
        })
    }
}

fn switched_off() -> Confinement {
    Confinement::nothing("switched off")
}

impl Temporary {
    fn new(parent: PathBuf) -> io::Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("lane-")
            .tempdir_in(parent)?;
        let variable = super::exec_strings::exec_string(directory.path().as_os_str())?;
        Ok(Self {
            directory,
            variable,
        })
    }
}

#[cfg(target_os = "linux")]
fn confine(temporary: Option<&Temporary>) -> Confinement {
    use super::landlock;
    if let Err(error) = give_up_privileges() {
        return Confinement::nothing(&format!("privileges cannot be given up: {error}"));
    }
    let mut missing = Vec::new();
    let writable = temporary.map(|temporary| temporary.directory.path());
    let landlock_abi = match landlock::abi() {
        None => {
            missing.push("the kernel has no Landlock".to_owned());
            None
        }
        Some(abi) => match landlock::restrict(abi, writable) {
            Ok(()) => Some(abi),
            Err(error) => {
                missing.push(format!("Landlock failed: {error}"));
                None
            }
        },
    };
    let seccomp = match filter() {
        Ok(()) => true,
        Err(error) => {
            missing.push(format!("seccomp failed: {error}"));
            false
        }
    };
    Confinement {
        landlock_abi,
        seccomp,
        missing: (!missing.is_empty()).then(|| missing.join("; ")),
    }
}

/// For good, since no later program can give back what is not permitted any more. Of what a
/// privileged user can do this leaves reading: files, other processes, the kernel's log; and
/// becoming somebody with less rights.
#[cfg(target_os = "linux")]
fn give_up_privileges() -> rustix::io::Result<()> {
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
    };
    const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE
        .union(CapabilitySet::DAC_READ_SEARCH)
        .union(CapabilitySet::SYS_PTRACE)
        .union(CapabilitySet::SYSLOG)
        .union(CapabilitySet::SETUID)
        .union(CapabilitySet::SETGID);
    set_no_new_privs(true)?;
    let own = capabilities(None)?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: own.effective & KEPT,
            permitted: own.permitted & KEPT,
            inheritable: own.inheritable & KEPT,
        },
    )
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn filter() -> io::Result<()> {
    super::system_call_filter::install()
}

#[cfg(all(
    target_os = "linux",
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
fn filter() -> io::Result<()> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "no filter for this architecture",
    ))
}

#[cfg(not(target_os = "linux"))]
fn confine(_: Option<&Temporary>) -> Confinement {
    Confinement::nothing("this system cannot confine processes")
}
