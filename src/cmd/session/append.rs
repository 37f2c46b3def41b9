//! `session append`: records a stream in a session file.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use serde_json::Value;

use crate::cmd::command::Run;
use crate::cmd::inputs::{recorded_id, report_foreign_stream, session_to_write, take_stdin};
use crate::cmd::output::{self, RecordWriter};
use crate::cmd::progress::{Counting, ProgressLine};
use crate::cmd::{Globals, Outcome, UsageError};
use crate::io::{Input, Io, Messages};
use crate::jsonl::{Mapping, Piece, Prefilter, Reader, WriteError, Writer};
use crate::process::{EndRequests, EndSignal, report_end_signals};
use crate::session::durable::{FileSystems, RecordError, RecordFailure, Sync};
use crate::session::record::{
    Continuation, ForeignSession, Moment, Ownership, Recorded, SessionFacts, Transcript, TurnWatch,
    ownership,
};
use crate::text::{redact, redact_strings};
use crate::wire::{Decoded, Decoder, Event, Understanding, prefilter_needles};

/// Needles of records that are kept, apart from those about calls.
const KEPT: [&str; 6] = [
    "\"usage\"",
    "\"title\"",
    "tool_use_summary",
    "away_summary",
    "content-replacement",
    "hook_stopped_continuation",
];

/// How many pieces of the input may wait to be recorded.
const PIECES_AHEAD: usize = 64;

/// Record a stream in a session file
///
/// Copies its input, and appends messages, labels, titles, recaps and replacements to the file,
/// each as soon as its line is complete. A new file has the form of a Claude Code transcript. A file
/// of another agent gets no messages: titles and recaps are written in that agent's own form, if it
/// has one, labels and costs go into `FILE.turnpipe.jsonl` beside it.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  turnpipe run-tools < reply.jsonl | turnpipe session append turn.jsonl")]
pub(crate) struct SessionAppendArguments {
    /// The session file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The session's id [default: that of the stream or the file, else a new one]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// What must survive a crash of the machine
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    sync: Sync,
    /// Write to network file systems too; make sure that no other machine writes to the file
    #[arg(long)]
    force: bool,
    /// Record `[redacted]` in place of what looks like a key or a password; the copy stays as it is
    #[arg(long)]
    redact: bool,
    /// Do not copy the input
    #[arg(long)]
    no_echo: bool,
    /// Exit with 10 if no call was made, with 11 if the turn was stopped; 0 means continue
    #[arg(long)]
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
    fn run(self, globals: &Globals, io: &mut Io) -> anyhow::Result<Outcome> {
        let progress = ProgressLine::of_input("recording", &[], globals.quiet, io);
        let stdin = take_stdin(io)?;
        let target = self.target(io)?;
        let events = listen(progress.counting(stdin))?;
        let directory = std::env::current_dir().context("cannot find the working directory")?;
        let facts = SessionFacts {
            session_id: self
                .session_id
                .clone()
                .or_else(|| recorded_id(&self.file))
                .unwrap_or_else(|| io.ids.uuid().to_string()),
            directory: directory.display().to_string(),
        };
        let writer = if self.no_echo {
            None
        } else {
            Some(output::record_writer(io)?)
        };
        let mut run = Recording {
            arguments: &self,
            target,
            watch: TurnWatch::default(),
            decoder: Decoder::detecting().with_message_ids(message_ids(io)),
            facts,
            named: self.session_id.is_some(),
            messages_left_out: 0,
            understanding: Understanding::default(),
            writer,
            messages: io.messages.clone(),
            moment: Moment::of(io),
        };
        let end = run.drive(&events)?;
        report_foreign_stream(run.understanding, globals.quiet, &io.messages);
        if run.messages_left_out > 0 {
            io.messages.note(&format!(
                "{}: file of another agent: {} messages were not recorded",
                self.file.display(),
                run.messages_left_out
            ));
        }
        let recorded = match run.target {
            Target::Ours(Some(transcript)) => transcript.finish(self.sync),
            Target::Foreign(foreign) => foreign.finish(self.sync),
            Target::Ours(None) => Ok(0),
        };
        recorded.map_err(refused)?;
        Ok(match (end, self.exit_status, run.watch.continuation()) {
            (Some(EndSignal::Interrupt), ..) => Outcome::Interrupted,
            (Some(EndSignal::Terminate), ..) => Outcome::Terminated,
            (None, false, _) | (None, true, Continuation::GoOn) => Outcome::Done,
            (None, true, Continuation::Over) => Outcome::TurnOver,
            (None, true, Continuation::Stopped) => Outcome::TurnStopped,
        })
    }
}

impl SessionAppendArguments {
    /// Where records go.
    fn target(&self, io: &Io) -> anyhow::Result<Target> {
        let error = |error: &dyn Display| UsageError::reason(error).about(self.file.display());
        let whose = ownership(&self.file).map_err(|problem| error(&problem))?;
        if whose != Ownership::AnotherAgent {
            return Ok(Target::Ours(None));
        }
        let session = session_to_write(&self.file)?;
        let known = session
            .summary(Mapping::Allowed)
            .map_err(|problem| error(&problem))?;
        let foreign = ForeignSession::new(&session, &known, self.systems(), Moment::of(io));
        Ok(Target::Foreign(Box::new(foreign)))
    }

    fn systems(&self) -> FileSystems {
        if self.force {
            FileSystems::Any
        } else {
            FileSystems::Local
        }
    }
}

/// Where records go.
enum Target {
    /// A file of ours; none until there is something to record.
    Ours(Option<Transcript>),
    /// A file of another agent, and one of ours beside it.
    Foreign(Box<ForeignSession>),
}

/// A recording in progress.
struct Recording<'a> {
    arguments: &'a SessionAppendArguments,
    target: Target,
    watch: TurnWatch,
    decoder: Decoder,
    facts: SessionFacts,
    /// The session's id is settled.
    named: bool,
    /// How many messages the file of another agent did not get.
    messages_left_out: u64,
    understanding: Understanding,
    /// Where the input is copied to; nothing once its reader is gone.
    writer: Option<RecordWriter>,
    messages: Messages,
    moment: Moment,
}

impl Recording<'_> {
    /// Runs to the end of the input, or until signals insist (`docs/protocol.md`, Interrupts and
    /// deadlines).
    fn drive(&mut self, events: &Receiver<LoopEvent>) -> anyhow::Result<Option<EndSignal>> {
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
                    self.take(&piece)?;
                    // Only now: the reader of the copy may rely on the record being there.
                    self.echo(|writer| writer.echo(piece.raw()))?;
                }
                LoopEvent::End => {
                    if let Some(text) = self.decoder.unfinished_text() {
                        self.record(&text)?;
                    }
                    for event in self.decoder.finish() {
                        self.watch.event(&event);
                    }
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

    fn take(&mut self, piece: &Piece) -> anyhow::Result<()> {
        self.understanding.note(piece.raw(), &[]);
        let (records, damage) = piece.records();
        for damage in damage {
            self.messages.note(&damage.to_string());
        }
        for record in records {
            let mut decoder = std::mem::take(&mut self.decoder);
            let mut taken = Ok(());
            decoder.decode(record.text(piece.raw()), |decoded| {
                if taken.is_ok() {
                    taken = self.take_record(decoded);
                }
            });
            self.decoder = decoder;
            taken?;
        }
        Ok(())
    }

    fn take_record(&mut self, decoded: Decoded<'_>) -> anyhow::Result<()> {
        self.understanding.note(&[], &decoded.events);
        for event in decoded.events {
            if let Event::Session(id) = &event
                && !std::mem::replace(&mut self.named, true)
            {
                self.facts.session_id.clone_from(&id.0);
            }
            self.watch.event(&event);
        }
        self.watch.record(decoded.record);
        self.record(decoded.record)
    }

    fn record(&mut self, text: &str) -> anyhow::Result<()> {
        let arguments = self.arguments;
        let masked = arguments.redact.then(|| without_secrets(text));
        let recorded = masked.as_deref().unwrap_or(text);
        match &mut self.target {
            // The session may be named only after it.
            Target::Ours(_) if !Transcript::keeps(recorded) => {}
            Target::Ours(transcript) => {
                let transcript = transcript.get_or_insert_with(|| {
                    let (facts, moment) = (self.facts.clone(), self.moment.clone());
                    Transcript::new(&arguments.file, facts, arguments.systems(), moment)
                });
                if transcript.record(recorded).map_err(refused)? {
                    self.understanding = Understanding::Something;
                }
            }
            Target::Foreign(foreign) => match foreign.record(recorded).map_err(refused)? {
                Recorded::KeptManualTitle => self.messages.note(&format!(
                    "{}: keeps the title that a person gave it",
                    arguments.file.display()
                )),
                Recorded::No => self.messages_left_out += u64::from(is_message(text)),
                Recorded::AgentFile | Recorded::SideFile => {
                    self.understanding = Understanding::Something;
                }
            },
        }
        Ok(())
    }

    /// Copies to standard output until its reader is gone. Recording goes on without.
    fn echo(
        &mut self,
        write: impl FnOnce(&mut RecordWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
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
fn listen(stdin: Counting<Input>) -> anyhow::Result<Receiver<LoopEvent>> {
    let (sender, events) = sync_channel(PIECES_AHEAD);
    let signals = sender.clone();
    report_end_signals(move |signal| {
        let _ = signals.send(LoopEvent::Signal(signal));
    })
    .context("cannot listen for signals")?;
    let needles: Vec<&str> = prefilter_needles().iter().copied().chain(KEPT).collect();
    let prefilter = Prefilter::new(&needles)?;
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

/// How the ids of messages begin whose agent gives them none: not as in any other recording, since
/// the rows of one message have one id in the file.
fn message_ids(io: &Io) -> String {
    format!("msg_{}", io.ids.uuid().simple())
}

/// The record with masks in place of secrets, in whichever of its strings they stand.
fn without_secrets(record: &str) -> String {
    match serde_json::from_str::<Value>(record) {
        Ok(mut value) => {
            redact_strings(&mut value);
            value.to_string()
        }
        // Nested too deeply to be searched: mask the text as a whole.
        Err(_) => redact(record).into_owned(),
    }
}

fn is_message(record: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Kind {
        r#type: String,
    }
    serde_json::from_str::<Kind>(record)
        .is_ok_and(|kind| matches!(kind.r#type.as_str(), "user" | "assistant"))
}

/// A file that must not be written to is a usage error, anything else a failed write.
pub(crate) fn refused(error: RecordError) -> anyhow::Error {
    let usage = UsageError::new(error.to_string());
    match error.cause {
        RecordFailure::Network(_) => usage
            .with_hint("--force writes all the same; let no other machine write to the file")
            .into(),
        RecordFailure::Refused(_) | RecordFailure::Locked | RecordFailure::Open(_) => usage.into(),
        RecordFailure::Append(_) | RecordFailure::Io(_) => error.into(),
    }
}
