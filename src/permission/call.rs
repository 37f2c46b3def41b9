//! A call taken apart, once, for all rules.

use std::cell::OnceCell;

use super::command::{Command, commands};
use super::named_file::NamedFile;
use super::surroundings::{Place, Surroundings};
use super::wildcard::GAP;
use super::{Action, domain};

/// A call and what it does.
pub(super) struct Call<'a> {
    pub(super) surroundings: &'a Surroundings<'a>,
    /// The files that it reads and does nothing else with.
    pub(super) reads: Vec<NamedFile>,
    /// The files that it changes.
    pub(super) writes: Vec<Place>,
    /// The server that it asks.
    pub(super) host: Option<String>,
    commands: OnceCell<Vec<Command<'a>>>,
}

impl<'a> Call<'a> {
    pub(super) fn new(surroundings: &'a Surroundings<'a>) -> Self {
        let (reads, writes) = match surroundings.request.action {
            Action::Files { reads, writes } => (reads.as_slice(), writes.as_slice()),
            _ => Default::default(),
        };
        let read = reads.iter().map(|path| {
            if path.to_string_lossy().contains(GAP) {
                return NamedFile::Outlined(path.to_string_lossy().into_owned());
            }
            NamedFile::Known(surroundings.place(path))
        });
        Self {
            surroundings,
            reads: read.collect(),
            writes: writes.iter().map(|path| surroundings.place(path)).collect(),
            host: match surroundings.request.action {
                Action::Fetch { url } => domain::host(url),
                _ => None,
            },
            commands: OnceCell::new(),
        }
    }

    /// The commands of its command line.
    pub(super) fn commands(&self) -> &[Command<'a>] {
        self.commands
            .get_or_init(|| match self.surroundings.request.action {
                Action::Command { script, parts, .. } => {
                    commands(script, parts.as_deref(), self.surroundings)
                }
                _ => Vec::new(),
            })
    }
}
