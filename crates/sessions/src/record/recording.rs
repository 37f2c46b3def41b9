//! Records a stream in a session file. Each record is parsed once.

use std::path::PathBuf;

use serde_json::Value;

use super::chain::{Continuation, TurnWatch};
use super::foreign::{ForeignSession, RecordOutcome};
use super::recorder::{Recorder, SessionFacts};
use super::transcript::Transcript;
use crate::durable::{FileSystems, RecordError, Sync};
use turnpipe_core::io::Moment;
use turnpipe_core::message::Message;
use turnpipe_core::text::redact_strings;
use turnpipe_formats::agent::StreamItem;
use turnpipe_formats::api::{TEXT_NEEDLES, prefilter_needles};
use turnpipe_formats::assemble::{Decoded, Decoder, Event, MessageReader, Source, Understanding};
use turnpipe_formats::records::{DialogRecord, MessageContext, to_record};

/// Gets the outcomes of records.
type Report<'a> = dyn FnMut(RecordOutcome) + 'a;

/// The destination of a recording.
pub enum Target {
    /// A file of turnpipe, which is created with its first record.
    Own {
        /// The file.
        path: PathBuf,
        /// The file systems that are allowed.
        systems: FileSystems,
    },
    /// The files of another agent's session.
    Foreign(Box<ForeignSession>),
}

/// Needles of records that are kept, except those about calls and texts.
const KEPT_NEEDLES: [&str; 9] = [
    "\"usage\"",
    "\"title\"",
    "tool_use_summary",
    "away_summary",
    "\"recap\"",
    "\"replacements\"",
    "hook_stopped_continuation",
    "\"session_start\"",
    "\"init\"",
];

/// A recording in progress.
pub struct Recording {
    decoder: Decoder,
    /// Whether the stream was understood so far.
    pub understanding: Understanding,
    target: Target,
    /// The own file, once it has a record.
    transcript: Option<Transcript>,
    facts: SessionFacts,
    /// Whether the session id is final.
    is_named: bool,
    redact: bool,
    watch: TurnWatch,
    moment: Moment,
    omitted_messages: u64,
    /// Joins records of APIs, which are not kept unchanged.
    api_messages: MessageReader,
    /// Messages that wait for the stream to name its session.
    waiting: Vec<Value>,
}

/// Maximum number of messages that wait for the name of the session.
const MAX_WAITING: usize = 64;

impl Recording {
    /// Records into `target`. With an `is_named` session, `facts` has the final id; otherwise the stream
    /// may name another one. If `redact` is set, text that looks like a secret is masked.
    pub fn new(
        target: Target,
        facts: SessionFacts,
        is_named: bool,
        redact: bool,
        moment: Moment,
    ) -> Self {
        // Unique to this recording, because the rows of one message share an id in the file.
        let message_ids = format!("msg_{}", moment.ids.uuid().simple());
        Self {
            decoder: Decoder::with_detection().with_message_ids(message_ids),
            understanding: Understanding::default(),
            target,
            transcript: None,
            facts,
            is_named,
            redact,
            watch: TurnWatch::default(),
            moment,
            omitted_messages: 0,
            api_messages: MessageReader::default(),
            waiting: Vec::new(),
        }
    }

    /// Returns the needles of records to pass to [`Recording::record`].
    pub fn needles() -> Vec<&'static str> {
        let needles = prefilter_needles().iter().copied();
        needles.chain(KEPT_NEEDLES).chain(TEXT_NEEDLES).collect()
    }

    /// Processes a record and writes the parts to keep: the record, or the messages that it completes. Reports
    /// the outcomes.
    ///
    /// # Errors
    /// A record is not in the file, or its state is unknown.
    pub fn record(&mut self, record: &str, report: &mut Report<'_>) -> Result<(), RecordError> {
        let mut decoder = std::mem::take(&mut self.decoder);
        let mut result = Ok(());
        decoder.decode(record, |decoded| {
            self.understanding.update(&[], &decoded.events);
            if result.is_ok() {
                result = self
                    .record_decoded(decoded)
                    .map(|outcomes| self.note_outcomes(outcomes, report));
            }
        });
        self.decoder = decoder;
        result
    }

    /// Writes what the end of the stream completes.
    ///
    /// # Errors
    /// As in [`Recording::record`].
    pub fn write_end(&mut self, report: &mut Report<'_>) -> Result<(), RecordError> {
        let unfinished = self.decoder.take_unfinished();
        let recorded = self.record_unfinished(unfinished)?;
        self.note_outcomes(recorded, report);
        let events = self.decoder.finish();
        self.apply_events(&events);
        let streamed = self.api_messages.finish();
        let mut recorded = self.write_messages(streamed, None)?;
        recorded.extend(self.write_waiting()?);
        self.note_outcomes(recorded, report);
        Ok(())
    }

    fn note_outcomes(&mut self, outcomes: Vec<RecordOutcome>, report: &mut Report<'_>) {
        for outcome in outcomes {
            if let RecordOutcome::OwnFile | RecordOutcome::AgentFile | RecordOutcome::SideFile =
                outcome
            {
                self.understanding = Understanding::Something;
            }
            report(outcome);
        }
    }

    /// Processes the events of a record.
    fn apply_events(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Executor {
                call_ids: Some(prefix),
            } = event
            {
                self.api_messages.set_call_ids(prefix.clone());
            }
            if let Event::Session(id) = event
                && !std::mem::replace(&mut self.is_named, true)
            {
                self.facts.session_id.clone_from(&id.0);
            }
            self.watch.observe_event(event);
        }
    }

    fn record_decoded(&mut self, decoded: Decoded<'_>) -> Result<Vec<RecordOutcome>, RecordError> {
        self.apply_events(&decoded.events);
        let contents = match decoded.source {
            Source::Record(contents) => contents,
            source @ Source::Stream(_) => return self.record_unfinished(Some(source)),
        };
        // Most records are parts of a stream. Records that are nested too deeply to parse are not kept either.
        let kind = contents.kind().unwrap_or_default();
        let record = if Recorder::may_keep(&kind) || kind == "result" {
            serde_json::from_str::<Value>(decoded.record).unwrap_or_default()
        } else {
            Value::Null
        };
        self.watch.observe_record(&record);
        if let Some(messages) = self.api_messages.read(contents) {
            return self.write_messages(messages, None);
        }
        let mut recorded = Vec::new();
        if Recorder::keeps(&record) {
            // The earlier part of a streamed message precedes it.
            let streamed = self.api_messages.flush();
            recorded = self.write_messages(streamed, None)?;
            recorded.extend(self.write_waiting()?);
        }
        recorded.push(self.write(record)?);
        Ok(recorded)
    }

    /// Writes the content of an unfinished row of another agent's stream.
    fn record_unfinished(
        &mut self,
        source: Option<Source<'_>>,
    ) -> Result<Vec<RecordOutcome>, RecordError> {
        match source {
            Some(Source::Stream(StreamItem::Message {
                message,
                stop_reason,
            })) => self.write_messages([*message], stop_reason.as_deref()),
            _ => Ok(Vec::new()),
        }
    }

    fn write_messages(
        &mut self,
        messages: impl IntoIterator<Item = Message>,
        stop_reason: Option<&str>,
    ) -> Result<Vec<RecordOutcome>, RecordError> {
        for message in messages {
            let mut record = to_record(message, &MessageContext::default());
            if let DialogRecord::Message(record) = &mut record {
                record.message.stop_reason = stop_reason.map(str::to_owned);
            }
            let record = serde_json::to_value(&record).unwrap_or_default();
            self.watch.observe_record(&record);
            self.waiting.push(record);
        }
        let is_unopened = matches!(self.target, Target::Own { .. }) && self.transcript.is_none();
        if !self.is_named && is_unopened && self.waiting.len() < MAX_WAITING {
            return Ok(Vec::new());
        }
        self.write_waiting()
    }

    fn write_waiting(&mut self) -> Result<Vec<RecordOutcome>, RecordError> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        waiting.map(|record| self.write(record)).collect()
    }

    fn write(&mut self, mut record: Value) -> Result<RecordOutcome, RecordError> {
        self.facts.update(&record);
        if self.redact {
            redact_strings(&mut record);
        }
        match &mut self.target {
            Target::Own { path, systems } => {
                // Until there is a record to keep, the stream may still name the session.
                if self.transcript.is_none() && !Recorder::keeps(&record) {
                    return Ok(RecordOutcome::Skipped);
                }
                let transcript = self.transcript.get_or_insert_with(|| {
                    let (facts, moment) = (self.facts.clone(), self.moment.clone());
                    Transcript::new(&*path, facts, *systems, moment)
                });
                Ok(if transcript.record(record)? {
                    RecordOutcome::OwnFile
                } else {
                    RecordOutcome::Skipped
                })
            }
            Target::Foreign(session) => {
                let is_message = matches!(record["type"].as_str(), Some("user" | "assistant"));
                let recorded = session.record(record)?;
                self.omitted_messages +=
                    u64::from(is_message && recorded == RecordOutcome::Skipped);
                Ok(recorded)
            }
        }
    }

    /// Returns the number of messages that were not written to another agent's file.
    pub fn omitted_messages(&self) -> u64 {
        self.omitted_messages
    }

    /// Returns how the turn continues.
    pub fn continuation(&self) -> Continuation {
        self.watch.continuation()
    }

    /// Makes all written records durable.
    ///
    /// # Errors
    /// The state on disk is then unknown.
    pub fn finish(self, sync: Sync) -> Result<(), RecordError> {
        if let Target::Foreign(session) = self.target {
            session.finish(sync)?;
        } else if let Some(transcript) = self.transcript {
            transcript.finish(sync)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use turnpipe_core::io::{FixedClock, SeededIds};

    /// The number of records that each line, and then the end, writes.
    fn written(is_named: bool, lines: &[&str]) -> Vec<usize> {
        let folder = tempfile::tempdir().unwrap();
        let target = Target::Own {
            path: folder.path().join("s.jsonl"),
            systems: FileSystems::Local,
        };
        let moment = Moment {
            clock: Arc::new(FixedClock("2026-01-02T03:04:05Z".parse().unwrap())),
            ids: Arc::new(SeededIds::new(7)),
        };
        let facts = SessionFacts::new("s", "/w");
        let mut recording = Recording::new(target, facts, is_named, false, moment);
        let mut counts = Vec::new();
        for line in lines.iter().map(Some).chain([None]) {
            let mut count = 0;
            let mut report = |_| count += 1;
            match line {
                Some(line) => recording.record(line, &mut report).unwrap(),
                None => recording.write_end(&mut report).unwrap(),
            }
            counts.push(count);
        }
        counts
    }

    const PROMPT: &str = r#"{"role":"user","content":"go"}"#;

    #[test]
    fn messages_are_written_as_soon_as_the_session_has_a_name() {
        let cut = [
            PROMPT,
            r#"{"type":"message_start","message":{"id":"m","role":"assistant"}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#,
        ];
        assert_eq!(written(true, &cut), [1, 0, 0, 0, 1]);
        assert_eq!(written(false, &cut), [0, 0, 0, 0, 2]);
    }

    #[test]
    fn a_limited_number_of_messages_waits_for_a_name() {
        let counts = written(false, &[PROMPT; MAX_WAITING + 1]);
        assert_eq!(counts[MAX_WAITING - 2..], [0, MAX_WAITING, 1, 0]);
    }
}
