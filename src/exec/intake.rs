//! The input side of a run: a thread that reads lines, decodes them and hands them over in
//! batches, never more of them than the credit allows.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::ledger::Ledger;
use crate::assemble::{Decoder, Event};
use crate::jsonl::{Damage, Piece, Reader};

/// How many bytes of input may be under way between reader and runner.
const CREDIT: usize = 4 * 1024 * 1024;

/// How far a reader looks ahead for results, in bytes: as much as pipes usually hold, and more.
const LOOK_AHEAD: usize = 1024 * 1024;

/// A part of the input, in order.
#[derive(Debug)]
pub(super) struct Item {
    /// The bytes to echo, with the records in them.
    pub(super) piece: Piece,
    /// What they mean.
    pub(super) events: Vec<Event>,
    /// What is wrong with them.
    pub(super) damage: Vec<Damage>,
    /// Whether own records may follow, or a giant line is still open.
    pub(super) boundary: Boundary,
}

/// Where an item ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    /// At the end of a line, or of the input.
    Line,
    /// Inside of a giant line.
    Inside,
}

/// What the reading thread sends.
#[derive(Debug)]
pub(super) enum Arrival {
    /// What is known of the whole input; before any of its calls.
    Ledger(Ledger),
    /// What was at hand without waiting.
    Items(Vec<Item>),
    /// The input ended.
    End,
    /// The input could not be read further.
    Failed(io::Error),
}

/// A budget of bytes that may still be sent. The receiver of an item returns its bytes.
#[derive(Debug, Clone)]
pub(super) struct Credit {
    shared: Arc<(Mutex<usize>, Condvar)>,
}

impl Credit {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new((Mutex::new(CREDIT), Condvar::new())),
        }
    }

    /// Waits until something is left and takes `bytes`, if need be more than there is: an item
    /// larger than the whole credit must still pass.
    fn take(&self, bytes: usize) {
        let (left, changed) = &*self.shared;
        let guard = left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = changed
            .wait_while(guard, |left| *left == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(bytes);
    }

    pub(super) fn give_back(&self, bytes: usize) {
        let (left, changed) = &*self.shared;
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        *left = (*left + bytes).min(CREDIT);
        changed.notify_one();
    }
}

/// Reads to the end of the input, or until `deliver` says that the runner is gone. Before the first
/// call is handed over, `read_ahead` reads the whole input if it can; else everything is read that
/// `waiting` says is there to be read, since it may hold the call's result. See `docs/protocol.md`,
/// Answered calls.
pub(super) fn read_all(
    mut reader: Reader<impl Read>,
    waiting: impl Fn() -> bool,
    mut read_ahead: Option<impl FnOnce() -> io::Result<Ledger>>,
    mut decoder: Decoder,
    credit: &Credit,
    deliver: impl Fn(Arrival) -> bool,
) {
    loop {
        let mut items: Vec<Item> = Vec::new();
        let mut ended = None;
        let (mut bytes, mut has_calls) = (0, false);
        loop {
            match reader.next_piece() {
                Ok(Some(piece)) => {
                    let item = item(piece, &mut decoder);
                    bytes += item.piece.raw().len();
                    has_calls |= item
                        .events
                        .iter()
                        .any(|event| matches!(event, Event::Call(_)));
                    items.push(item);
                }
                Ok(None) => {
                    // What follows from the end of the input.
                    items.push(Item {
                        piece: Piece::Plain { raw: Vec::new() },
                        events: decoder.finish(),
                        damage: Vec::new(),
                        boundary: Boundary::Line,
                    });
                    ended = Some(Arrival::End);
                    break;
                }
                Err(error) => {
                    ended = Some(Arrival::Failed(error));
                    break;
                }
            }
            let looks_ahead = has_calls && bytes < LOOK_AHEAD && waiting();
            if !reader.has_piece() && !looks_ahead {
                break;
            }
        }
        if has_calls && let Some(read_ahead) = read_ahead.take() {
            let ledger = read_ahead().map_or_else(Arrival::Failed, Arrival::Ledger);
            if !deliver(ledger) {
                return;
            }
        }
        credit.take(bytes);
        if !items.is_empty() && !deliver(Arrival::Items(items)) {
            return;
        }
        if let Some(ended) = ended {
            deliver(ended);
            return;
        }
    }
}

/// What the records in a piece mean, and what is wrong with it.
pub(super) fn events(piece: &Piece, decoder: &mut Decoder) -> (Vec<Event>, Vec<Damage>) {
    let mut events = Vec::new();
    let damage = piece
        .visit_records(|record| decoder.decode(record, |decoded| events.extend(decoded.events)));
    (events, damage)
}

fn item(piece: Piece, decoder: &mut Decoder) -> Item {
    let (events, damage) = events(&piece, decoder);
    let is_inside = matches!(piece, Piece::Giant { is_last: false, .. });
    Item {
        piece,
        events,
        damage,
        boundary: if is_inside {
            Boundary::Inside
        } else {
            Boundary::Line
        },
    }
}
