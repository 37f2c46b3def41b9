//! Standard output of commands, and its form.

use std::io::Write;
use std::mem;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::commands::Globals;
use crate::config::{has_less_options, pager};
use crate::io::{Io, OutputStream, TerminalFacts, TerminalRecords, columns};
use crate::jsonl::{RecordWriter, WriteError, Writer};
use crate::process::Pager;
use crate::render::{RunLook, RunText};

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Text for the terminal
    Text,
    /// Records, one JSON object per line
    #[value(alias = "json")]
    Jsonl,
}

/// The options for the form of the output.
#[derive(Debug, Clone, Args)]
pub(super) struct FormArguments {
    /// The output form [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<Form>,
    /// The same as `-o jsonl`
    #[arg(long, conflicts_with = "output", hide_short_help = true)]
    json: bool,
}

impl FormArguments {
    /// Returns the given form; by default text on a terminal, otherwise records.
    pub(super) fn form(&self, terminal: TerminalFacts) -> Form {
        match self.output {
            Some(form) => form,
            None if terminal.stdout && !self.json => Form::Text,
            None => Form::Jsonl,
        }
    }

    /// Prints records, or the text about them.
    ///
    /// # Errors
    /// Standard output is closed, or see [`WriteError`].
    pub(super) fn print<Record: Serialize>(
        &self,
        text: impl FnOnce() -> String,
        about: &[Record],
        io: &mut Io,
    ) -> anyhow::Result<()> {
        match self.form(io.terminal) {
            Form::Text => print(io, &text()),
            Form::Jsonl => print_records(about, io),
        }
    }
}

/// Takes standard output for writing in this form.
///
/// # Errors
/// Standard output is closed.
pub(super) fn open_writer(form: Form, io: &mut Io) -> anyhow::Result<RecordWriter> {
    Ok(Writer::new(match form {
        Form::Text => take_sink(io)?,
        Form::Jsonl => take_record_sink(io)?,
    }))
}

/// Takes standard output for writing records.
///
/// # Errors
/// Standard output is closed.
pub(super) fn open_record_writer(io: &mut Io) -> anyhow::Result<RecordWriter> {
    open_writer(Form::Jsonl, io)
}

/// Prints records.
///
/// # Errors
/// Standard output is closed, or see [`WriteError`].
pub(super) fn print_records<Record: Serialize>(
    records: &[Record],
    io: &mut Io,
) -> anyhow::Result<()> {
    let mut writer = open_record_writer(io)?;
    for record in records {
        writer.record(record)?;
    }
    Ok(writer.flush()?)
}

/// Takes standard output for the records of a run. In the form `text`, they are converted to text.
///
/// # Errors
/// Standard output is closed.
pub(super) fn open_run_writer(
    form: Form,
    shows_messages: bool,
    globals: &Globals,
    io: &mut Io,
) -> anyhow::Result<RecordWriter> {
    if form == Form::Jsonl {
        return open_record_writer(io);
    }
    // The window may be resized.
    let first = io.terminal.columns;
    let look = RunLook {
        style: globals.style(io),
        columns: Arc::new(move || first.and_then(|first| columns().or(Some(first)))),
        shows_messages,
    };
    let text = RunText::new(take_sink(io)?, look)?;
    Ok(Writer::new(Box::new(text)))
}

/// Prints text that is not a record: help, a completion script, a schema.
///
/// # Errors
/// Standard output is closed, or see [`WriteError`].
pub(super) fn print(io: &mut Io, text: &str) -> anyhow::Result<()> {
    let mut writer = open_writer(Form::Text, io)?;
    writer.echo(text.as_bytes())?;
    writer.flush()?;
    Ok(())
}

/// Prints text that may be longer than the screen.
///
/// # Errors
/// Standard output is closed, or see [`WriteError`].
pub(super) fn page(text: &str, globals: &Globals, io: &mut Io) -> anyhow::Result<()> {
    use_pager(globals, io);
    print(io, text)
}

/// Puts a pager between standard output and a terminal. No progress is shown below it.
pub(super) fn use_pager(globals: &Globals, io: &mut Io) {
    let is_dumb = io
        .environment
        .text("TERM")
        .is_none_or(|name| name == "dumb");
    let command = match pager(&io.environment) {
        Some(command) if io.terminal.stdout && !globals.no_pager && !is_dumb => command,
        _ => return,
    };
    if let OutputStream::Sink(terminal) = mem::replace(&mut io.stdout, OutputStream::Closed) {
        let sets_options = !has_less_options(&io.environment);
        let pager = Pager::new(command.to_owned(), sets_options, terminal);
        io.stdout = OutputStream::Sink(Box::new(pager));
    }
    io.terminal.stderr = false;
}

/// Takes standard output for records. On a terminal, control characters in them are escaped.
///
/// # Errors
/// Standard output is closed.
pub(super) fn take_record_sink(io: &mut Io) -> Result<Box<dyn Write + Send>, WriteError> {
    let sink = take_sink(io)?;
    Ok(if io.terminal.stdout {
        Box::new(TerminalRecords::new(sink))
    } else {
        sink
    })
}

/// Takes standard output.
///
/// # Errors
/// Standard output is closed.
pub(super) fn take_sink(io: &mut Io) -> Result<Box<dyn Write + Send>, WriteError> {
    match mem::replace(&mut io.stdout, OutputStream::Closed) {
        OutputStream::Sink(sink) => Ok(sink),
        OutputStream::Closed => Err(WriteError::Failed {
            written: 0,
            source: Arc::new(std::io::Error::other("standard output is closed")),
        }),
    }
}
