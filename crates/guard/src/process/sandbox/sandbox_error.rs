//! The errors of sandboxes.

use std::io;
use std::path::Path;

use rustix::io::Errno;

/// A step of entering a sandbox failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SandboxError {
    message: String,
}

impl SandboxError {
    /// A step failed. `step` is an infinitive, such as "start the sandbox".
    pub(super) fn new(step: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::from_message(&format!("cannot {}: {}", step.into(), source.into()))
    }

    /// A mount system call failed, which may be missing in an old kernel.
    pub(super) fn from_mount(step: &str, error: Errno) -> Self {
        if error == Errno::NOSYS {
            return Self::from_message(&format!("cannot {step}: this needs Linux 5.12 or newer"));
        }
        Self::new(step, error)
    }

    /// A file to mask was moved, so that the mask would not cover it.
    pub(super) fn file_moved(path: &Path) -> Self {
        Self::from_message(&format!(
            "cannot mask {}: it was moved, replaced or removed while the sandbox started; start it again",
            path.display()
        ))
    }

    /// An error with a complete message, for example one that a helper sent.
    pub(super) fn from_message(message: &str) -> Self {
        Self {
            message: message.to_owned(),
        }
    }
}
