//! The restrictions of a lane's spawner threads: each thread takes them upon itself once, and what
//! it starts inherits them. Other threads keep their rights.

use std::path::Path;

use super::{Confinement, Enforcement};

/// Restricts the calling thread for good. It may write only below `writable`.
///
/// # Errors
/// Enforcement is required and the kernel does not do it.
pub(super) fn enter(
    enforcement: Enforcement,
    writable: Option<&Path>,
) -> Result<Confinement, String> {
    let confinement = match enforcement {
        Enforcement::Off => switched_off(),
        Enforcement::Auto | Enforcement::Require => confine(writable),
    };
    if enforcement == Enforcement::Require && !confinement.is_complete() {
        return Err(confinement.missing.unwrap_or_default());
    }
    Ok(confinement)
}

/// What holds for children of a lane that enforces nothing.
pub(super) fn switched_off() -> Confinement {
    Confinement::nothing("switched off")
}

#[cfg(not(target_os = "linux"))]
fn confine(_: Option<&Path>) -> Confinement {
    Confinement::nothing("this system cannot confine processes")
}

#[cfg(target_os = "linux")]
fn confine(writable: Option<&Path>) -> Confinement {
    if let Err(error) = linux::give_up_privileges() {
        return Confinement::nothing(&format!("privileges cannot be given up: {error}"));
    }
    let (landlock, filter) = (linux::restrict_files(writable), linux::filter());
    let failures = [landlock.as_ref().err(), filter.as_ref().err()];
    let missing: Vec<&str> = failures.into_iter().flatten().map(String::as_str).collect();
    Confinement {
        missing: (!missing.is_empty()).then(|| missing.join("; ")),
        landlock_abi: landlock.ok(),
        seccomp: filter.is_ok(),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, make_bitflags,
        path_beneath_rules,
    };
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
    };

    /// The version of Landlock whose rights are given up; of older kernels those they know.
    const VERSION: ABI = ABI::V6;

    /// Devices that take everything and keep nothing.
    const HARMLESS_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

    /// What root keeps: reading all files, other processes and the kernel's log, and becoming a
    /// user with fewer rights.
    const KEPT: CapabilitySet = CapabilitySet::DAC_OVERRIDE
        .union(CapabilitySet::DAC_READ_SEARCH)
        .union(CapabilitySet::SYS_PTRACE)
        .union(CapabilitySet::SYSLOG)
        .union(CapabilitySet::SETUID)
        .union(CapabilitySet::SETGID);

    /// For good, since no later program can get back what is not permitted any more.
    pub(super) fn give_up_privileges() -> rustix::io::Result<()> {
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

    /// Leaves the calling thread: reading and executing everything, writing to the harmless
    /// devices, anything but device requests in `writable`; no TCP; signals and abstract sockets
    /// only among its own. Returns the version of Landlock that enforces it.
    ///
    /// # Errors
    /// The kernel has no Landlock, or refused.
    pub(super) fn restrict_files(writable: Option<&Path>) -> Result<u32, String> {
        let failed = |error: RulesetError| format!("Landlock failed: {error}");
        let status = restrict(writable).map_err(failed)?;
        match status.landlock {
            LandlockStatus::Available {
                effective_abi,
                kernel_abi,
            } if status.ruleset != RulesetStatus::NotEnforced => {
                let version = kernel_abi.unwrap_or(effective_abi as i32);
                Ok(version.unsigned_abs())
            }
            _ => Err("the kernel has no Landlock".to_owned()),
        }
    }

    fn restrict(writable: Option<&Path>) -> Result<landlock::RestrictionStatus, RulesetError> {
        let files = AccessFs::from_all(VERSION);
        let reading = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});
        let devices = make_bitflags!(AccessFs::{WriteFile | Truncate | IoctlDev});
        let writing: BitFlags<AccessFs> = files & !AccessFs::IoctlDev;
        Ruleset::default()
            .handle_access(files)?
            .handle_access(AccessNet::from_all(VERSION))?
            .scope(Scope::from_all(VERSION))?
            .create()?
            // Paths that do not exist are passed over: a small container may have no devices.
            .add_rules(path_beneath_rules(["/"], reading))?
            .add_rules(path_beneath_rules(HARMLESS_DEVICES, devices))?
            .add_rules(path_beneath_rules(writable, writing))?
            .restrict_self()
    }

    /// Refuses system calls that Landlock does not know.
    ///
    /// # Errors
    /// The kernel has no filters, or forbids them, or there is no table for this architecture.
    pub(super) fn filter() -> Result<(), String> {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        return super::super::system_call_filter::install()
            .map_err(|error| format!("seccomp failed: {error}"));
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Err("seccomp failed: no filter for this architecture".to_owned())
    }
}
