//! Copies a stream and inserts the labels of its batches, which several concurrent requests prepare.
//! Keeps the order of the input, in memory that does not grow with it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::batches::Batches;
use super::labeler::{Event, Gate, Job, Label, Labeler, start_labeling, start_reading};
use super::queue::{Output, Queue};
use crate::assemble::{Decoded, Decoder, Understanding};
use crate::jsonl::{Damage, Piece, Prefilter};
use crate::message::SessionId;
use crate::process::{EndRequests, EndSignal};
use crate::side::outcome::{NoText, Reason};

/// Maximum number of unprocessed chunks of the input.
const MAX_CHUNKS: usize = 4;

/// Maximum number of bytes of the input that wait for labels.
const MAX_WAITING_BYTES: usize = 8 * 1024 * 1024;

/// Pause of the input after which no further call of a message is expected.
const PAUSE: Duration = Duration::from_millis(40);

/// Number of consecutive late labels after which the model is not asked again.
const MAX_LATE: usize = 3;

/// A label and its session.
type SessionLabel = (Label, Option<SessionId>);

/// The position of labels in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// Before the content of the next message. No line waits longer than this for labels.
    BeforeNextMessage(Duration),
    /// Wherever the stream is when a label is ready. A label that is ready after a later batch has
    /// completed is dropped.
    WhenReady,
}

/// The timing and position of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The position of labels.
    pub placing: Placing,
    /// Maximum number of requests at once.
    pub jobs: usize,
}

/// Receives the output.
pub trait LabelSink {
    /// Writes bytes of the input.
    ///
    /// # Errors
    /// The output failed.
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes a label, or the cost of a request without one.
    ///
    /// # Errors
    /// The output failed.
    fn label(&mut self, label: Label, session: Option<&SessionId>) -> io::Result<()>;

    /// Reports that the label of a batch was not ready in time.
    fn late(&mut self, batch: u64);

    /// Reports that the model is not asked again, because labels were late.
    fn stopped_asking(&mut self);

    /// Reports damage in the input.
    fn damage(&mut self, damage: &Damage);

    /// Flushes the output: the input pauses.
    ///
    /// # Errors
    /// The output failed.
    fn flush(&mut self) -> io::Result<()>;
}

/// The end of a stream.
#[derive(Debug)]
pub enum StreamEnd {
    /// The whole input was copied.
    Copied(Understanding),
    /// A signal ended the stream.
    Ended(EndSignal),
    /// The input failed.
    InputFailed(io::Error),
    /// The output failed.
    OutputFailed(io::Error),
}

/// Copies a stream with labels.
pub struct LabelStream<'a> {
    timing: Timing,
    labeler: &'a Labeler,
    decoder: Decoder,
    understanding: Understanding,
    batches: Batches,
    queue: Queue<SessionLabel>,
    work: Option<Sender<(Job, Batch)>>,
    /// Running and waiting jobs, by batch.
    running: HashMap<u64, (Job, Option<SessionId>)>,
    /// Labels that were ready before their position was reached.
    early: HashMap<u64, SessionLabel>,
    /// The number of the last complete batch.
    last_complete: Option<u64>,
    /// Number of consecutive labels that were not ready in time.
    late: usize,
    /// The time since which input waits to be read, if it does.
    waiting_since: Option<Instant>,
    gate: Arc<Gate>,
}

impl<'a> LabelStream<'a> {
    /// Creates a stream before its first byte.
    pub fn new(timing: Timing, labeler: &'a Labeler, decoder: Decoder) -> Self {
        let hold = match timing.placing {
            Placing::BeforeNextMessage(hold) => hold,
            Placing::WhenReady => Duration::ZERO,
        };
        Self {
            timing,
            labeler,
            decoder,
            understanding: Understanding::default(),
            batches: Batches::new(labeler.need()),
            queue: Queue::new(hold),
            work: None,
            running: HashMap::new(),
            early: HashMap::new(),
            last_complete: None,
            late: 0,
            waiting_since: None,
            gate: Arc::new(Gate::default()),
        }
    }

    /// Copies `input` to `sink` with labels. `is_waiting` returns whether more input is in a pipe. `signals` receives
    /// a callback that reports signals. The first signal is left to the earlier stages of the pipeline.
    pub fn run(
        mut self,
        input: impl io::Read + Send + 'static,
        is_waiting: impl Fn() -> bool + Send + 'static,
        prefilter: Prefilter,
        sink: &mut dyn LabelSink,
        signals: impl FnOnce(Box<dyn Fn(EndSignal) + Send>),
    ) -> StreamEnd {
        let (sender, events) = sync_channel(MAX_CHUNKS);
        let report = sender.clone();
        signals(Box::new(move |signal| {
            let _ = report.send(Event::Signal(signal));
        }));
        let (work, jobs) = channel();
        self.work = Some(work);
        let gate = Arc::clone(&self.gate);
        let started = start_labeling(self.labeler, self.timing.jobs, jobs, &sender)
            .and_then(|()| start_reading(input, prefilter, sender, gate, is_waiting));
        if let Err(error) = started {
            return StreamEnd::InputFailed(error);
        }
        self.drive(&events, sink)
    }

    fn drive(&mut self, events: &Receiver<Event>, sink: &mut dyn LabelSink) -> StreamEnd {
        let mut input_is_over = false;
        let mut requests = EndRequests::default();
        loop {
            if let Err(error) = self.write(sink) {
                return StreamEnd::OutputFailed(error);
            }
            if input_is_over && self.queue.is_empty() && !self.waits_for_calls() {
                return match sink.flush() {
                    Ok(()) => StreamEnd::Copied(self.understanding),
                    Err(error) => StreamEnd::OutputFailed(error),
                };
            }
            let is_full =
                self.queue.bytes() > MAX_WAITING_BYTES || self.queue.waiting() >= self.timing.jobs;
            self.gate.set(is_full);
            let event = if let Ok(event) = events.try_recv() {
                event
            } else {
                if let Err(error) = sink.flush() {
                    return StreamEnd::OutputFailed(error);
                }
                match self.wait(events) {
                    Some(event) => event,
                    None => continue,
                }
            };
            match event {
                Event::Pieces(pieces, since) => {
                    self.waiting_since = since;
                    for piece in pieces {
                        self.take(piece, sink);
                    }
                }
                Event::Labeled(job, label) => self.labeled(job, *label),
                Event::End => {
                    input_is_over = true;
                    self.batches.finish(self.decoder.finish());
                    self.place_labels();
                }
                Event::Failed(error) => {
                    self.queue.drop_waiting();
                    let _ = self.write(sink).and_then(|()| sink.flush());
                    return StreamEnd::InputFailed(error);
                }
                Event::Signal(signal) => {
                    if !requests.ends_now(Instant::now()) {
                        continue;
                    }
                    self.queue.drop_waiting();
                    let _ = self.write(sink).and_then(|()| sink.flush());
                    return StreamEnd::Ended(signal);
                }
            }
        }
    }

    /// Waits for an event; `None` if the queue must be checked again.
    fn wait(&mut self, events: &Receiver<Event>) -> Option<Event> {
        let until_late = self
            .queue
            .deadline()
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let until_idle = self.batches.has_unsettled().then_some(PAUSE);
        let timeout = match (until_late, until_idle) {
            (Some(late), Some(idle)) => late.min(idle),
            (one, other) => match one.or(other) {
                Some(timeout) => timeout,
                None => return Some(events.recv().unwrap_or(Event::End)),
            },
        };
        match events.recv_timeout(timeout) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => {
                if until_idle.is_some() {
                    self.settle(true);
                }
                None
            }
            Err(RecvTimeoutError::Disconnected) => Some(Event::End),
        }
    }

    /// Whether the end of the stream waits for running requests.
    fn waits_for_calls(&self) -> bool {
        self.timing.placing == Placing::WhenReady && !self.running.is_empty()
    }

    fn write(&mut self, sink: &mut dyn LabelSink) -> io::Result<()> {
        while let Some(output) = self.queue.pop(Instant::now()) {
            match output {
                Output::Bytes(bytes) => sink.bytes(&bytes)?,
                Output::Label((label, session)) => sink.label(label, session.as_ref())?,
                Output::Late(batch) => {
                    sink.late(batch);
                    self.late += 1;
                    // Without a wait, late labels do not indicate a slow model.
                    if self.late == MAX_LATE && !self.queue.never_waits() {
                        sink.stopped_asking();
                        self.work = None;
                        self.queue.drop_waiting();
                    }
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, piece: Piece, sink: &mut dyn LabelSink) {
        let mut decoder = std::mem::take(&mut self.decoder);
        let mut records = 0;
        let damage = piece.visit_records(|record| {
            records += 1;
            if records == 2 {
                // Labels of calls in one list follow the list.
                self.queue.push_bytes(piece.raw().to_vec());
            }
            decoder.decode(record, |decoded| self.read(decoded))
        });
        self.decoder = decoder;
        for damage in damage {
            sink.damage(&damage);
        }
        self.understanding.note(piece.raw(), &[]);
        if records < 2 {
            self.queue.push_bytes(piece.into_raw());
        }
    }

    fn read(&mut self, decoded: Decoded<'_>) {
        let Decoded { events, source, .. } = decoded;
        self.understanding.note(&[], &events);
        let labeled = source.labelled_calls();
        if labeled.is_empty() {
            self.settle(self.timing.placing == Placing::WhenReady);
        } else {
            self.batches.remove_labeled(&labeled);
        }
        if Batches::is_boundary(&events) {
            self.place_labels();
        }
        self.batches.record(&source, events);
    }

    /// Starts the labels of complete batches: when a record follows that is not a label, or when the
    /// input pauses.
    fn settle(&mut self, idle: bool) {
        let when_ready = self.timing.placing == Placing::WhenReady;
        // Labels by rules are made when the stream reaches their position.
        if !when_ready && !matches!(self.labeler, Labeler::Model { .. }) {
            return;
        }
        for batch in self.batches.take_settled(idle) {
            self.last_complete = Some(batch.number.max(self.last_complete.unwrap_or_default()));
            if when_ready {
                self.label_when_ready(batch);
            } else {
                self.start(batch);
            }
        }
    }

    fn label_when_ready(&mut self, batch: Batch) {
        if self.labeler.is_immediate(&batch) {
            self.push_label(batch);
        } else {
            self.start(batch);
        }
    }

    fn push_label(&mut self, batch: Batch) {
        let label = self.labeler.label(&batch);
        self.queue.push_ready(Some((label, batch.session)));
    }

    fn start(&mut self, batch: Batch) {
        let Some(work) = &self.work else {
            return;
        };
        let job = Job {
            batch: batch.number,
            calls: batch.calls.len(),
        };
        self.early.remove(&batch.number);
        self.running
            .insert(batch.number, (job, batch.session.clone()));
        let _ = work.send((job, batch));
    }

    /// Places the labels of all earlier batches here, before the content of another message.
    fn place_labels(&mut self) {
        if self.timing.placing == Placing::WhenReady {
            self.settle(true);
            for (batch, was_started) in self.batches.take_before_boundary() {
                // Some of its calls never got a result.
                if !was_started {
                    self.label_when_ready(batch);
                }
            }
            return;
        }
        for (batch, was_started) in self.batches.take_before_boundary() {
            let number = batch.number;
            if self.labeler.is_immediate(&batch) {
                self.push_label(batch);
                continue;
            }
            if !was_started {
                self.start(batch);
            }
            if let Some(label) = self.early.remove(&number) {
                self.queue.push_ready(Some(label));
            } else if self.work.is_some() {
                // The wait for a late label also counts for lines that could not be read meanwhile.
                let since = self.waiting_since.filter(|_| self.late > 0);
                let since = since.unwrap_or_else(Instant::now);
                self.queue.push_waiting(number, since);
            }
        }
    }

    fn labeled(&mut self, job: Job, label: Label) {
        let batch = job.batch;
        let mut running = None;
        if self
            .running
            .get(&batch)
            .is_some_and(|(running, _)| *running == job)
        {
            running = self.running.remove(&batch);
        }
        // Otherwise the batch grew and gets another label.
        let is_current = running.is_some();
        let session = running.and_then(|(_, session)| session);
        if is_current && self.timing.placing == Placing::WhenReady {
            if self.last_complete.is_none_or(|last| last <= batch) {
                self.queue.push_ready(Some((label, session)));
                return;
            }
        } else if is_current {
            let label = (label.clone(), session.clone());
            if self.batches.is_open(batch) {
                self.early.insert(batch, label);
                self.late = 0;
                return;
            }
            if self.queue.settle(batch, Some(label)) {
                self.late = 0;
                return;
            }
        }
        // A late label has a cost nonetheless.
        let result = label.result.map(|result| match result {
            Ok(text) => Err(NoText::from(Reason::Aborted).at_cost(text.cost)),
            Err(no_text) => Err(no_text),
        });
        self.queue
            .push_ready(Some((Label { result, ..label }, session)));
    }
}
