//! A command line that was read.

use std::collections::BTreeSet;
use std::ops::Range;

use super::check::check;
use super::parts::CommandPart;
use super::reader::read;
use super::word::PartWord;
use turnpipe_core::text::terminal_safe_line;

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
    /// Whether all commands are simple ones in lists and pipelines.
    pub is_flat: bool,
}

/// The end of a command line that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// Its first byte.
    pub start: usize,
    /// The reason, on one line.
    pub why: String,
}

/// Reads a command line, in linear time and without side effects.
pub fn parse(script: &str) -> CommandLine {
    let mut reading = read(script);
    // It marks the commands that only read; the verdict about the whole line is not needed.
    let _ = check(script, &mut reading);
    CommandLine::new(reading)
}

impl CommandLine {
    pub(super) fn new(reading: super::reader::Reading) -> Self {
        let unread = reading.stop.map(|stop| Unread {
            start: stop.start,
            why: terminal_safe_line(&stop.why),
        });
        Self {
            is_flat: reading.is_flat && unread.is_none(),
            commands: reading.commands,
            words: reading.words,
            reveals: reading.reveals,
            unread,
            names: reading.names,
            documents: reading.documents,
            differs: reading.differs,
        }
    }

    /// Reads a line that may mean something else where it is run: all of it counts as not read.
    pub fn guessed(script: &str) -> Self {
        let why = "it is not known how it is read".to_owned();
        Self {
            unread: Some(Unread { start: 0, why }),
            ..parse(script)
        }
    }

    /// Returns its commands, if all of it was read.
    pub fn all_commands(&self) -> Option<&[CommandPart]> {
        self.unread.is_none().then_some(&*self.commands)
    }
}
