//! Standard output as commands use it.

use std::io::Write;
use std::mem;

use crate::io::{Io, Output};
use crate::jsonl::{WriteError, Writer};

/// The record writer of a command; it takes standard output with it.
///
/// # Errors
/// Standard output is closed.
pub(super) fn record_writer(io: &mut Io) -> anyhow::Result<Writer<Box<dyn Write + Send>>> {
    Ok(Writer::new(take_sink(io)?))
}

/// Prints text that is not a record: help, a completion script, a schema.
///
/// # Errors
/// Standard output is closed, or see [`WriteError`].
pub(super) fn print(io: &mut Io, text: &str) -> anyhow::Result<()> {
    let mut writer = record_writer(io)?;
    writer.echo(text.as_bytes())?;
    writer.flush()?;
    Ok(())
}

/// Standard output itself.
///
/// # Errors
/// It is closed.
pub(super) fn take_sink(io: &mut Io) -> Result<Box<dyn Write + Send>, WriteError> {
    match mem::replace(&mut io.stdout, Output::Closed) {
        Output::Sink(sink) => Ok(sink),
        Output::Closed => Err(WriteError::Failed {
            written: 0,
            source: std::io::Error::other("standard output is closed"),
        }),
    }
}
