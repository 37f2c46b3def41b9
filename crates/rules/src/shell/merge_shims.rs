//! TODO(merge): for the permission code, until it uses [`parse`].

use super::line::parse;
use super::parts::CommandPart;

/// The commands of a text that was not read whole.
pub struct LenientParts {
    /// The commands that were read.
    pub parts: Vec<CommandPart>,
    /// Always empty.
    pub enclosed: Vec<String>,
    /// Whether there may be others.
    pub is_ambiguous: bool,
}

/// Reads a text.
pub fn lenient_parts(script: &str) -> LenientParts {
    let line = parse(script);
    LenientParts {
        is_ambiguous: line.unread.is_some(),
        parts: line.commands,
        enclosed: Vec::new(),
    }
}

/// Whether bash, zsh and dash read a command line alike.
pub fn is_read_alike(command: &str, _: &[CommandPart]) -> bool {
    parse(command).is_portable
}
