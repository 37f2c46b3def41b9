//! The input of the `check` commands: one item per line.

use std::cell::Cell;
use std::io::Read;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use crate::commands::inputs::{is_standard_stream, open_stream, take_stdin};
use crate::commands::{Form, FormArguments, InputErrors, RecordWriter, Status, output};
use crate::io::{Io, Messages};
use crate::jsonl::{LineReader, TextLine, TextLineForm, parse_text_line};
use crate::records::CheckErrorRecord;
use crate::render::ProgressLine;

/// Maximum line length, in bytes.
const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// The source and form of the input lines, and the form of the output.
#[derive(Debug, Args)]
pub(crate) struct CheckInput {
    /// Files to read instead of standard input (`-`)
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Read each line as raw text instead of JSON
    #[arg(long)]
    pub(crate) plain: bool,
    /// Exit with 3 if a line is unusable
    #[arg(long, hide_short_help = true)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// One kind of check.
pub(crate) struct Check<'a, Item> {
    /// Its name in records and messages, e.g. `text`.
    pub(crate) name: &'static str,
    /// The form of lines, unless `--plain` is given.
    pub(crate) form: TextLineForm,
    /// The form of the output.
    pub(crate) output_form: Form,
    /// With `--exit-status`, whether all items have passed so far.
    pub(crate) passed: Option<&'a Cell<bool>>,
    /// Checks a line.
    pub(crate) examine: &'a dyn Fn(&TextLine) -> CheckOutput<Item>,
}

/// The result for a line.
pub(crate) enum CheckOutput<Item> {
    Records(Vec<Item>),
    /// The reason why the line is unusable.
    Unusable(String),
    /// Text, including the final line break.
    Text(String),
}

impl CheckInput {
    /// Checks every line, in input order. Output is flushed before each wait for input.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub(crate) fn check_each<Item: Serialize>(
        &self,
        check: &Check<'_, Item>,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let progress = ProgressLine::for_input("checking", &self.files, io);
        let mut checker = LineChecker {
            check,
            form: if self.plain {
                TextLineForm::Plain
            } else {
                check.form
            },
            writer: output::open_writer(check.output_form, io)?,
            messages: io.messages.clone(),
            lines: 0,
            unusable: 0,
        };
        let mut errors = InputErrors::new(&io.messages);
        if self.files.is_empty() {
            checker.check_source(progress.count_bytes(take_stdin(io)?), None)?;
        }
        for path in &self.files {
            let name = path.to_string_lossy();
            match open_stream(path, io) {
                Ok(stream) => {
                    let name = (!is_standard_stream(path)).then_some(&*name);
                    checker.check_source(progress.count_bytes(stream), name)?;
                }
                Err(error) if path.exists() || is_standard_stream(path) => {
                    errors.report(&name, &error);
                }
                Err(error) => {
                    let name_of_check = check.name;
                    let hint = format!(
                        "arguments are files; to check a command or text, pipe it in: \
                         `echo 'ls -l' | turnpipe check {name_of_check} --plain`"
                    );
                    errors.report(&name, &error.with_hint(hint));
                }
            }
        }
        let LineChecker {
            lines, unusable, ..
        } = checker;
        let name = check.name;
        io.messages
            .log(&format!("check {name}: {lines} lines, {unusable} unusable"));
        Ok(if self.strict && unusable > 0 {
            Status::UnusableRecords
        } else {
            let has_failed = |passed: &Cell<bool>| unusable > 0 || !passed.get();
            errors.to_status(Status::negative_if(check.passed.is_some_and(has_failed)))
        })
    }
}

/// A running check.
struct LineChecker<'a, Item> {
    check: &'a Check<'a, Item>,
    form: TextLineForm,
    writer: RecordWriter,
    messages: Messages,
    lines: u64,
    unusable: u64,
}

impl<Item: Serialize> LineChecker<'_, Item> {
    /// Checks the lines of one source; `path` is `None` for standard input.
    fn check_source(&mut self, source: impl Read, path: Option<&str>) -> anyhow::Result<()> {
        let source_name = path.unwrap_or("standard input");
        let mut reader = LineReader::new(source, LINE_LIMIT);
        let mut number = 0;
        loop {
            if reader.may_wait() {
                self.writer.flush()?;
            }
            let line = reader
                .next_line()
                .with_context(|| format!("cannot read `{source_name}`"))?;
            let Some(line) = line else {
                break;
            };
            number += 1;
            let checked = match line {
                Ok(bytes) => {
                    let bytes = strip_byte_order_mark(bytes, number);
                    parse_text_line(bytes, self.form)
                }
                Err(_) => Err("the line is longer than 16 MiB".to_owned()),
            };
            match checked {
                Ok(checked) => {
                    if checked.had_invalid_utf8 {
                        self.unusable += 1;
                        self.messages.warn(&format!(
                            "{source_name}: line {number}: invalid UTF-8 was replaced by U+FFFD"
                        ));
                    }
                    match (self.check.examine)(&checked) {
                        CheckOutput::Records(records) => {
                            for record in &records {
                                self.writer.record(record)?;
                            }
                        }
                        CheckOutput::Unusable(error) => {
                            self.report_unusable(number, error, path)?;
                        }
                        CheckOutput::Text(text) => self.writer.echo(text.as_bytes())?,
                    }
                }
                Err(error) => self.report_unusable(number, error, path)?,
            }
        }
        self.lines += number;
        self.writer.flush()?;
        Ok(())
    }

    fn report_unusable(
        &mut self,
        line: u64,
        error: String,
        path: Option<&str>,
    ) -> anyhow::Result<()> {
        self.unusable += 1;
        if self.check.output_form == Form::Text {
            let source = path.unwrap_or("standard input");
            self.messages
                .error(&format!("{source}: line {line}: {error}"));
            if line == 1 && self.form != TextLineForm::Plain {
                self.messages.hint("`--plain` reads each line as raw text");
            }
            return Ok(());
        }
        self.writer.record(&CheckErrorRecord {
            check: self.check.name.to_owned(),
            line,
            error,
            path: path.map(str::to_owned),
        })?;
        Ok(())
    }
}

/// Removes the U+FEFF that some editors put at the start of a file.
fn strip_byte_order_mark(line: &[u8], number: u64) -> &[u8] {
    match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if number == 1 => rest,
        _ => line,
    }
}
