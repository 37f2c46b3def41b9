//! Standard output as commands use it, and the form of what they print.

use std::io::Write;
use std::mem;

use clap::{Args, ValueEnum};

use crate::cmd::Globals;
use crate::config::{has_less_options, pager};
use crate::io::{Io, Output, TerminalFacts, TerminalRecords};
use crate::jsonl::{WriteError, Writer};
use crate::process::Pager;

/// Standard output as a stream of records.
pub(super) type RecordWriter = Writer<Box<dyn Write + Send>>;

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// For people
    Text,
    /// Records, one JSON object per line
    Jsonl,
}

/// The option for what is printed.
#[derive(Debug, Clone, Args)]
pub(super) struct FormArguments {
    /// What to print [default: text on a terminal, else jsonl]
    #[arg(short, long, value_enum, value_name = "FORM")]
    output: Option<Form>,
    /// Print records, as with `-o jsonl`
    #[arg(long, conflicts_with = "output")]
    json: bool,
}

impl FormArguments {
    /// The form that was asked for; else text on a terminal and records elsewhere.
    pub(super) fn form(&self, terminal: TerminalFacts) -> Form {
        match self.output {
            Some(form) => form,
            None if terminal.stdout && !self.json => Form::Text,
            None => Form::Jsonl,
        }
    }
}

/// The writer of a command that prints in this form; it takes standard output with it.
///
/// # Errors
/// Standard output is closed.
pub(super) fn writer(form: Form, io: &mut Io) -> anyhow::Result<RecordWriter> {
    Ok(Writer::new(match form {
        Form::Text => take_sink(io)?,
        Form::Jsonl => record_sink(io)?,
    }))
}

/// The writer of a command that prints records.
///
/// # Errors
/// Standard output is closed.
pub(super) fn record_writer(io: &mut Io) -> anyhow::Result<RecordWriter> {
    writer(Form::Jsonl, io)
}

/// Prints text that is not a record: help, a completion script, a schema.
///
/// # Errors
/// Standard output is closed, or see [`WriteError`].
pub(super) fn print(io: &mut Io, text: &str) -> anyhow::Result<()> {
    let mut writer = writer(Form::Text, io)?;
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

/// Puts a pager between standard output and a terminal that it may be. Returns whether there is one.
pub(super) fn use_pager(globals: &Globals, io: &mut Io) -> bool {
    let is_dumb = io
        .environment
        .text("TERM")
        .is_none_or(|name| name == "dumb");
    let command = match pager(&io.environment) {
        Some(command) if io.terminal.stdout && !globals.no_pager && !is_dumb => command,
        _ => return false,
    };
    if let Output::Sink(terminal) = mem::replace(&mut io.stdout, Output::Closed) {
        let sets_options = !has_less_options(&io.environment);
        let pager = Pager::new(command.to_owned(), sets_options, terminal);
        io.stdout = Output::Sink(Box::new(pager));
    }
    true
}

/// Standard output for records: on a terminal, nothing in them is obeyed or hidden.
///
/// # Errors
/// It is closed.
pub(super) fn record_sink(io: &mut Io) -> Result<Box<dyn Write + Send>, WriteError> {
    let sink = take_sink(io)?;
    Ok(if io.terminal.stdout {
        Box::new(TerminalRecords::new(sink))
    } else {
        sink
    })
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
