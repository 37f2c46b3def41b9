//! What the kernel enforces on the children of the parallel lane, and how much is asked for.

use super::{Ended, ExitStatus, Finished};

/// How much enforcement is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Enforcement {
    /// As much as the kernel can do; every record says how much that was.
    #[default]
    Auto,
    /// All of it, or nothing runs.
    Require,
    /// None.
    Off,
}

/// What the kernel enforces on a child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// The version of Landlock's interface that keeps it from writing files; `None` if nothing does.
    pub landlock_abi: Option<u32>,
    /// Whether a filter of system calls keeps it from changing modes, owners, times and attributes
    /// and from using sockets.
    pub seccomp: bool,
    /// Why it is less than both; a line for people.
    pub missing: Option<String>,
}

impl Confinement {
    /// Nothing is enforced, for this reason.
    pub(super) fn nothing(reason: &str) -> Self {
        Self {
            landlock_abi: None,
            seccomp: false,
            missing: Some(reason.to_owned()),
        }
    }

    /// Whether a child can change no file and reach no network.
    pub fn is_complete(&self) -> bool {
        self.landlock_abi.is_some() && self.seccomp
    }

    /// What holds for both of two children.
    pub(super) fn weaker(self, other: Self) -> Self {
        if self.is_complete() { other } else { self }
    }
}

/// What is known of the children of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witnessed {
    /// What was enforced on all of them.
    pub confinement: Confinement,
    /// One failed and its output looks as if that was because of the enforcement.
    pub looks_denied: bool,
}

/// The kernel does not enforce what was required.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the kernel does not enforce the parallel lane: {reason}")]
pub struct NotEnforced {
    /// What is missing.
    pub reason: String,
}

/// What programs print when the kernel refuses something: the texts and names of EACCES and EPERM,
/// and what name resolution says when it gets no socket.
const SIGNS: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "not permitted",
    "eacces",
    "eperm",
    "could not resolve host",
    "temporary failure in name resolution",
    "name or service not known",
    "unable to resolve",
    "failed to connect",
];

/// How much of each end of an output is searched, in bytes.
const SEARCHED: u64 = 16 * 1024;

/// Whether a failed child looks as if the kernel's restrictions were the reason. A guess from what
/// it printed on either stream: programs report errors as text, in any words.
pub(super) fn looks_denied(finished: &Finished) -> bool {
    let failed = finished.ended == Ended::Exited && finished.status != ExitStatus::Code(0);
    failed
        && [&finished.stderr, &finished.stdout]
            .into_iter()
            .any(|output| {
                let ends = [output.prefix(SEARCHED), output.suffix(SEARCHED)];
                ends.iter().flatten().any(|end| has_sign(end))
            })
}

fn has_sign(bytes: &[u8]) -> bool {
    let text = bytes.to_ascii_lowercase();
    SIGNS
        .iter()
        .any(|sign| memchr::memmem::find(&text, sign.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_are_found_in_any_case_and_nothing_else_is_one() {
        for text in [
            "touch: cannot touch 'x': Permission denied",
            "chattr: Operation not permitted while setting flags on a.txt",
            "Error: EPERM: operation not permitted, open 'x'",
            "curl: (6) Could not resolve host: example.org",
        ] {
            assert!(has_sign(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "grep: x: No such file or directory",
            "permission granted",
        ] {
            assert!(!has_sign(text.as_bytes()), "{text}");
        }
    }
}
