//! Where a shell call starts, and where the next one will.

use std::path::{Path, PathBuf};

use super::script::FinalDirectory;
use crate::tools::ToolContext;

/// Where a call starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// An existing directory.
    pub(super) directory: PathBuf,
    /// A note for the model if this is not where it left the shell.
    pub(super) note: Option<String>,
}

/// Where the next call will start, if not where this one did.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// An allowed directory.
    pub(super) to: PathBuf,
    /// A note for the model if this is not where the command went.
    pub(super) note: Option<String>,
}

/// The session's directory; if that is gone, the one where the session began, else the first
/// allowed one that exists; `None` if there is none.
pub(super) fn start(context: &ToolContext) -> Option<Start> {
    if context.directory.is_dir() {
        return Some(Start {
            directory: context.directory.clone(),
            note: None,
        });
    }
    std::iter::once(&context.home_directory)
        .chain(&context.allowed_directories)
        .find(|directory| directory.is_dir())
        .map(|directory| Start {
            directory: directory.clone(),
            note: Some(format!(
                "{} no longer exists. {}",
                context.directory.display(),
                reset_to(directory)
            )),
        })
}

/// What becomes of the shell's directory after a call that began at `started`.
pub(super) fn after(context: &ToolContext, started: &Path, end: FinalDirectory) -> Option<Move> {
    let to = match end {
        FinalDirectory::Unknown => started.to_owned(),
        FinalDirectory::At(end) if context.allows_directory(&end) => {
            // The shell reports the physical path; the session may have a link in its own.
            if started.canonicalize().is_ok_and(|physical| physical == end) {
                started.to_owned()
            } else {
                end
            }
        }
        FinalDirectory::At(_) | FinalDirectory::Gone => {
            return Some(Move {
                to: context.home_directory.clone(),
                note: Some(reset_to(&context.home_directory)),
            });
        }
    };
    (to != context.directory).then_some(Move { to, note: None })
}

fn reset_to(directory: &Path) -> String {
    format!("Shell cwd was reset to {}", directory.display())
}
