//! A command line that was read.

use std::collections::BTreeSet;
use std::ops::Range;

use super::parts::CommandPart;
use super::verdict::Refusal;
use super::word::PartWord;

/// The commands of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The simple commands in text order, also those in substitutions, groups and loops; if a part of the line was not
    /// read, those before it.
    pub commands: Vec<CommandPart>,
    /// The words of `for` loops, which belong to no command.
    pub words: Vec<PartWord>,
    /// The part that was not read: from the command with the first token that is not understood to the end.
    pub unread: Option<Unread>,
    /// The first command or variable that may print secrets of the environment.
    pub reveals: Option<String>,
    /// The variables that it sets.
    pub names: BTreeSet<String>,
    /// The texts of its here-documents in which nothing is expanded.
    pub documents: Vec<Range<usize>>,
    /// Whether a construct in it means something else to zsh or dash.
    pub differs: bool,
    /// Whether all commands are simple ones in lists and pipelines, and all of it was read.
    pub is_flat: bool,
    /// The constructs outside of commands that may change something.
    pub(super) refusals: Vec<Refusal>,
    /// The variables in it that may be secret.
    pub(super) secrets: Vec<String>,
}

/// The end of a command line that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its first byte: the start of the command that contains the token.
    pub start: usize,
    /// The token that is not understood, and the reason on one line.
    pub(super) refusal: Refusal,
}

impl CommandLine {
    /// Returns its commands, if all of it was read.
    pub fn all_commands(&self) -> Option<&[CommandPart]> {
        self.unread.is_none().then_some(&*self.commands)
    }

    /// Returns the part of its text that was not read.
    pub(crate) fn rest_of<'t>(&self, script: &'t str) -> Option<&'t str> {
        let unread = self.unread.as_ref()?;
        Some(script.get(unread.start..).unwrap_or(script))
    }

    /// Whether it sets a variable.
    pub(super) fn sets(&self, name: &str) -> bool {
        let reads = |command: &CommandPart| {
            let mut words = command.words.iter();
            command.program() == Some("read") && words.any(|word| word.literal() == Some(name))
        };
        self.names.contains(name) || self.commands.iter().any(reads)
    }
}
