//! Working directories of shell calls.

use std::path::{Path, PathBuf};

use super::script::FinalDirectory;
use crate::tools::ToolContext;

/// The directory where a call starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// An existing directory.
    pub(super) directory: PathBuf,
    /// A note for the model if this is not the directory of the shell.
    pub(super) note: Option<String>,
}

/// The directory of the next call, if it changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Move {
    /// An allowed directory.
    pub(super) to: PathBuf,
    /// A note for the model if the command went to another directory.
    pub(super) note: Option<String>,
}

/// Returns the directory of the session, else its first directory, else the first allowed one that
/// exists.
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

/// Returns the new directory of the shell after a call that started in `started`.
pub(super) fn after(context: &ToolContext, started: &Path, end: FinalDirectory) -> Option<Move> {
    let to = match end {
        FinalDirectory::Unknown => started.to_owned(),
        FinalDirectory::At(end) if context.allows_directory(&end) => {
            // The shell reports the physical path; the path of the session may contain links.
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
