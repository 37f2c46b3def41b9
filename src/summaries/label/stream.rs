//! Copies a stream and inserts the labels of its batches, which several concurrent requests prepare.
//! Keeps the order of the input, in memory that does not grow with it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::batches::Batches;
use super::labeler::{Event, Gate, Label, Labeler, start_labeling, start_reading};
use super::patience::{MAX_REQUESTED, Patience};
use super::queue::{Output, Queue};
use super::recorded::RecordedLabels;
use crate::assemble::{Decoded, Decoder, Understanding};
use crate::jsonl::{Damage, Piece, Prefilter};
use crate::message::SessionId;
use crate::process::{EndRequests, EndSignal};

/// Maximum number of unprocessed chunks of the input.
const MAX_CHUNKS: usize = 4;

/// Maximum number of bytes of the input that wait for labels.
const MAX_WAITING_BYTES: usize = 8 * 1024 * 1024;

/// Pause of the input after which no further call of a message is expected.
const PAUSE: Duration = Duration::from_millis(40);

/// Minimum time that the end of a stream waits for labels, which cost something.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// A label and its session.
type SessionLabel = (Label, Option<SessionId>);

/// The position of labels in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// Before the content of the next message. No line waits longer than this for labels, which then follow later. At
    /// the end of the stream they are awaited this long, or at least five seconds.
    BeforeNextMessage(Duration),
    /// Wherever the stream is when a label is ready.
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
    fn report_late(&mut self, batch: u64);

    /// Reports that no line waits for labels, and one is requested at a time, until one is in time again.
    fn report_lost_patience(&mut self);

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
    /// The labels of earlier runs; `None` if labels are not recorded.
    recorded: Option<RecordedLabels>,
    work: Option<Sender<Batch>>,
    /// The requested labels, by batch.
    requested: HashMap<u64, Requested>,
    /// Labels that were ready before their position was reached, by batch.
    early: HashMap<u64, Vec<SessionLabel>>,
    patience: Patience,
    /// The end of the wait for labels after the end of the input.
    end: Option<Instant>,
    /// The time since which input waits to be read, if it does.
    waiting_since: Option<Instant>,
    gate: Arc<Gate>,
}

/// A label that is requested.
#[derive(Debug)]
struct Requested {
    session: Option<SessionId>,
    since: Instant,
}

impl<'a> LabelStream<'a> {
    /// Creates a stream before its first byte. `recorded` are the labels of earlier runs, if this one records its own.
    pub fn new(
        timing: Timing,
        labeler: &'a Labeler,
        recorded: Option<RecordedLabels>,
        decoder: Decoder,
    ) -> Self {
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
            recorded,
            work: None,
            requested: HashMap::new(),
            early: HashMap::new(),
            patience: Patience::new(hold),
            end: None,
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
            // Without a receiver, the stream has ended.
            let _ = report.send(Event::Signal(signal));
        }));
        let (work, jobs) = channel();
        self.work = Some(work);
        let gate = Arc::clone(&self.gate);
        let started = start_labeling(
            self.labeler,
            self.recorded.is_some(),
            self.timing.jobs,
            jobs,
            &sender,
        )
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
            if input_is_over && self.queue.is_empty() && !self.awaits_labels() {
                return match sink.flush() {
                    Ok(()) => StreamEnd::Copied(self.understanding),
                    Err(error) => StreamEnd::OutputFailed(error),
                };
            }
            self.gate.set(self.is_full());
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
                Event::Labeled(batch, label) => self.take_label(batch, *label, Instant::now()),
                Event::End => {
                    input_is_over = true;
                    if let Placing::BeforeNextMessage(hold) = self.timing.placing {
                        self.end = Some(Instant::now() + hold.max(LAST_WAIT));
                    }
                    self.batches.finish(self.decoder.finish());
                    self.place_labels();
                }
                Event::Failed(error) => {
                    self.queue.drop_waiting();
                    // The failure of the input is the one to report.
                    let _ = self.write(sink).and_then(|()| sink.flush());
                    return StreamEnd::InputFailed(error);
                }
                Event::Signal(signal) => {
                    if !requests.ends_now(Instant::now()) {
                        continue;
                    }
                    self.queue.drop_waiting();
                    // The signal ends the stream in any case.
                    let _ = self.write(sink).and_then(|()| sink.flush());
                    return StreamEnd::Ended(signal);
                }
            }
        }
    }

    /// Waits for an event; `None` if the queue must be checked again.
    fn wait(&mut self, events: &Receiver<Event>) -> Option<Event> {
        let deadline = self.queue.deadline().or(self.end);
        let until_late =
            deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let until_idle = self.batches.has_unsettled().then_some(PAUSE);
        let Some(timeout) = [until_late, until_idle].into_iter().flatten().min() else {
            return Some(events.recv().unwrap_or(Event::End));
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

    /// Whether the end of the stream waits for labels.
    fn awaits_labels(&self) -> bool {
        !self.requested.is_empty() && self.end.is_none_or(|end| Instant::now() < end)
    }

    /// Whether the input waits until there are labels, or until they are late.
    fn is_full(&self) -> bool {
        self.queue.bytes() > MAX_WAITING_BYTES
            || match self.timing.placing {
                Placing::BeforeNextMessage(_) => self.queue.waiting() >= self.timing.jobs,
                Placing::WhenReady => self.requested.len() >= MAX_REQUESTED,
            }
    }

    fn write(&mut self, sink: &mut dyn LabelSink) -> io::Result<()> {
        while let Some(output) = self.queue.pop(Instant::now()) {
            match output {
                Output::Bytes(bytes) => sink.bytes(&bytes)?,
                Output::Label((label, session)) => sink.label(label, session.as_ref())?,
                Output::Late(batch) => {
                    sink.report_late(batch);
                    if self.patience.note_late() {
                        sink.report_lost_patience();
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
        self.understanding.update(piece.raw(), &[]);
        if records < 2 {
            self.queue.push_bytes(piece.into_raw());
        }
    }

    fn read(&mut self, decoded: Decoded<'_>) {
        let Decoded { events, source, .. } = decoded;
        self.understanding.update(&[], &events);
        let labeled = source.labelled_calls();
        if labeled.is_empty() {
            self.settle(false);
        } else {
            self.batches.remove_labeled(&labeled);
        }
        if Batches::is_boundary(&events) {
            self.place_labels();
        }
        self.batches.record(&source, events);
    }

    /// Begins the labels of complete batches: when a record follows that is not a label, or when the
    /// input pauses.
    fn settle(&mut self, idle: bool) {
        let when_ready = self.timing.placing == Placing::WhenReady;
        // Labels by rules are made when the stream reaches their position.
        if !when_ready && !matches!(self.labeler, Labeler::Model { .. }) {
            return;
        }
        for batch in self.batches.take_settled(idle) {
            let number = batch.number;
            self.begin(batch);
            if when_ready {
                self.push_early(number);
            }
        }
    }

    /// Finds, makes or requests the labels of a batch.
    fn begin(&mut self, mut batch: Batch) {
        let recorded = self.recorded.as_ref();
        let mut labels = recorded.map_or_else(Vec::new, |recorded| recorded.take(&mut batch));
        let session = batch.session.clone();
        let number = batch.number;
        if batch.calls.is_empty() {
            // All calls have a recorded label.
        } else if self.labeler.is_immediate(&batch) {
            labels.push(self.labeler.label(&batch, self.recorded.is_some()));
        } else if self.patience.may_request(self.requested.len())
            && let Some(work) = &self.work
        {
            let requested = Requested {
                session: session.clone(),
                since: Instant::now(),
            };
            self.requested.insert(number, requested);
            // The workers, which receive it, end after this sender.
            let _ = work.send(batch);
        }
        let labels = labels.into_iter().map(|label| (label, session.clone()));
        self.early.entry(number).or_default().extend(labels);
    }

    /// Writes the labels of a batch that are ready here.
    fn push_early(&mut self, batch: u64) {
        for label in self.early.remove(&batch).unwrap_or_default() {
            self.queue.push_ready(label);
        }
    }

    /// Places the labels of all earlier batches here, before the content of another message.
    fn place_labels(&mut self) {
        let when_ready = self.timing.placing == Placing::WhenReady;
        if when_ready {
            self.settle(true);
        }
        for open in self.batches.take_before_boundary() {
            let number = open.batch.number;
            if !open.is_returned {
                self.begin(open.batch);
            }
            self.push_early(number);
            if !when_ready && self.patience.may_wait() && self.requested.contains_key(&number) {
                // The wait for a late label also counts for lines that could not be read meanwhile.
                let since = self.waiting_since.filter(|_| self.patience.was_late());
                let since = since.unwrap_or_else(Instant::now);
                self.queue.push_waiting(number, since);
            }
        }
    }

    /// Takes a requested label: for its position, or if that is past, for here.
    fn take_label(&mut self, batch: u64, label: Label, now: Instant) {
        let Some(Requested { session, since }) = self.requested.remove(&batch) else {
            return;
        };
        let label = (label, session);
        let is_ahead = self.timing.placing != Placing::WhenReady && self.batches.is_open(batch);
        let is_in_time = if is_ahead {
            self.early.entry(batch).or_default().push(label);
            true
        } else {
            self.queue.add(batch, label)
        };
        self.patience.note_label(is_in_time, now - since);
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
