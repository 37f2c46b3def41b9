//! The threads of a label stream: one reads ahead, others ask the model.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use super::batch::Batch;
use super::labeler::{Label, Labeler};
use crate::jsonl::{Piece, Prefilter, Reader};
use crate::process::EndSignal;

/// Bytes of pieces that are sent together: sending each alone takes longer than processing it.
const CHUNK_BYTES: usize = 128 * 1024;

/// An event for the main thread.
pub(super) enum Event {
    /// Pieces, and the time since which they wait to be read, if they do.
    Pieces(Vec<Piece>, Option<Instant>),
    End,
    Failed(io::Error),
    Labeled(Job, Box<Label>),
    Signal(EndSignal),
}

/// A task for a labeling thread. A batch that grew gets another label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) batch: u64,
    pub(super) calls: usize,
}

/// Blocks the reading thread while closed.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: Mutex<bool>,
    changed: Condvar,
}

impl Gate {
    pub(super) fn set(&self, closed: bool) {
        let mut state = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        if *state != closed {
            *state = closed;
            self.changed.notify_all();
        }
    }

    /// Waits until the gate is open. Returns the start of the wait.
    fn pass(&self) -> Option<Instant> {
        let mut state = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
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
            let event = match chunk(&mut reader) {
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

/// Returns the next pieces that are available without waiting: at least one, or none at the end.
fn chunk(reader: &mut Reader<impl io::Read>) -> io::Result<Vec<Piece>> {
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
/// Not even one thread can be started.
pub(super) fn start_labeling(
    labeler: &Labeler,
    jobs: usize,
    work: Receiver<(Job, Batch)>,
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
                let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok((job, batch)) = next else {
                    return;
                };
                let label = Box::new(labeler.label(&batch));
                if sender.send(Event::Labeled(job, label)).is_err() {
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
