//! `summarize-batch`: labels for finished batches of tool calls.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::api::{Api, prefilter_needles};
use crate::assemble::Decoder;
use crate::client::model::Pace;
use crate::commands::error::ModelFailures;
use crate::commands::inputs::{
    open_session_to_append, open_stream, report_foreign_stream, take_stdin, working_directory,
};
use crate::commands::model_arguments::{
    Fallback, NoModel, SideArguments, new_nothing_to_send_error,
};
use crate::commands::{Form, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output};
use crate::io::{CancelToken, Ids, Io, Messages, Moment, retry_interrupted};
use crate::jsonl::{Damage, Prefilter};
use crate::message::{SessionId, ToolUseId};
use crate::process::report_end_signals;
use crate::records::{SideExtension, ToolUseSummaryRecord, UsageRecord};
use crate::render::{ProgressLine, Style};
use crate::session::durable::{FileSystems, Sync};
use crate::session::record::{Ownership, SessionFacts, Transcript, find_owner, side_file_path};
use crate::summaries::label::{
    Label, LabelSink, LabelSource, LabelStream, Labeler, PROMPT, Placing, RecordedLabels,
    StreamEnd, Timing,
};
use crate::summaries::{Text, TextEngine, extension};

/// Needles of lines with texts of the model or with labels, in addition to the needles of lines with calls.
const BESIDES_CALLS: [&str; 2] = ["\"text_delta\"", "\"tool_use_summary\""];

/// Default of `--hold-ms`.
const HOLD_MS: &str = "5000";

/// Default of `--jobs`.
const JOBS: &str = "4";

/// Label finished batches of tool calls
///
/// Copies a stream of calls and results, and adds a record with a label for each batch: the calls
/// of one assistant message, once they have results. Labels are requested ahead; a line waits for
/// them at most `--hold-ms`. Without a model, built-in rules write the labels. A missing label is
/// not an error.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe summarize-batch --no-echo stream.jsonl
  turnpipe run-tools < reply.jsonl | turnpipe summarize-batch -o text")]
pub(crate) struct SummarizeBatchArguments {
    /// Files to read instead of standard input; `-` is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// When to write labels
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    emit: EmitLabels,
    /// Maximum time that a line waits for labels, in milliseconds
    ///
    /// A later label follows where the stream is then, or at the end, which waits for labels as long, or at least
    /// 5 seconds. Once a label was late, the time that lines wait in a pipe counts too. A line of a file has no such
    /// time: it waits from when it is read. After three late labels in a row no line waits, and one label is
    /// requested at a time, until one is in time; so a model that hangs delays the lines of a file by at most three
    /// times this limit.
    #[arg(long, value_name = "MS", default_value = HOLD_MS)]
    hold_ms: u64,
    /// Maximum number of labels to request at once
    #[arg(short, long, value_name = "N", default_value = JOBS, hide_short_help = true)]
    jobs: std::num::NonZeroUsize,
    /// Label single reads and searches by the built-in rules
    #[arg(long)]
    shortcuts: bool,
    /// Do not copy the input
    #[arg(long)]
    no_echo: bool,
    /// Also append the labels to `FILE.turnpipe`, next to this session file
    ///
    /// Labels that are there already are written to the output again, and not requested.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    record: Option<PathBuf>,
    /// Read from this agent's settings file whether labels are enabled
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    settings: Option<PathBuf>,
    /// Read only this dialect, instead of detecting it line by line
    #[arg(long, value_enum, value_name = "DIALECT")]
    from: Option<Api>,
    #[command(flatten)]
    side: SideArguments,
}

/// When to write labels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum EmitLabels {
    /// Before the content of the next message
    #[default]
    Turn,
    /// As soon as they are ready; no line waits, unless 256 labels are requested
    Ready,
}

impl Run for SummarizeBatchArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let Some(instructions) = self.side.load_instructions(PROMPT, io)? else {
            return Ok(Status::Done);
        };
        let stop = CancelToken::default();
        let labeler = self.labeler(instructions, &stop, globals, io)?;
        let form = self.side.form.form(io.terminal);
        let recorder = self
            .record
            .as_deref()
            .map(|path| recorder(path, io))
            .transpose()?;
        let progress = ProgressLine::for_input("labelling", &self.files, io);
        let mut errors = InputErrors::new(&io.messages);
        let is_waiting = io.stdin.readiness_check();
        let input = Box::new(progress.count_bytes(self.input(&mut errors, io)?));
        let timing = Timing {
            placing: match self.emit {
                EmitLabels::Turn => Placing::BeforeNextMessage(Duration::from_millis(self.hold_ms)),
                EmitLabels::Ready => Placing::WhenReady,
            },
            jobs: self.jobs.get(),
        };
        let decoder = self
            .from
            .map_or_else(Decoder::with_detection, Decoder::for_api)
            .with_items();
        let needles = prefilter_needles();
        let needles: Vec<&str> = needles.iter().chain(&BESIDES_CALLS).copied().collect();
        let printing = match (self.side.model.dry_run, form) {
            (true, _) => Printing::Bodies,
            (false, Form::Text) => Printing::Text(globals.style(io)),
            (false, Form::Jsonl) if self.no_echo => Printing::OwnRecords,
            (false, Form::Jsonl) => Printing::Everything,
        };
        let mut sink = LabelPrinter {
            writer: match printing {
                Printing::Text(_) => output::open_writer(Form::Text, io)?,
                _ => output::open_record_writer(io)?,
            },
            printing,
            ids: Arc::clone(&io.ids),
            messages: io.messages.clone(),
            recorder,
            failures: ModelFailures::new(&io.messages),
            labels: 0,
        };
        let Some(labeler) = labeler else {
            // Labels are disabled, or `--model none` is set.
            return Ok(errors.to_status(copy(input, &mut sink)?));
        };
        let earlier = self.record.as_deref().map(RecordedLabels::read).transpose();
        let earlier = earlier.context("cannot read the recorded labels")?;
        let end = LabelStream::new(timing, &labeler, earlier, decoder).run(
            input,
            is_waiting,
            Prefilter::new(&needles)?,
            &mut sink,
            |report| {
                let _ = report_end_signals(report);
            },
        );
        stop.cancel();
        Ok(errors.to_status(self.finish(end, sink)?))
    }
}

impl SummarizeBatchArguments {
    fn finish(&self, end: StreamEnd, mut sink: LabelPrinter) -> anyhow::Result<Status> {
        if let Some(recorder) = sink.recorder.take() {
            recorder
                .finish(Sync::Data)
                .context("cannot record the labels")?;
        }
        if let StreamEnd::Copied(understanding) = end {
            report_foreign_stream(understanding, &sink.messages);
        }
        match end {
            StreamEnd::Copied(_) => {
                let outcome = Status::negative_if(sink.labels == 0 && self.side.exit_status);
                Ok(sink.failures.outcome(sink.labels, true, outcome))
            }
            StreamEnd::Ended(signal) => Ok(signal.into()),
            StreamEnd::InputFailed(error) => Err(error).context("cannot read input"),
            StreamEnd::OutputFailed(error) => Err(error.into()),
        }
    }

    /// Returns the rules or the model; `None` if labels are disabled.
    fn labeler(
        &self,
        instructions: String,
        stop: &CancelToken,
        globals: &Globals,
        io: &Io,
    ) -> Result<Option<Labeler>, UsageError> {
        let gates = globals.config(io)?.side_gates(self.settings.as_deref())?;
        if !gates.labels {
            return Ok(None);
        }
        let arguments = &self.side.model;
        let pace = Pace::default();
        let engine =
            arguments.create_engine(NoModel::UseRules, Fallback::None, pace, stop, globals, io)?;
        Ok(match engine {
            TextEngine::None => None,
            TextEngine::Model(asker) if arguments.dry_run => Some(Labeler::DryRun {
                provider: asker.provider,
                instructions,
            }),
            TextEngine::Rules if arguments.dry_run => return Err(new_nothing_to_send_error()),
            TextEngine::Rules => Some(Labeler::Rules),
            TextEngine::Model(asker) => Some(Labeler::Model {
                asker,
                instructions,
                shortcuts: self.shortcuts,
            }),
        })
    }

    /// Returns the concatenated inputs.
    fn input(
        &self,
        errors: &mut InputErrors,
        io: &mut Io,
    ) -> Result<Box<dyn Read + Send>, UsageError> {
        if self.files.is_empty() {
            return Ok(Box::new(take_stdin(io)?));
        }
        let mut all: Box<dyn Read + Send> = Box::new(io::empty());
        for path in &self.files {
            match open_stream(path, io) {
                Ok(stream) => all = Box::new(all.chain(stream)),
                Err(error) => errors.report(path.display(), &error),
            }
        }
        Ok(all)
    }
}

/// Opens the side file of the session for labels: the agent may be writing to the session's own file
/// at the same time.
fn recorder(path: &Path, io: &Io) -> anyhow::Result<Transcript> {
    let whose =
        find_owner(path).map_err(|error| UsageError::reason(error).about(path.display()))?;
    if whose == Ownership::AnotherAgent {
        open_session_to_append(path)?;
    }
    let name = path.file_stem().unwrap_or_default();
    let directory = working_directory()?;
    let facts = SessionFacts::new(name.to_string_lossy(), directory.display().to_string());
    Ok(Transcript::new(
        side_file_path(path),
        facts,
        FileSystems::Local,
        Moment::from_io(io),
    ))
}

/// Copies the input without labels.
fn copy(mut input: Box<dyn Read + Send>, sink: &mut LabelPrinter) -> anyhow::Result<Status> {
    let mut block = vec![0; 64 * 1024];
    loop {
        let read = retry_interrupted(|| input.read(&mut block)).context("cannot read input")?;
        if read == 0 {
            return Ok(Status::Done);
        }
        sink.bytes(&block[..read])?;
        sink.flush()?;
    }
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Printing {
    /// The input and our records.
    Everything,
    /// Our records.
    OwnRecords,
    /// The labels as text.
    Text(Style),
    /// The bodies of the requests that would be sent.
    Bodies,
}

/// Prints labels between the lines of the input, and records them.
pub(crate) struct LabelPrinter {
    pub(crate) writer: RecordWriter,
    pub(crate) printing: Printing,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) messages: Messages,
    /// The side file of the session. Labels are appended to it.
    pub(crate) recorder: Option<Transcript>,
    pub(crate) failures: ModelFailures,
    /// Number of printed labels.
    pub(crate) labels: usize,
}

impl LabelSink for LabelPrinter {
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.printing != Printing::Everything {
            return Ok(());
        }
        Ok(self.writer.echo(bytes)?)
    }

    fn label(&mut self, label: Label, session: Option<&SessionId>) -> io::Result<()> {
        let no_text = match label.result {
            None => return Ok(()),
            Some(Ok(text)) => {
                self.labels += 1;
                return self.print(label.ids, text, label.source, session);
            }
            Some(Err(no_text)) => no_text,
        };
        if let Some(failure) = &no_text.failure {
            self.messages.log(&format!("[TOOL_USE_SUMMARY] {failure}"));
            self.failures.report(failure);
        }
        let Some(cost) = no_text.cost else {
            return Ok(());
        };
        let turnpipe = extension(None, Some(&cost));
        let uuid = self.ids.uuid().to_string();
        self.write_own(&UsageRecord::new(uuid, session.cloned(), turnpipe), true)
    }

    fn report_late(&mut self, batch: u64) {
        self.messages.log(&format!(
            "[TOOL_USE_SUMMARY] the label of batch {} was not ready in time and follows later",
            batch + 1
        ));
    }

    fn report_lost_patience(&mut self) {
        self.messages.warn(
            "the model is too slow for `--hold-ms`: until it is faster, lines do not wait for labels, and one \
             label is requested at a time",
        );
    }

    fn damage(&mut self, damage: &Damage) {
        self.messages.warn(&damage.to_string());
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(self.writer.flush()?)
    }
}

impl LabelPrinter {
    fn print(
        &mut self,
        ids: Vec<ToolUseId>,
        label: Text,
        source: LabelSource,
        session: Option<&SessionId>,
    ) -> io::Result<()> {
        let text = &label.text;
        match self.printing {
            Printing::Bodies if matches!(source, LabelSource::Recorded(_)) => return Ok(()),
            Printing::Bodies => return self.line(text),
            Printing::Text(style) => self.line(&style.label_line(text))?,
            Printing::Everything | Printing::OwnRecords => {}
        }
        let (uuid, calls, is_new) = match source {
            LabelSource::New(calls) => (String::new(), calls, true),
            LabelSource::Recorded(uuid) => (uuid, None, false),
        };
        let record = ToolUseSummaryRecord {
            summary: label.text,
            preceding_tool_use_ids: ids,
            uuid: match uuid.as_str() {
                "" => self.ids.uuid().to_string(),
                _ => uuid,
            },
            session_id: session.cloned(),
            turnpipe: SideExtension {
                calls,
                ..extension(Some(label.model), label.cost.as_ref())
            },
        };
        self.write_own(&record, is_new)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.writer.echo(format!("{text}\n").as_bytes())?;
        self.flush()
    }

    /// Appends a record of turnpipe to the side file if it is new, then prints it.
    fn write_own(&mut self, record: &impl serde::Serialize, is_new: bool) -> io::Result<()> {
        if let Some(recorder) = self.recorder.as_mut().filter(|_| is_new) {
            let record = serde_json::to_value(record)?;
            recorder.record(record).map_err(io::Error::other)?;
        }
        if matches!(self.printing, Printing::Text(_) | Printing::Bodies) {
            return Ok(());
        }
        self.writer.record(record)?;
        self.flush()
    }
}
