//! `session append`: record a stream in a session file.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use anyhow::Context;
use clap::Args;

use crate::commands::inputs::{
    is_standard_stream, open_session_to_append, read_recorded_id, report_foreign_stream,
    take_stdin, working_directory,
};
use crate::commands::{
    FormArguments, Globals, InputErrors, RecordWriter, Run, Status, UsageError, output,
};
use crate::io::{InputStream, Io, Moment};
use crate::jsonl::{Mapping, Piece, Prefilter, Reader, WriteError, WriteResult, Writer};
use crate::process::{EndRequests, EndSignal, report_end_signals};
use crate::render::{CountingReader, ProgressLine};
use crate::session::durable::{FileSystems, RecordError, RecordFailure, Sync};
use crate::session::record::{
    Continuation, ForeignSession, Ownership, RecordOutcome, Recording, SessionFacts, Target,
    find_owner,
};
use crate::text::format_count;

/// Maximum number of pieces of the input that wait to be recorded.
const MAX_PIECES_AHEAD: usize = 64;

/// Record a stream in a session file
///
/// Copies its input, and appends messages, labels, titles, recaps and replacements to the file,
/// each as soon as its line is complete. A new file has the form of a Claude Code transcript. A file
/// of another agent gets no messages: titles and recaps are written in that agent's own form, if it
/// has one, labels and costs go into `FILE.turnpipe`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe run-tools < reply.jsonl | turnpipe session append turn.jsonl")]
pub(crate) struct SessionAppendArguments {
    /// The session file
    file: PathBuf,
    /// The session's id [default: the id of the stream or the file, else a new one]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// The data that must survive a crash of the machine
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    sync: Sync,
    /// Write to network file systems too; make sure that no other machine writes to the file
    #[arg(long)]
    force: bool,
    /// Record `[redacted]` in place of what looks like a key or a password; the copy is unchanged
    #[arg(long)]
    redact: bool,
    /// Do not copy the input
    #[arg(long)]
    no_echo: bool,
    #[command(flatten)]
    form: FormArguments,
    /// Exit with 10 if no call was made, with 11 if the turn was stopped or not recorded; 0 means
    /// continue
    #[arg(long, hide_short_help = true)]
    exit_status: bool,
}

/// An event of the main loop.
enum LoopEvent {
    Piece(Piece),
    End,
    Failed(std::io::Error),
    Signal(EndSignal),
}

impl Run for SessionAppendArguments {
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Status> {
        let progress = ProgressLine::for_input("recording", &[], io);
        let stdin = take_stdin(io)?;
        let target = self.find_target(io)?;
        let events = start_threads(progress.count_bytes(stdin))?;
        let directory = working_directory()?;
        let session_id = self
            .session_id
            .clone()
            .or_else(|| read_recorded_id(&self.file));
        let facts = SessionFacts::new(
            session_id.unwrap_or_else(|| io.ids.uuid().to_string()),
            directory.display().to_string(),
        );
        let moment = Moment::from_io(io);
        let is_named = self.session_id.is_some();
        let writer = if self.no_echo {
            None
        } else {
            let form = self.form.form(io.terminal);
            Some(output::open_run_writer(form, true, globals, io)?)
        };
        let mut run = AppendRun {
            file: &self.file,
            recording: Recording::new(target, facts, is_named, self.redact, moment),
            writer,
            refused: InputErrors::new(&io.messages),
        };
        let end = run.process(&events)?;
        report_foreign_stream(run.recording.understanding, &io.messages);
        let omitted = run.recording.omitted_messages();
        if omitted > 0 {
            let problem = format!(
                "{}: file of another agent: {} not recorded",
                self.file.display(),
                format_count(omitted, "message was", "messages were")
            );
            if self.exit_status {
                io.messages.error(&problem);
            } else {
                io.messages.warn(&problem);
            }
        }
        let continuation = run.recording.continuation();
        run.recording.finish(self.sync).map_err(to_command_error)?;
        Ok(match (end, self.exit_status, continuation) {
            (Some(signal), ..) => signal.into(),
            // A loop would not make progress.
            (None, true, Continuation::Continue) if omitted > 0 => Status::TurnStopped,
            (None, false, _) | (None, true, Continuation::Continue) => {
                run.refused.to_status(Status::Done)
            }
            (None, true, Continuation::Over) => Status::TurnOver,
            (None, true, Continuation::Stopped) => Status::TurnStopped,
        })
    }
}

impl SessionAppendArguments {
    /// Returns the files that records are written to.
    fn find_target(&self, io: &Io) -> anyhow::Result<Target> {
        if is_standard_stream(&self.file) {
            let hint = "name a session file; the stream is read from standard input";
            return Err(UsageError::new("`-` is not a file").with_hint(hint).into());
        }
        let to_error = |error: &dyn Display| UsageError::reason(error).about(self.file.display());
        let owner = find_owner(&self.file).map_err(|problem| to_error(&problem))?;
        if owner != Ownership::AnotherAgent {
            return Ok(Target::Own {
                path: self.file.clone(),
                systems: choose_file_systems(self.force),
            });
        }
        let session = open_session_to_append(&self.file)?;
        let known = session
            .summary(Mapping::Allowed)
            .map_err(|problem| to_error(&problem))?;
        let foreign = ForeignSession::new(
            &session,
            &known,
            choose_file_systems(self.force),
            Moment::from_io(io),
        );
        Ok(Target::Foreign(Box::new(foreign)))
    }
}

/// Returns the file systems to write to, given `--force`.
pub(crate) fn choose_file_systems(force: bool) -> FileSystems {
    if force {
        FileSystems::Any
    } else {
        FileSystems::Local
    }
}

/// A run of the command.
struct AppendRun<'a> {
    file: &'a Path,
    recording: Recording,
    /// Copies the input; `None` once the reader of the copy is gone.
    writer: Option<RecordWriter>,
    /// Records that the agent would not show.
    refused: InputErrors,
}

impl AppendRun<'_> {
    /// Runs to the end of the input, or until repeated signals (`docs/records.md`, Interrupts).
    fn process(&mut self, events: &Receiver<LoopEvent>) -> anyhow::Result<Option<EndSignal>> {
        let mut requests = EndRequests::default();
        loop {
            let event = if let Ok(event) = events.try_recv() {
                event
            } else {
                self.echo(Writer::flush)?;
                events.recv().unwrap_or(LoopEvent::End)
            };
            match event {
                LoopEvent::Piece(piece) => {
                    self.record_piece(&piece)?;
                    // Copied last: the reader of the copy may rely on the file containing the record.
                    self.echo(|writer| writer.echo(piece.raw()))?;
                }
                LoopEvent::End => {
                    let ended = self
                        .recording
                        .write_end(&mut new_reporter(self.file, &mut self.refused));
                    ended.map_err(to_command_error)?;
                    self.echo(Writer::flush)?;
                    return Ok(None);
                }
                LoopEvent::Failed(error) => return Err(error).context("cannot read input"),
                LoopEvent::Signal(signal) => {
                    if requests.ends_now(Instant::now()) {
                        return Ok(Some(signal));
                    }
                }
            }
        }
    }

    fn record_piece(&mut self, piece: &Piece) -> anyhow::Result<()> {
        self.recording.understanding.update(piece.raw(), &[]);
        let (records, damage) = piece.records();
        for damage in damage {
            self.refused.messages.warn(&damage.to_string());
        }
        let mut report = new_reporter(self.file, &mut self.refused);
        for record in records {
            let text = record.text(piece.raw());
            self.recording
                .record(text, &mut report)
                .map_err(to_command_error)?;
        }
        Ok(())
    }

    /// Copies to standard output until its reader is gone. Recording continues without the copy.
    fn echo(&mut self, write: impl FnOnce(&mut RecordWriter) -> WriteResult) -> WriteResult {
        match self.writer.as_mut().map(write) {
            None | Some(Ok(())) => Ok(()),
            Some(Err(WriteError::BrokenPipe)) => {
                self.writer = None;
                Ok(())
            }
            Some(Err(error)) => Err(error),
        }
    }
}

/// Starts the threads that report input and signals to the main loop.
fn start_threads(stdin: CountingReader<InputStream>) -> anyhow::Result<Receiver<LoopEvent>> {
    let (sender, events) = sync_channel(MAX_PIECES_AHEAD);
    let signals = sender.clone();
    report_end_signals(move |signal| {
        // The loop may have ended.
        let _ = signals.send(LoopEvent::Signal(signal));
    })
    .context("cannot listen for signals")?;
    let prefilter = Prefilter::new(&Recording::needles())?;
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut reader = Reader::new(stdin, prefilter);
            loop {
                let event = match reader.next_piece() {
                    Ok(Some(piece)) => LoopEvent::Piece(piece),
                    Ok(None) => LoopEvent::End,
                    Err(error) => LoopEvent::Failed(error),
                };
                let is_last = !matches!(event, LoopEvent::Piece(_));
                if sender.send(event).is_err() || is_last {
                    return;
                }
            }
        })
        .context("cannot read input")?;
    Ok(events)
}

/// Reports titles that were not written to a file.
fn new_reporter<'a>(
    file: &'a Path,
    refused: &'a mut InputErrors,
) -> impl FnMut(RecordOutcome) + 'a {
    |recorded| match recorded {
        RecordOutcome::KeptManualTitle => refused.messages.warn(&format!(
            "{}: keeps the title set by the user",
            file.display()
        )),
        RecordOutcome::NotShown(reason) => {
            let error = UsageError::new(format!("title not written: {reason}"));
            refused.report(file.display(), &error);
        }
        RecordOutcome::Skipped
        | RecordOutcome::OwnFile
        | RecordOutcome::AgentFile
        | RecordOutcome::SideFile => {}
    }
}

/// Returns a usage error for a file that must not be written to, else a write error.
pub(crate) fn to_command_error(error: RecordError) -> anyhow::Error {
    let usage = UsageError::new(error.to_string());
    match error.cause {
        RecordFailure::Network(_) => usage
            .with_hint(
                "`--force` writes anyway; make sure that no other machine writes to the file",
            )
            .into(),
        RecordFailure::Refused(_) | RecordFailure::Locked | RecordFailure::Open(_) => usage.into(),
        RecordFailure::Append(_) | RecordFailure::Io(_) => error.into(),
    }
}
