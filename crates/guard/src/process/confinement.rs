//! The restrictions of the kernel on the children of the parallel lane. A spawner thread restricts itself once, and its
//! children inherit the restrictions. Other threads keep their rights.

use std::path::{Path, PathBuf};

use super::network::Network;
use super::{Ended, ExitStatus, Finished};

/// The required enforcement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Enforcement {
    /// As much as the kernel supports; every record states the extent.
    #[default]
    Auto,
    /// All of it, or nothing runs.
    Require,
    /// No enforcement.
    Off,
}

/// The restrictions of the parallel lane.
#[derive(Debug, Clone)]
pub struct LaneOptions {
    /// The required enforcement.
    pub enforcement: Enforcement,
    /// The only directory where children can write. Each child has a subdirectory as `TMPDIR`, which is removed
    /// when the child has ended.
    pub temporary: Option<PathBuf>,
}

/// The restrictions that the kernel enforces on a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// The version of the Landlock interface that keeps the child from writing files; `None` without Landlock.
    pub landlock_abi: Option<u32>,
    /// Whether a system call filter keeps the child from changing modes, owners, times and attributes, and from using
    /// sockets.
    pub seccomp: bool,
    /// The reason for a missing restriction, on one line.
    pub missing: Option<String>,
}

/// The enforcement of file rules on the children of a call, by masks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRulesEnforced {
    /// Whether each call has a Landlock domain of its own, and cannot inspect other calls.
    pub isolates_calls: bool,
    /// The workspace to which the children are confined, if any.
    pub workspace: Option<WorkspaceEnforced>,
}

/// The enforcement of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkspaceEnforced {
    /// The servers that programs can reach.
    pub network: Network,
    /// Whether programs see only processes of the call, and leave none running.
    pub isolates_processes: bool,
}

impl Confinement {
    /// Creates the confinement with all restrictions.
    #[cfg(sandbox)]
    pub(super) fn complete(landlock_abi: Option<u32>) -> Self {
        Self {
            landlock_abi,
            seccomp: true,
            missing: None,
        }
    }

    /// Creates the confinement without restrictions, for a reason.
    pub(super) fn unconfined(reason: &str) -> Self {
        Self {
            landlock_abi: None,
            seccomp: false,
            missing: Some(reason.to_owned()),
        }
    }

    /// Creates the confinement without restrictions that the user requested.
    pub(super) fn switched_off() -> Self {
        Self::unconfined("switched off")
    }

    /// Whether a child can change no file and reach no network.
    pub fn is_complete(&self) -> bool {
        self.landlock_abi.is_some() && self.seccomp
    }

    /// Whether at least one restriction is in place.
    pub(super) fn is_effective(&self) -> bool {
        self.landlock_abi.is_some() || self.seccomp
    }

    /// Returns the weaker of two confinements.
    fn weaker_of(self, other: Self) -> Self {
        if self.is_complete() { other } else { self }
    }
}

/// The confinement of the children of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfinementReport {
    /// The restrictions of the lane on all children; `None` outside the lane.
    pub confinement: Option<Confinement>,
    /// The enforcement of file rules on all children; `None` without a sandbox.
    pub file_rules: Option<FileRulesEnforced>,
    /// Whether a child failed and its output looks as if a restriction was the cause.
    pub looks_denied: bool,
}

impl ConfinementReport {
    /// Combines the reports about children of one call.
    pub(super) fn merge(self, other: Self) -> Self {
        let confinements = self.confinement.zip(other.confinement);
        Self {
            confinement: confinements.map(|(one, other)| one.weaker_of(other)),
            file_rules: self.file_rules.and(other.file_rules),
            looks_denied: self.looks_denied | other.looks_denied,
        }
    }
}

/// The kernel does not enforce the required restrictions.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernel does not enforce the parallel lane: {reason}")]
pub struct NotEnforced {
    /// The missing restriction.
    pub reason: String,
}

/// Messages of programs when the kernel refuses something: the texts and names of EACCES and EPERM, and
/// failures of name resolution without a socket.
const DENIAL_SIGNS: &str = include_str!("denial_signs.txt");

/// Length of the searched part at each end of an output, in bytes.
const SEARCHED_BYTES: u64 = 16 * 1024;

/// Whether the output of a child suggests that restrictions of the kernel made it fail. Programs report errors as text.
pub(super) fn looks_denied(finished: &Finished) -> bool {
    let failed = finished.ended == Ended::Exited && finished.status != ExitStatus::Code(0);
    failed
        && [&finished.stderr, &finished.stdout]
            .into_iter()
            .any(|output| {
                let ends = [output.prefix(SEARCHED_BYTES), output.suffix(SEARCHED_BYTES)];
                ends.iter().flatten().any(|end| has_denial_sign(end))
            })
}

/// Whether a text contains a message of [`DENIAL_SIGNS`], in any case.
fn has_denial_sign(bytes: &[u8]) -> bool {
    let text = bytes.to_ascii_lowercase();
    let mut signs = DENIAL_SIGNS.lines();
    signs.any(|sign| memchr::memmem::find(&text, sign.as_bytes()).is_some())
}

/// Restricts the calling thread permanently. It may write only below `writable`.
///
/// # Errors
/// Enforcement is required, and the kernel does not support it.
pub(super) fn enter_lane(
    enforcement: Enforcement,
    writable: Option<&Path>,
) -> Result<Confinement, String> {
    let confinement = match enforcement {
        Enforcement::Off => Confinement::switched_off(),
        Enforcement::Auto | Enforcement::Require => confine(writable),
    };
    if enforcement == Enforcement::Require && !confinement.is_complete() {
        return Err(confinement.missing.unwrap_or_default());
    }
    Ok(confinement)
}

#[cfg(not(target_os = "linux"))]
fn confine(_: Option<&Path>) -> Confinement {
    Confinement::unconfined("this system cannot confine processes")
}

#[cfg(target_os = "linux")]
fn confine(writable: Option<&Path>) -> Confinement {
    if let Err(error) = linux::drop_privileges() {
        return Confinement::unconfined(&format!("cannot drop privileges: {error}"));
    }
    let (landlock, filter) = (linux::restrict_files(writable), linux::install_filter());
    let failures = [landlock.as_ref().err(), filter.as_ref().err()];
    let missing: Vec<&str> = failures.into_iter().flatten().map(String::as_str).collect();
    Confinement {
        missing: (!missing.is_empty()).then(|| missing.join("; ")),
        landlock_abi: landlock.ok(),
        seccomp: filter.is_ok(),
    }
}

#[cfg(target_os = "linux")]
pub(super) mod linux {
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, Ruleset, RulesetAttr as _,
        RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, make_bitflags,
        path_beneath_rules,
    };
    use rustix::thread::{
        CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_no_new_privs,
    };

    #[cfg(sandbox)]
    use crate::process::system_call_filter;

    /// The version of Landlock whose rights are dropped; older kernels drop the rights that they know.
    const LANDLOCK_VERSION: ABI = ABI::V6;

    /// Devices that discard what is written.
    const HARMLESS_DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

    /// The capabilities that root keeps: reading all files and the log of the kernel, and becoming a user with fewer
    /// rights. Not `SYS_PTRACE`, with which the children could read the memory of this process, since the thread that
    /// starts them shares their Landlock domain.
    pub(in crate::process) const LANE_CAPABILITIES: CapabilitySet = CapabilitySet::DAC_OVERRIDE
        .union(CapabilitySet::DAC_READ_SEARCH)
        .union(CapabilitySet::SYSLOG)
        .union(CapabilitySet::SETUID)
        .union(CapabilitySet::SETGID);

    /// Drops privileges permanently: no later program can regain them.
    pub(super) fn drop_privileges() -> rustix::io::Result<()> {
        set_no_new_privs(true)?;
        let own = capabilities(None)?;
        set_capabilities(
            None,
            CapabilitySets {
                effective: own.effective & LANE_CAPABILITIES,
                permitted: own.permitted & LANE_CAPABILITIES,
                inheritable: own.inheritable & LANE_CAPABILITIES,
            },
        )
    }

    /// Restricts the calling thread to reading and executing all files, writing to the harmless devices, and everything
    /// but device requests below `writable`. TCP is refused, and signals and abstract sockets only reach processes of
    /// the same domain. Returns the version of Landlock that enforces this.
    ///
    /// # Errors
    /// The kernel has no Landlock, or refused.
    pub(super) fn restrict_files(writable: Option<&Path>) -> Result<u32, String> {
        let restricted = create_ruleset(writable).and_then(RulesetCreated::restrict_self);
        let status = restricted.map_err(|error| format!("Landlock failed: {error}"))?;
        match status.landlock {
            LandlockStatus::Available {
                effective_abi,
                kernel_abi,
            } if status.ruleset != RulesetStatus::NotEnforced => {
                let version = kernel_abi.unwrap_or(effective_abi as i32);
                Ok(version.unsigned_abs())
            }
            _ => Err("the kernel does not support Landlock".to_owned()),
        }
    }

    /// Creates the Landlock rules of the lane.
    pub(in crate::process) fn create_ruleset(
        writable: Option<&Path>,
    ) -> Result<RulesetCreated, RulesetError> {
        let files = AccessFs::from_all(LANDLOCK_VERSION);
        let reading = make_bitflags!(AccessFs::{Execute | ReadFile | ReadDir});
        let devices = make_bitflags!(AccessFs::{WriteFile | Truncate | IoctlDev});
        let writing: BitFlags<AccessFs> = files & !AccessFs::IoctlDev;
        Ruleset::default()
            .handle_access(files)?
            .handle_access(AccessNet::from_all(LANDLOCK_VERSION))?
            .scope(Scope::from_all(LANDLOCK_VERSION))?
            .create()?
            // Missing paths are skipped: a small container may have no devices.
            .add_rules(path_beneath_rules(["/"], reading))?
            .add_rules(path_beneath_rules(HARMLESS_DEVICES, devices))?
            .add_rules(path_beneath_rules(writable, writing))
    }

    /// Installs the filter of the lane on the calling thread: system calls that Landlock does not cover are refused.
    ///
    /// # Errors
    /// The kernel lacks or forbids filters, or this architecture lacks a table.
    pub(super) fn install_filter() -> Result<(), String> {
        #[cfg(sandbox)]
        return system_call_filter::install(&system_call_filter::lane_filter())
            .map_err(|error| format!("seccomp failed: {error}"));
        #[cfg(not(sandbox))]
        Err("seccomp failed: no filter for this architecture".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_a_denial_are_found_in_any_case() {
        for text in [
            "touch: cannot touch 'x': Permission denied",
            "chattr: Operation not permitted while setting flags on a.txt",
            "Error: EPERM: operation not permitted, open 'x'",
            "curl: (6) Could not resolve host: example.org",
        ] {
            assert!(has_denial_sign(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "grep: x: No such file or directory",
            "permission granted",
        ] {
            assert!(!has_denial_sign(text.as_bytes()), "{text}");
        }
    }
}
