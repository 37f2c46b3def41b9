//! A parsed command line.

use std::collections::BTreeSet;
use std::ops::Range;

use super::parts::CommandPart;
use super::verdict::Refusal;
use super::word::PartWord;

/// A parsed command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The simple commands in text order, including those in substitutions, groups and loops, up to the part that was
    /// not read.
    pub commands: Vec<CommandPart>,
    /// The words of `for` loops, which belong to no command.
    pub words: Vec<PartWord>,
    /// The part that was not read, if any.
    pub unread: Option<Unread>,
    /// The first command or variable that may print secrets of the environment.
    pub reveals: Option<String>,
    /// The variables that it assigns, or sets in `for` loops.
    pub assigned: BTreeSet<String>,
    /// Byte ranges of the here-documents in which nothing is expanded.
    pub documents: Vec<Range<usize>>,
    /// Whether a construct is known to mean something else to zsh or dash.
    pub differs_between_shells: bool,
    /// Whether it consists of simple commands in lists and pipelines, and all of it was read.
    pub is_flat: bool,
    /// The constructs outside simple commands that may change something.
    pub(super) refusals: Vec<Refusal>,
    /// The expanded variables that may be secret.
    pub(super) secrets: Vec<String>,
}

/// The part of a command line that was not read: from the command with the first unknown token to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Byte offset of the start of the command that contains the token.
    pub start: usize,
    /// The unknown token and the reason, on one line.
    pub(super) refusal: Refusal,
}

impl CommandLine {
    /// Returns the commands, if all of the line was read.
    pub fn all_commands(&self) -> Option<&[CommandPart]> {
        self.unread.is_none().then_some(&*self.commands)
    }

    /// Returns the part of the text that was not read. `script` is the text of the line.
    pub(crate) fn unread_text<'t>(&self, script: &'t str) -> Option<&'t str> {
        let unread = self.unread.as_ref()?;
        Some(script.get(unread.start..).unwrap_or(script))
    }

    /// Whether it may set a variable.
    pub(super) fn may_set(&self, name: &str) -> bool {
        let reads_variable = |command: &CommandPart| {
            let mut words = command.words.iter();
            command.program() == Some("read") && words.any(|word| word.literal() == Some(name))
        };
        self.assigned.contains(name) || self.commands.iter().any(reads_variable)
    }
}
