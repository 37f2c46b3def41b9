//! Reads a whole command line.

use super::state::Reader;
use crate::shell::line::CommandLine;

/// Reads a command line.
pub(in crate::shell) fn read_command_line(script: &str) -> CommandLine {
    let is_control = |byte: u8| (byte < b' ' && byte != b'\t' && byte != b'\n') || byte == 0x7f;
    let mut reader = Reader {
        text: script,
        end: script.len(),
        control: script.bytes().position(is_control).unwrap_or(usize::MAX),
        ..Reader::default()
    };
    reader.line.is_flat = true;
    let unread = reader.read_script().err();
    let mut line = reader.line;
    if let Some(unread) = &unread {
        line.commands
            .retain(|command| command.span.start < unread.start);
        line.is_flat = false;
    }
    line.unread = unread;
    line.commands.sort_by_key(|command| command.span.start);
    line
}
