//! The reading of a whole command line.

use super::state::{Reader, Reading, Scope};

/// Reads a command line.
pub(in crate::shell) fn read(script: &str) -> Reading {
    let control = |byte: u8| (byte < b' ' && byte != b'\t' && byte != b'\n') || byte == 0x7f;
    let mut reader = Reader {
        text: script,
        position: 0,
        end: script.len(),
        depth: 0,
        control: script.bytes().position(control).unwrap_or(usize::MAX),
        scope: Scope::default(),
        reading: Reading {
            is_flat: true,
            ..Reading::default()
        },
    };
    let stop = reader.script().err();
    let mut reading = reader.reading;
    if let Some(stop) = &stop {
        reading
            .commands
            .retain(|command| command.span.start < stop.start);
    }
    reading.stop = stop;
    reading.commands.sort_by_key(|command| command.span.start);
    reading
}
