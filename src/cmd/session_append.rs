//! `session append`: records a stream in a session file.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::session_source::unreadable;
use super::{Outcome, UsageError, output, usage};
use crate::io::{Input, Io};
use crate::jsonl::{AhoCorasickPrefilter, Mapping, Piece, Reader, WriteError, Writer};
use crate::process::{EndSignal, report_end_signals};
use crate::session::Session;
use crate::session::durable::{FileSystems, OpenError, Sync};
use crate::session::record::{
    Continuation, ForeignSession, Ownership, RecordError, Recorded, SessionFacts, Transcript,
    TurnWatch, ownership,
};
use crate::text::redact;
use crate::wire::{Decoder, Event, prefilter_needles};

/// Needles of records that are kept besides those that say something about calls.
const KEPT: [&str; 5] = [
    "\"usage\"",
    "\"title\"",
    "tool_use_summary",
    "away_summary",
    "content-replacement",
];

/// How many pieces of the input may wait to be recorded.
const PIECES_AHEAD: usize = 64;

/// Record a stream in a session file
///
/// Copies its input, and appends messages, labels, titles, recaps and replacements to the file,
/// each as soon as its line is whole. A file that does not exist is begun in the form of a Claude
/// Code transcript. A file of another agent gets no messages: titles and recaps go into it in its
/// own form, where it has one, labels and costs into `FILE.turnpipe.jsonl` beside it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[derive(Debug, Args)]
pub(super) struct SessionAppendArguments {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The session's id [default: that of the stream or the file, else the file's name]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// How sure it must be that a crash of the machine loses nothing
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    sync: SyncChoice,
    /// Write to network file systems too: no other machine writes to the file
    #[arg(long)]
    force: bool,
    /// Record `[redacted]` in place of what looks like a key or a password; the copy stays as it is
    #[arg(long)]
    redact: bool,
    /// Do not copy the input
    #[arg(long)]
    no_echo: bool,
    /// Exit with 10 if no call was made, 11 if the turn was stopped; 0 means: go on
    #[arg(long)]
    exit_status: bool,
}

/// How much is done for durability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum SyncChoice {
    /// The data is on the disk before the command ends
    #[default]
    Data,
    /// The system writes it when it likes
    None,
}

/// What the main loop waits for.
enum Happening {
    Piece(Piece),
    End,
    Failed(std::io::Error),
    Signal(EndSignal),
}

impl SessionAppendArguments {
    /// Records standard input.
    ///
    /// # Errors
    /// The file is not ours to write to, or reading or writing failed.
    pub(super) fn run(self, io: &mut Io) -> anyhow::Result<Outcome> {
        if io.terminal.stdin {
            return Ok(usage::expects_piped_input(&["session", "append"], io));
        }
        let happenings = listen(io)?;
        let directory = std::env::current_dir().context("cannot find the working directory")?;
        let mut run = Run {
            target: self.target(io)?,
            watch: TurnWatch::default(),
            decoder: Decoder::detecting(),
            facts: SessionFacts {
                session_id: self
                    .session_id
                    .clone()
                    .unwrap_or_else(|| self.name_of_file()),
                directory: directory.display().to_string(),
            },
            named: self.session_id.is_some(),
            messages_left_out: 0,
            writer: (!self.no_echo)
                .then(|| output::record_writer(io))
                .transpose()?,
        };
        let end = run.drive(&happenings, &self, io)?;
        if run.messages_left_out > 0 {
            io.messages.note(&format!(
                "{}: is the file of another agent: {} messages were not recorded",
                self.file.display(),
                run.messages_left_out
            ));
        }
        let sync = self.sync.into();
        let recorded = match run.target {
            Target::Ours(Some(transcript)) => transcript.finish(sync),
            Target::Foreign(foreign) => foreign.finish(sync),
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

    /// What is recorded in.
    fn target(&self, io: &Io) -> anyhow::Result<Target> {
        let whose = ownership(&self.file).map_err(|error| unreadable(&self.file, error.into()))?;
        if whose != Ownership::AnotherAgent {
            return Ok(Target::Ours(None));
        }
        let session = Session::open(&self.file).map_err(|error| unreadable(&self.file, error))?;
        let known = session
            .summary(Mapping::Allowed)
            .with_context(|| format!("cannot read {}", self.file.display()))?;
        if session.is_document() {
            let problem = format!(
                "{}: is one document, which nothing can follow",
                self.file.display()
            );
            return Err(UsageError::new(problem).into());
        }
        let facts = SessionFacts {
            session_id: known.session_id.unwrap_or_else(|| self.name_of_file()),
            directory: known.cwd.unwrap_or_default(),
        };
        let (clock, ids) = (Arc::clone(&io.clock), Arc::clone(&io.ids));
        let foreign = ForeignSession::new(
            &self.file,
            session.agent(),
            facts,
            self.systems(),
            clock,
            ids,
        );
        Ok(Target::Foreign(Box::new(foreign)))
    }

    fn systems(&self) -> FileSystems {
        if self.force {
            FileSystems::Any
        } else {
            FileSystems::Local
        }
    }

    fn name_of_file(&self) -> String {
        self.file
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default()
    }
}

/// What is recorded in.
enum Target {
    /// A file of ours; none until there is something to record.
    Ours(Option<Transcript>),
    /// A file of another agent, and one of ours beside it.
    Foreign(Box<ForeignSession>),
}

/// A recording in progress.
struct Run {
    target: Target,
    watch: TurnWatch,
    decoder: Decoder,
    facts: SessionFacts,
    /// The session's id is settled.
    named: bool,
    /// How many messages the file of another agent did not get.
    messages_left_out: u64,
    /// Where the input is copied to; nothing once its reader is gone.
    writer: Option<Writer<Box<dyn Write + Send>>>,
}

impl Run {
    /// Runs to the end of the input. The first interrupt is for the stages before this one, whose
    /// last words must not be lost (protocol 6.9); a second one ends it.
    fn drive(
        &mut self,
        happenings: &Receiver<Happening>,
        arguments: &SessionAppendArguments,
        io: &Io,
    ) -> anyhow::Result<Option<EndSignal>> {
        let mut interrupted = false;
        loop {
            let happening = if let Ok(happening) = happenings.try_recv() {
                happening
            } else {
                self.echo(Writer::flush)?;
                happenings.recv().unwrap_or(Happening::End)
            };
            match happening {
                Happening::Piece(piece) => self.take(&piece, arguments, io)?,
                Happening::End => {
                    for event in self.decoder.finish() {
                        self.watch.event(&event);
                    }
                    self.echo(Writer::flush)?;
                    return Ok(None);
                }
                Happening::Failed(error) => return Err(error).context("cannot read input"),
                Happening::Signal(EndSignal::Interrupt) if !interrupted => interrupted = true,
                Happening::Signal(signal) => return Ok(Some(signal)),
            }
        }
    }

    fn take(
        &mut self,
        piece: &Piece,
        arguments: &SessionAppendArguments,
        io: &Io,
    ) -> anyhow::Result<()> {
        self.record(piece, arguments, io)?;
        // Only now: whoever reads the copy may take it that the record is there.
        self.echo(|writer| writer.echo(piece.raw()))?;
        Ok(())
    }

    fn record(
        &mut self,
        piece: &Piece,
        arguments: &SessionAppendArguments,
        io: &Io,
    ) -> anyhow::Result<()> {
        let Piece::Line {
            raw,
            records,
            damage,
            number,
            ..
        } = piece
        else {
            return Ok(());
        };
        for damage in damage {
            io.messages.note(&format!(
                "input line {number} (byte {}): {damage}",
                damage.offset
            ));
        }
        for record in records {
            let text = record.text(raw);
            for event in self.decoder.record(text) {
                if let Event::Session(id) = &event
                    && !std::mem::replace(&mut self.named, true)
                {
                    self.facts.session_id.clone_from(&id.0);
                }
                self.watch.event(&event);
            }
            self.watch.record(text);
            let masked = arguments.redact.then(|| without_secrets(text));
            let recorded = masked.as_deref().unwrap_or(text);
            match &mut self.target {
                Target::Ours(transcript) => {
                    let transcript = transcript.get_or_insert_with(|| {
                        let (clock, ids) = (Arc::clone(&io.clock), Arc::clone(&io.ids));
                        Transcript::new(&arguments.file, self.facts.clone(), clock, ids)
                            .on(arguments.systems())
                    });
                    transcript.record(recorded).map_err(refused)?;
                }
                Target::Foreign(foreign) => {
                    let became = foreign.record(recorded).map_err(refused)?;
                    match became {
                        Recorded::KeptManualTitle => io.messages.note(&format!(
                            "{}: keeps the title that a person gave it",
                            arguments.file.display()
                        )),
                        Recorded::No => self.messages_left_out += u64::from(is_message(text)),
                        Recorded::Within | Recorded::Beside => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Copies to standard output while somebody reads it. Recording goes on without.
    fn echo(
        &mut self,
        write: impl FnOnce(&mut Writer<Box<dyn Write + Send>>) -> Result<(), WriteError>,
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

/// Starts what tells the main loop about input and signals.
fn listen(io: &mut Io) -> anyhow::Result<Receiver<Happening>> {
    let (sender, happenings) = sync_channel(PIECES_AHEAD);
    let signals = sender.clone();
    report_end_signals(move |signal| {
        let _ = signals.send(Happening::Signal(signal));
    })
    .context("cannot listen for signals")?;
    let needles: Vec<&str> = prefilter_needles().iter().copied().chain(KEPT).collect();
    let prefilter = AhoCorasickPrefilter::new(&needles)?;
    let stdin = std::mem::replace(&mut io.stdin, Input::Closed);
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut reader = Reader::new(stdin, prefilter);
            loop {
                let happening = match reader.next_piece() {
                    Ok(Some(piece)) => Happening::Piece(piece),
                    Ok(None) => Happening::End,
                    Err(error) => Happening::Failed(error),
                };
                let is_last = !matches!(happening, Happening::Piece(_));
                if sender.send(happening).is_err() || is_last {
                    return;
                }
            }
        })
        .context("cannot read input")?;
    Ok(happenings)
}

/// The record with masks in place of secrets, in whichever of its strings they stand.
fn without_secrets(record: &str) -> String {
    fn mask(value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = redact(text) {
                    *text = masked;
                }
            }
            Value::Array(elements) => elements.iter_mut().for_each(mask),
            Value::Object(members) => members.values_mut().for_each(mask),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    match serde_json::from_str::<Value>(record) {
        Ok(mut value) => {
            mask(&mut value);
            value.to_string()
        }
        // Nested too deeply to be looked through: better masked too much.
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

/// A file that must not be written to is the caller's fault, anything else the system's.
fn refused(error: RecordError) -> anyhow::Error {
    match error {
        RecordError::Open(OpenError::Network { .. }) => UsageError::new(error.to_string())
            .with_hint("--force writes all the same; let no other machine write to the file")
            .into(),
        RecordError::Open(_) => UsageError::new(error.to_string()).into(),
        RecordError::Append { .. } | RecordError::Io { .. } => error.into(),
    }
}

impl From<SyncChoice> for Sync {
    fn from(choice: SyncChoice) -> Self {
        match choice {
            SyncChoice::Data => Self::Data,
            SyncChoice::None => Self::Never,
        }
    }
}
