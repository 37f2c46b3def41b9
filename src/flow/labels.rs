//! Copies a stream and puts the labels of its batches in their places, made ahead by several calls
//! at once. Order is kept, and memory does not grow with the stream.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::time::{Duration, Instant};

use super::batch::Batch;
use super::batches::Batches;
use super::label_maker::{LabelMaker, LabelOutcome};
use super::label_sink::{LabelEnd, LabelSink, Placing, Timing};
use super::label_threads::{Event, Gate, Job, start_making, start_reading};
use super::queue::{Out, Queue};
use crate::jsonl::{Piece, Prefilter};
use crate::message::SessionId;
use crate::process::{EndRequests, EndSignal};
use crate::wire::{Decoded, Decoder, Understanding};

/// How many chunks of the input may wait to be processed.
const CHUNKS_AHEAD: usize = 4;

/// How many bytes of the input may wait behind a label.
const MOST_WAITING: usize = 8 * 1024 * 1024;

/// After such a pause of the input, no more of a message is expected.
const PAUSE: Duration = Duration::from_millis(40);

/// A label or the cost of none, and its session.
type Labelled = (LabelOutcome, Option<SessionId>);

/// Copies a stream with labels.
pub struct Labels<'a> {
    timing: Timing,
    maker: &'a LabelMaker,
    decoder: Decoder,
    understanding: Understanding,
    batches: Batches,
    queue: Queue<Labelled>,
    work: Option<Sender<(Job, Batch)>>,
    /// Running and waiting jobs, by batch.
    running: HashMap<u64, (Job, Option<SessionId>)>,
    /// Labels that were ready before their place.
    early: HashMap<u64, Labelled>,
    /// The number of the last complete batch.
    last_complete: Option<u64>,
    gate: Arc<Gate>,
}

impl<'a> Labels<'a> {
    /// Nothing was read.
    pub fn new(timing: Timing, maker: &'a LabelMaker, decoder: Decoder) -> Self {
        let hold = match timing.placing {
            Placing::BeforeNextMessage(hold) => hold,
            Placing::WhenReady => Duration::ZERO,
        };
        Self {
            timing,
            maker,
            decoder,
            understanding: Understanding::default(),
            batches: Batches::new(maker.need()),
            queue: Queue::new(hold),
            work: None,
            running: HashMap::new(),
            early: HashMap::new(),
            last_complete: None,
            gate: Arc::new(Gate::default()),
        }
    }

    /// Copies `input` to `sink` with labels. `signals` is given a way to report signals; the first
    /// request to end is for the stages before this one.
    pub fn run(
        mut self,
        input: impl io::Read + Send + 'static,
        prefilter: Prefilter,
        sink: &mut dyn LabelSink,
        signals: impl FnOnce(Box<dyn Fn(EndSignal) + Send>),
    ) -> LabelEnd {
        let (sender, events) = sync_channel(CHUNKS_AHEAD);
        let report = sender.clone();
        signals(Box::new(move |signal| {
            let _ = report.send(Event::Signal(signal));
        }));
        let (work, jobs) = channel();
        self.work = Some(work);
        let gate = Arc::clone(&self.gate);
        let started = start_making(self.maker, self.timing.jobs, jobs, &sender)
            .and_then(|()| start_reading(input, prefilter, sender, gate));
        if let Err(error) = started {
            return LabelEnd::InputFailed(error);
        }
        self.drive(&events, sink)
    }

    fn drive(&mut self, events: &Receiver<Event>, sink: &mut dyn LabelSink) -> LabelEnd {
        let mut input_is_over = false;
        let mut requests = EndRequests::default();
        loop {
            if let Err(error) = self.write(sink) {
                return LabelEnd::OutputFailed(error);
            }
            if input_is_over && self.queue.is_empty() && !self.waits_for_calls() {
                return match sink.flush() {
                    Ok(()) => LabelEnd::Copied(self.understanding),
                    Err(error) => LabelEnd::OutputFailed(error),
                };
            }
            let is_full =
                self.queue.bytes() > MOST_WAITING || self.queue.waiting() >= self.timing.jobs;
            self.gate.set(is_full);
            let event = if let Ok(event) = events.try_recv() {
                event
            } else {
                if let Err(error) = sink.flush() {
                    return LabelEnd::OutputFailed(error);
                }
                match self.wait(events) {
                    Some(event) => event,
                    None => continue,
                }
            };
            match event {
                Event::Pieces(pieces) => {
                    for piece in pieces {
                        self.take(piece, sink);
                    }
                }
                Event::Labelled(job, made) => self.made(job, *made),
                Event::End => {
                    input_is_over = true;
                    self.batches.finish(self.decoder.finish());
                    self.place_labels();
                }
                Event::Failed(error) => {
                    self.queue.give_up();
                    let _ = self.write(sink).and_then(|()| sink.flush());
                    return LabelEnd::InputFailed(error);
                }
                Event::Signal(signal) => {
                    if !requests.ends_now(Instant::now()) {
                        continue;
                    }
                    self.queue.give_up();
                    let _ = self.write(sink).and_then(|()| sink.flush());
                    return LabelEnd::Ended(signal);
                }
            }
        }
    }

    /// Waits for an event; `None` if the queue has to be checked again.
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

    /// Whether the end of the stream has to wait for labels.
    fn waits_for_calls(&self) -> bool {
        self.timing.placing == Placing::WhenReady && !self.running.is_empty()
    }

    fn write(&mut self, sink: &mut dyn LabelSink) -> io::Result<()> {
        while let Some(out) = self.queue.pop(Instant::now()) {
            match out {
                Out::Bytes(bytes) => sink.bytes(&bytes)?,
                Out::Label((made, session)) => sink.label(&made, session.as_ref())?,
                Out::Late(batch) => sink.late(batch),
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
                // Labels of what stands in the same list go behind it.
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
        let Decoded {
            events, contents, ..
        } = decoded;
        self.understanding.note(&[], &events);
        let labelled = contents.labelled_calls();
        if labelled.is_empty() {
            self.settle(self.timing.placing == Placing::WhenReady);
        } else {
            self.batches.leave_labelled(&labelled);
        }
        if Batches::is_boundary(&events) {
            self.place_labels();
        }
        self.batches.record(&contents, events);
    }

    /// Starts the labels of complete batches: when a record follows that is no label itself, or when
    /// the input pauses.
    fn settle(&mut self, idle: bool) {
        let when_ready = self.timing.placing == Placing::WhenReady;
        // By rules, a label is made when the stream reaches its place.
        if !when_ready && !matches!(self.maker, LabelMaker::Model { .. }) {
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
        if self.maker.is_immediate(&batch) {
            let made = self.maker.make(&batch);
            self.queue.push_ready(Some((made, batch.session)));
        } else {
            self.start(batch);
        }
    }

    fn start(&mut self, batch: Batch) {
        let job = Job {
            batch: batch.number,
            calls: batch.calls.len(),
        };
        self.early.remove(&batch.number);
        self.running
            .insert(batch.number, (job, batch.session.clone()));
        if let Some(work) = &self.work {
            let _ = work.send((job, batch));
        }
    }

    /// The content of another message begins: the labels of all batches before go here.
    fn place_labels(&mut self) {
        if self.timing.placing == Placing::WhenReady {
            self.settle(true);
            for (batch, was_started) in self.batches.take_before_boundary() {
                // Some of its calls were never answered.
                if !was_started {
                    self.label_when_ready(batch);
                }
            }
            return;
        }
        for (batch, was_started) in self.batches.take_before_boundary() {
            let number = batch.number;
            if self.maker.is_immediate(&batch) {
                let made = self.maker.make(&batch);
                self.queue.push_ready(Some((made, batch.session)));
                continue;
            }
            if !was_started {
                self.start(batch);
            }
            match self.early.remove(&number) {
                Some(labelled) => self.queue.push_ready(Some(labelled)),
                None => self.queue.push_waiting(number),
            }
        }
    }

    fn made(&mut self, job: Job, made: LabelOutcome) {
        let batch = job.batch;
        let mut running = None;
        if self
            .running
            .get(&batch)
            .is_some_and(|(running, _)| *running == job)
        {
            running = self.running.remove(&batch);
        }
        let is_current = running.is_some();
        let session = running.and_then(|(_, session)| session);
        let is_shown = match self.timing.placing {
            // The batch grew and gets another label.
            _ if !is_current => false,
            Placing::WhenReady => self.last_complete.is_none_or(|last| last <= batch),
            Placing::BeforeNextMessage(_) => {
                let labelled = (made.clone(), session.clone());
                if self.queue.settle(batch, Some(labelled.clone())) {
                    return;
                }
                if self.batches.is_open(batch) {
                    self.early.insert(batch, labelled);
                    return;
                }
                false
            }
        };
        // A label that comes too late was paid for nevertheless.
        let label = made.label.filter(|_| is_shown);
        let made = LabelOutcome { label, ..made };
        self.queue.push_ready(Some((made, session)));
    }
}
