//! The input of the `check` commands: one question a line, one answer record a question.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::mem;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde::Serialize;

use super::check_line::{LineForm, Question, Surroundings, read_question};
use super::line_reader::{Line, LineReader};
use super::{Globals, Outcome, output, usage};
use crate::io::{Input, Io, Messages};
use crate::jsonl::Writer;
use crate::wire::records::CheckErrorRecord;

/// The longest line that is looked at, in bytes.
const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// Where the lines come from and how they are read.
#[derive(Debug, Args)]
pub(super) struct CheckInput {
    /// Files to read instead of standard input; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Take each line as raw text, not as JSON
    #[arg(long)]
    pub(super) plain: bool,
    /// Exit with status 3 if a line was unusable
    #[arg(long)]
    pub(super) strict: bool,
}

/// One kind of check.
pub(super) struct Check<'a, Answer> {
    /// The name in records and messages, e.g. `text`.
    pub(super) name: &'static str,
    /// The field of an object line that holds the text.
    pub(super) field: &'static str,
    /// What else an object line says.
    pub(super) surroundings: Surroundings,
    /// From a question to what answers it.
    pub(super) answer: &'a dyn Fn(&Question) -> Reply<Answer>,
}

/// What goes out for a line.
pub(super) enum Reply<Answer> {
    /// A record.
    Record(Answer),
    /// Text for people, with its last line break.
    Text(String),
}

impl CheckInput {
    /// Answers every line with one record, in input order. What was answered is flushed before
    /// the next line is waited for.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub(super) fn answer_each<Answer: Serialize>(
        &self,
        check: &Check<'_, Answer>,
        globals: &Globals,
        io: &mut Io,
    ) -> anyhow::Result<Outcome> {
        let standard_input = Some(PathBuf::from("-"));
        let sources = match self.files.as_slice() {
            [] => standard_input.as_slice(),
            files => files,
        };
        if io.terminal.stdin
            && sources
                .iter()
                .any(|path| is_standard_input(path.as_os_str()))
        {
            return Ok(usage::expects_piped_input(&["check", check.name], io));
        }
        let mut answering = Answering {
            check,
            form: if self.plain {
                LineForm::Plain
            } else {
                LineForm::Json {
                    field: check.field,
                    surroundings: check.surroundings,
                }
            },
            writer: output::record_writer(io)?,
            messages: (!globals.quiet).then(|| io.messages.clone()),
            lines: 0,
            unusable: 0,
        };
        for path in sources {
            if is_standard_input(path.as_os_str()) {
                let stdin = mem::replace(&mut io.stdin, Input::Closed);
                answering.answer_source(stdin, None)?;
            } else {
                let name = path.to_string_lossy();
                let file = File::open(path).with_context(|| format!("cannot read `{name}`"))?;
                answering.answer_source(file, Some(&name))?;
            }
        }
        let Answering {
            lines, unusable, ..
        } = answering;
        if globals.verbose {
            let name = check.name;
            io.messages.note(&format!(
                "check {name}: {lines} lines, {unusable} of them unusable"
            ));
        }
        Ok(if self.strict && unusable > 0 {
            Outcome::UnusableRecords
        } else {
            Outcome::Done
        })
    }
}

fn is_standard_input(path: &OsStr) -> bool {
    path == "-"
}

/// A check at work.
struct Answering<'a, Answer> {
    check: &'a Check<'a, Answer>,
    form: LineForm,
    writer: Writer<Box<dyn Write + Send>>,
    /// Where warnings go, if anywhere.
    messages: Option<Messages>,
    lines: u64,
    unusable: u64,
}

impl<Answer: Serialize> Answering<'_, Answer> {
    /// Answers the lines of one source; `path` is what to call it, if it has a name.
    fn answer_source(&mut self, source: impl Read, path: Option<&str>) -> anyhow::Result<()> {
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
            let question = match line {
                Line::Whole(bytes) => {
                    let bytes = without_byte_order_mark(bytes, number);
                    read_question(bytes, self.form)
                }
                Line::TooLong => Err("the line is longer than 16 MiB".to_owned()),
            };
            match question {
                Ok(question) => {
                    if question.repaired {
                        self.unusable += 1;
                        self.warn(&format!(
                            "{source_name}: line {number}: invalid UTF-8 was read as U+FFFD"
                        ));
                    }
                    match (self.check.answer)(&question) {
                        Reply::Record(record) => self.writer.record(&record)?,
                        Reply::Text(text) => self.writer.echo(text.as_bytes())?,
                    }
                }
                Err(error) => {
                    self.unusable += 1;
                    self.writer.record(&CheckErrorRecord {
                        check: self.check.name.to_owned(),
                        line: number,
                        error,
                        path: path.map(str::to_owned),
                    })?;
                }
            }
        }
        self.lines += number;
        self.writer.flush()?;
        Ok(())
    }

    fn warn(&self, warning: &str) {
        if let Some(messages) = &self.messages {
            messages.note(warning);
        }
    }
}

/// Some editors begin a file with U+FEFF; it is no part of the first line.
fn without_byte_order_mark(line: &[u8], number: u64) -> &[u8] {
    match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if number == 1 => rest,
        _ => line,
    }
}
