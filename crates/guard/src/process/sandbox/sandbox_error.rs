//! The failure of a sandbox.

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
    pub(super) fn new(step: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::from_message(&format!("cannot {}: {}", step.into(), source.into()))
    }

    /// A mount of the new interface failed.
    pub(super) fn from_mount(step: &str, error: Errno) -> Self {
        if error == Errno::NOSYS {
            return Self::from_message(&format!("cannot {step}: this needs Linux 5.12 or newer"));
        }
        Self::new(step, error)
    }

    /// A file to mask has another name by now, so that the mask would not be over it.
    pub(super) fn file_moved(path: &Path) -> Self {
        Self::from_message(&format!(
            "cannot mask {}: it was moved, replaced or removed while the sandbox started; start it again",
            path.display()
        ))
    }

    /// Converts the message of a helper.
    pub(super) fn from_message(message: &str) -> Self {
        Self {
            message: message.to_owned(),
        }
    }
}
