//! A command line that was read.

use super::command_list::lenient_parts;
use super::parts::CommandPart;

/// The commands of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// The simple commands in text order, also those in substitutions, groups and loops; if a part of the line was not
    /// read, those before it.
    pub commands: Vec<CommandPart>,
    /// The part that was not read: from the first construct that is not understood to the end.
    pub unread: Option<Unread>,
}

/// The end of a command line that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its first byte.
    pub start: usize,
    /// The reason, on one line.
    pub why: String,
}

impl Line {
    /// Creates a line of which nothing was read.
    pub fn unread(why: String) -> Self {
        Self {
            commands: Vec::new(),
            unread: Some(Unread { start: 0, why }),
        }
    }

    /// Returns its commands, if all of it was read.
    pub fn all_commands(&self) -> Option<&[CommandPart]> {
        self.unread.is_none().then_some(&*self.commands)
    }

    pub(super) fn guessed(script: &str, why: String) -> Self {
        Self {
            commands: lenient_parts(script).parts,
            ..Self::unread(why)
        }
    }
}

/// Reads a command line.
pub fn parse(script: &str) -> Line {
    std::sync::Arc::unwrap_or_clone(super::analyse(script).line)
}
