//! Labels of batches, by rules or by a model.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use super::batch::{Batch, Need};
use super::{CallsEnded, ShownCall, clean_label, label_question, label_request};
use crate::client::model::{Delivery, Provider, Request};
use crate::io::Lock;
use crate::jsonl::{Piece, Prefilter, Reader};
use crate::message::ToolUseId;
use crate::process::EndSignal;
use crate::summaries::ask::{Asker, ReplyExtent};
use crate::summaries::builtin;
use crate::summaries::outcome::{NoText, Text};

/// Writes labels.
#[derive(Clone)]
pub enum Labeler {
    /// Rules.
    Rules,
    /// A model.
    Model {
        /// The model.
        asker: Asker,
        /// The system prompt.
        instructions: String,
        /// Whether rules label a single call that reads, lists, finds or searches.
        shortcuts: bool,
    },
    /// Writes the bodies of requests instead of labels.
    DryRun {
        /// The model.
        provider: Arc<dyn Provider>,
        /// The system prompt.
        instructions: String,
    },
}

/// The label of a batch.
#[derive(Debug, Clone)]
pub struct Label {
    /// The described calls.
    pub ids: Vec<ToolUseId>,
    /// The text, or the reason for a missing text; `None` if there is nothing to label.
    pub result: Option<Result<Text, NoText>>,
    /// The origin of the label.
    pub source: LabelSource,
}

/// The source of a label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LabelSource {
    /// This run, with a digest of the calls if labels are recorded.
    New(Option<String>),
    /// The recording of an earlier run, with the id of the record.
    Recorded(String),
}

impl Label {
    /// Creates a label of this run.
    fn new(ids: Vec<ToolUseId>, result: Option<Result<Text, NoText>>) -> Self {
        Self {
            ids,
            result,
            source: LabelSource::New(None),
        }
    }
}

impl Labeler {
    /// Returns the parts of batches that are needed.
    pub(super) fn need(&self) -> Need {
        match self {
            Self::Rules => Need::Rules,
            Self::Model {
                shortcuts: false, ..
            }
            | Self::DryRun { .. } => Need::Model,
            Self::Model { .. } => Need::Both,
        }
    }

    /// Whether the label of a batch needs no request.
    pub(super) fn is_immediate(&self, batch: &Batch) -> bool {
        match self {
            Self::Rules | Self::DryRun { .. } => true,
            Self::Model { shortcuts, .. } => *shortcuts && is_trivial(batch),
        }
    }

    /// Writes the label, with a digest of its calls if labels are recorded.
    pub(super) fn label(&self, batch: &Batch, is_recorded: bool) -> Label {
        let mut label = self.write(batch);
        if is_recorded {
            label.source = LabelSource::New(Some(batch.digest(&label.ids)));
        }
        label
    }

    fn write(&self, batch: &Batch) -> Label {
        match self {
            Self::DryRun {
                provider,
                instructions,
            } => Label::new(
                Vec::new(),
                build_request(batch, instructions)
                    .map(|request| Ok(Text::builtin(provider.body(&request, Delivery::Whole)))),
            ),
            Self::Model {
                asker,
                instructions,
                ..
            } if !self.is_immediate(batch) => label_by_model(batch, asker, instructions),
            Self::Rules | Self::Model { .. } => label_by_rules(batch),
        }
    }
}

fn label_by_rules(batch: &Batch) -> Label {
    let label = builtin::write_label(&batch.finished_calls(), batch.cwd.as_deref());
    let ids = batch.calls.iter().filter(|call| call.result.is_some());
    Label::new(
        ids.map(|call| call.id.clone()).collect(),
        (!label.is_empty()).then(|| Ok(Text::builtin(label))),
    )
}

fn label_by_model(batch: &Batch, asker: &Asker, instructions: &str) -> Label {
    let (calls, ended) = batch.shown_calls();
    Label::new(
        calls.iter().map(|call| call.id.clone()).collect(),
        build_request(batch, instructions).map(|request| {
            asker.text(&request, |reply, extent| {
                let text = match extent {
                    ReplyExtent::Whole => &reply.text,
                    // The last line may be cut, and then mean something else.
                    ReplyExtent::UpToLimit => reply.text.rsplit_once('\n').unwrap_or_default().0,
                };
                Ok(clean_label(text, ended)?)
            })
        }),
    )
}

/// Returns the request for a label; `None` if there is nothing to ask.
fn build_request(batch: &Batch, instructions: &str) -> Option<Request> {
    let (calls, _) = batch.shown_calls();
    let shown = calls.into_iter().filter_map(|call| {
        Some(ShownCall {
            name: &call.name,
            input: &call.input_shown,
            output: &call.result.as_ref()?.shown,
        })
    });
    let calls: Vec<ShownCall<'_>> = shown.collect();
    let question = (!calls.is_empty()).then(|| label_question(&calls, &batch.model_text))?;
    Some(label_request(question, instructions))
}

fn is_trivial(batch: &Batch) -> bool {
    let (shown, ended) = batch.shown_calls();
    let is_single = batch.calls.len() == 1 && ended == CallsEnded::Well;
    is_single && shown.iter().all(|only| builtin::is_lookup(&only.name))
}

/// Bytes of pieces to send together, because sending a piece takes longer than processing it.
const CHUNK_BYTES: usize = 128 * 1024;

/// An event for the main thread.
pub(super) enum Event {
    /// Pieces, and the time since which the input waits to be read, if it does.
    Pieces(Vec<Piece>, Option<Instant>),
    End,
    Failed(io::Error),
    /// The label of a batch.
    Labeled(u64, Box<Label>),
    Signal(EndSignal),
}

/// Blocks the reading thread while closed.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub(super) fn set(&self, closed: bool) {
        let mut state = self.closed.lock_anyway();
        if *state != closed {
            *state = closed;
            self.changed.notify_all();
        }
    }

    /// Waits until the gate is open. Returns the start of the wait.
    fn pass(&self) -> Option<Instant> {
        let mut state = self.closed.lock_anyway();
        let since = state.then(Instant::now);
        while *state {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        since
    }
}

/// Reads the input in its own thread while the gate is open. `is_waiting` returns whether more of it is
/// in a pipe.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn start_reading(
    input: impl io::Read + Send + 'static,
    prefilter: Prefilter,
    sender: SyncSender<Event>,
    gate: Arc<Gate>,
    is_waiting: impl Fn() -> bool + Send + 'static,
) -> io::Result<()> {
    let read = move || {
        let mut reader = Reader::new(input, prefilter);
        let mut since = None;
        loop {
            let closed = gate.pass();
            since = since.or(closed).filter(|_| is_waiting());
            let event = match read_chunk(&mut reader) {
                Ok(pieces) if pieces.is_empty() => Event::End,
                Ok(pieces) => Event::Pieces(pieces, since),
                Err(error) => Event::Failed(error),
            };
            let is_last = !matches!(event, Event::Pieces(..));
            if sender.send(event).is_err() || is_last {
                return;
            }
        }
    };
    Builder::new().spawn(read).map(drop)
}

/// Reads the pieces that are available without waiting, but at least one. Empty at the end of the input.
fn read_chunk(reader: &mut Reader<impl io::Read>) -> io::Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut bytes = 0;
    while bytes < CHUNK_BYTES && (pieces.is_empty() || reader.has_piece()) {
        let Some(piece) = reader.next_piece()? else {
            break;
        };
        bytes += piece.raw().len();
        pieces.push(piece);
    }
    Ok(pieces)
}

/// Starts the threads that ask the model, if there is one.
///
/// # Errors
/// No thread can be started.
pub(super) fn start_labeling(
    labeler: &Labeler,
    is_recorded: bool,
    jobs: usize,
    work: Receiver<Batch>,
    sender: &SyncSender<Event>,
) -> io::Result<()> {
    if !matches!(labeler, Labeler::Model { .. }) {
        return Ok(());
    }
    let work = Arc::new(Mutex::new(work));
    for job in 0..jobs.max(1) {
        let (labeler, work, sender) = (labeler.clone(), Arc::clone(&work), sender.clone());
        let label = move || {
            loop {
                let next = work.lock_anyway().recv();
                let Ok(batch) = next else {
                    return;
                };
                let label = Box::new(labeler.label(&batch, is_recorded));
                if sender.send(Event::Labeled(batch.number, label)).is_err() {
                    return;
                }
            }
        };
        match Builder::new().spawn(label) {
            Err(error) if job == 0 => return Err(error),
            Err(_) => break,
            Ok(_) => {}
        }
    }
    Ok(())
}
