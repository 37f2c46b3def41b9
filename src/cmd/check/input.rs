//! The input of the `check` commands: one item per line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::cmd::inputs::{is_stdin, open_stream, take_stdin};
use crate::cmd::{Form, FormArguments, InputErrors, RecordWriter, Status, output};
use crate::io::{Io, Messages};
use crate::json::replace_lone_surrogates;
use crate::jsonl::LineReader;
use crate::records::CheckErrorRecord;
use crate::view::ProgressLine;

/// The hint for a missing file, which may be a command or text.
const STDIN_HINT: &str = "arguments are files; to check a command or text, pipe it in: `echo 'ls -l' | turnpipe check shell --plain`";

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
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) form: FormArguments,
}

/// One kind of check.
pub(crate) struct Check<'a, Item> {
    /// Its name in records and messages, e.g. `text`.
    pub(crate) name: &'static str,
    /// The form of lines, unless `--plain` is given.
    pub(crate) form: LineForm,
    /// The form of the output.
    pub(crate) prints: Form,
    /// Checks a line.
    pub(crate) examine: &'a dyn Fn(&CheckedLine) -> CheckOutput<Item>,
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
    /// Answers every line, in input order. Output is flushed before waiting for input.
    ///
    /// # Errors
    /// Reading or writing failed.
    pub(crate) fn check_each<Item: Serialize>(
        &self,
        check: &Check<'_, Item>,
        io: &mut Io,
    ) -> anyhow::Result<Status> {
        let progress = ProgressLine::of_input("checking", &self.files, io);
        let mut answering = LineChecker {
            check,
            form: if self.plain {
                LineForm::Plain
            } else {
                check.form
            },
            writer: output::writer(check.prints, io)?,
            messages: io.messages.clone(),
            lines: 0,
            unusable: 0,
        };
        let mut errors = InputErrors::new(&io.messages);
        if self.files.is_empty() {
            answering.answer_source(progress.counting(take_stdin(io)?), None)?;
        }
        for path in &self.files {
            let name = path.to_string_lossy();
            match open_stream(path, io) {
                Ok(stream) => {
                    let name = (!is_stdin(path)).then_some(&*name);
                    answering.answer_source(progress.counting(stream), name)?;
                }
                Err(error) if path.exists() || is_stdin(path) => errors.report(&name, &error),
                Err(error) => errors.report(&name, &error.with_hint(STDIN_HINT)),
            }
        }
        let LineChecker {
            lines, unusable, ..
        } = answering;
        let name = check.name;
        io.messages
            .log(&format!("check {name}: {lines} lines, {unusable} unusable"));
        Ok(if self.strict && unusable > 0 {
            Status::UnusableRecords
        } else {
            errors.outcome(Status::Done)
        })
    }
}

/// A running check.
struct LineChecker<'a, Item> {
    check: &'a Check<'a, Item>,
    form: LineForm,
    writer: RecordWriter,
    messages: Messages,
    lines: u64,
    unusable: u64,
}

impl<Item: Serialize> LineChecker<'_, Item> {
    /// Answers the lines of one source; `path` is `None` for standard input.
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
            let checked = match line {
                Ok(bytes) => {
                    let bytes = without_byte_order_mark(bytes, number);
                    read_checked_line(bytes, self.form)
                }
                Err(_) => Err("the line is longer than 16 MiB".to_owned()),
            };
            match checked {
                Ok(checked) => {
                    if checked.repaired {
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
                        CheckOutput::Unusable(error) => self.unusable(number, error, path)?,
                        CheckOutput::Text(text) => self.writer.echo(text.as_bytes())?,
                    }
                }
                Err(error) => self.unusable(number, error, path)?,
            }
        }
        self.lines += number;
        self.writer.flush()?;
        Ok(())
    }

    fn unusable(&mut self, line: u64, error: String, path: Option<&str>) -> anyhow::Result<()> {
        self.unusable += 1;
        if self.check.prints == Form::Text {
            let source = path.unwrap_or("standard input");
            self.messages
                .error(&format!("{source}: line {line}: {error}"));
            if line == 1 && self.form != LineForm::Plain {
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
fn without_byte_order_mark(line: &[u8], number: u64) -> &[u8] {
    match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if number == 1 => rest,
        _ => line,
    }
}

/// The form of input lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineForm {
    /// A JSON string, or an object with the text in this field.
    Json {
        /// The field's name.
        field: &'static str,
        /// Further fields of the object to read.
        context: Context,
    },
    /// Any JSON; the whole line is the text.
    AnyJson,
    /// The line is the text.
    Plain,
}

/// Fields of an object line to read in addition to its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// No further fields.
    Ignored,
    /// The directory, `cwd`.
    Directory,
}

/// A usable line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CheckedLine {
    /// The text to check.
    pub(crate) text: String,
    /// The line's `cwd`.
    pub(crate) directory: Option<String>,
    /// Whether invalid UTF-8 was replaced by U+FFFD.
    pub(crate) repaired: bool,
}

/// Parses a line.
///
/// # Errors
/// The reason why the line is unusable.
pub(crate) fn read_checked_line(line: &[u8], form: LineForm) -> Result<CheckedLine, String> {
    let decoded = String::from_utf8_lossy(line);
    let repaired = matches!(decoded, Cow::Owned(_));
    let paired = || replace_lone_surrogates(&decoded).unwrap_or_else(|| (*decoded).to_owned());
    let (text, directory) = match form {
        LineForm::Plain => (decoded.into_owned(), None),
        LineForm::AnyJson => (paired(), None),
        LineForm::Json { field, context } => parts_of_json(&paired(), field, context)?,
    };
    Ok(CheckedLine {
        text,
        directory,
        repaired,
    })
}

fn parts_of_json(
    json: &str,
    field: &str,
    context: Context,
) -> Result<(String, Option<String>), String> {
    let value: &RawValue = parse(json)?;
    match value.get().as_bytes().first() {
        Some(b'"') => Ok((parse(value.get())?, None)),
        Some(b'{') => {
            // The last of several fields with the same name counts; the others are not parsed.
            let fields: HashMap<String, &RawValue> = parse(value.get())?;
            let text = string_field(&fields, field)?
                .ok_or_else(|| format!("the object has no `{field}`"))?;
            let directory = match context {
                Context::Directory => string_field(&fields, "cwd")?,
                Context::Ignored => None,
            };
            Ok((text, directory))
        }
        _ => Err(format!(
            "expected a string or an object with a string `{field}`, found {}",
            kind_of(value)
        )),
    }
}

fn string_field(fields: &HashMap<String, &RawValue>, name: &str) -> Result<Option<String>, String> {
    match fields.get(name) {
        None => Ok(None),
        Some(value) if value.get().starts_with('"') => parse(value.get()).map(Some),
        Some(value) => Err(format!("`{name}` is not a string but {}", kind_of(value))),
    }
}

fn parse<'a, Value: serde::Deserialize<'a>>(json: &'a str) -> Result<Value, String> {
    serde_json::from_str(json).map_err(|error| format!("not JSON: {}", on_one_line(&error)))
}

/// Returns the error without its line number, which is always 1.
pub(crate) fn on_one_line(error: &serde_json::Error) -> String {
    error.to_string().replace("at line 1 column", "at column")
}

fn kind_of(value: &RawValue) -> &'static str {
    match value.get().as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'[') => "an array",
        Some(b'{') => "an object",
        Some(b'"') => "a string",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const JSON: LineForm = LineForm::Json {
        field: "text",
        context: Context::Ignored,
    };

    fn text(line: &str) -> Result<String, String> {
        read_checked_line(line.as_bytes(), JSON).map(|checked| checked.text)
    }

    #[test]
    fn strings_and_objects_with_a_text_are_usable() {
        let table = [
            (r#""a""#, "a"),
            (r#" "a" "#, "a"),
            (r#""""#, ""),
            (r#"{"text":"a"}"#, "a"),
            (r#"{"te\u0078t":"a","n":1e999,"deep":[[[]]]}"#, "a"),
            (r#"{"text":1,"text":"last"}"#, "last"),
            (r#""\ud83d""#, "\u{fffd}"),
            (r#"{"text":"\ude00","other":"\ud83d"}"#, "\u{fffd}"),
        ];
        for (line, expected) in table {
            assert_eq!(text(line).as_deref(), Ok(expected), "{line}");
        }
    }

    #[test]
    fn other_lines_say_why_they_are_unusable() {
        let table = [
            ("", "not JSON"),
            ("plain", "not JSON"),
            (r#""open"#, "not JSON"),
            (r#""a" "b""#, "not JSON"),
            ("null", "found null"),
            ("1", "found a number"),
            ("-1", "found a number"),
            ("true", "found a boolean"),
            (r#"["a"]"#, "found an array"),
            ("{}", "the object has no `text`"),
            (r#"{"text":null}"#, "`text` is not a string but null"),
            (r#"{"text":["a"]}"#, "`text` is not a string but an array"),
        ];
        for (line, reason) in table {
            let error = text(line).unwrap_err();
            assert!(error.contains(reason), "{line}: {error}");
            assert!(!error.contains('\n'), "{line}: {error}");
        }
    }

    #[test]
    fn a_plain_line_is_its_own_text() {
        let checked = read_checked_line(b"\"a\" \\ud83d", LineForm::Plain);
        let text = "\"a\" \\ud83d".to_owned();
        assert_eq!(
            checked,
            Ok(CheckedLine {
                directory: None,
                text,
                repaired: false
            })
        );
    }

    #[test]
    fn invalid_utf_8_is_repaired_and_reported() {
        for form in [JSON, LineForm::Plain] {
            let checked = read_checked_line(b"\"a\xff\"", form).unwrap();
            assert!(checked.repaired && checked.text.contains("a\u{fffd}"));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_accepted(line in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = read_checked_line(&line, JSON);
            prop_assert!(read_checked_line(&line, LineForm::Plain).is_ok());
        }

        #[test]
        fn every_json_string_is_read(asked in any::<String>()) {
            let line = serde_json::to_string(&asked).unwrap();
            prop_assert_eq!(text(&line), Ok(asked));
        }
    }
}
