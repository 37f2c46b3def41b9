//! What the kernel enforces on the children of the parallel lane, and what of that is wanted.

/// How much enforcement is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
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
    /// The version of Landlock's interface that keeps it from writing files; `None`: nothing does.
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
