//! The input side of a run: a thread that reads lines, decodes them and hands them over in batches that
//! never exceed the credit; and the queue of input that is not yet passed on.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::stream::Ledger;
use crate::assemble::{Decoder, Event};
use crate::io::Lock;
use crate::jsonl::{Damage, Piece, Prefilter, Reader};

/// Maximum input between the reader and the main loop, in bytes.
const MAX_CREDIT: usize = 4 * 1024 * 1024;

/// Maximum input to read ahead of the first call in a pipe to find its result, in bytes. Pipes usually hold less.
const MAX_READ_AHEAD: usize = 1024 * 1024;

/// A part of the input, in order.
#[derive(Debug)]
pub(super) struct InputItem {
    /// The bytes to echo, and the records in them.
    pub(super) piece: Piece,
    pub(super) events: Vec<Event>,
    pub(super) damage: Vec<Damage>,
    pub(super) boundary: Boundary,
}

/// The position of an item's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Boundary {
    /// The end of a line or of the input: records may follow.
    Line,
    /// Inside a line that is longer than a piece.
    Inside,
}

/// A message of the reader thread.
#[derive(Debug)]
pub(super) enum InputEvent {
    /// The results in the whole input. Sent before any call.
    Ledger(Ledger),
    /// The items that could be read without waiting.
    Items(Vec<InputItem>),
    End,
    /// An error of the input, which ends it.
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
            shared: Arc::new((Mutex::new(MAX_CREDIT), Condvar::new())),
        }
    }

    /// Waits until the budget is not empty, then takes `bytes`, or the whole budget if it is smaller: an item
    /// larger than the maximum must still pass.
    fn take(&self, bytes: usize) {
        let (left, changed) = &*self.shared;
        let guard = left.lock_anyway();
        let mut left = changed
            .wait_while(guard, |left| *left == 0)
            .unwrap_or_else(PoisonError::into_inner);
        *left = left.saturating_sub(bytes);
    }

    fn release(&self, bytes: usize) {
        let (left, changed) = &*self.shared;
        let mut left = left.lock_anyway();
        *left = (*left + bytes).min(MAX_CREDIT);
        changed.notify_one();
    }
}

/// The input that is not yet passed on.
pub(super) struct Backlog {
    items: VecDeque<InputItem>,
    credit: Credit,
    has_ended: bool,
}

impl Backlog {
    pub(super) fn new(credit: Credit) -> Self {
        Self {
            items: VecDeque::new(),
            credit,
            has_ended: false,
        }
    }

    pub(super) fn extend(&mut self, items: Vec<InputItem>) {
        self.items.extend(items);
    }

    /// Records that no more items will be added.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn front(&self) -> Option<&InputItem> {
        self.items.front()
    }

    /// Removes the next item, and returns its bytes to the credit.
    pub(super) fn pop(&mut self) -> Option<InputItem> {
        let item = self.items.pop_front()?;
        self.credit.release(item.piece.raw().len());
        Some(item)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the input has ended and is passed on.
    pub(super) fn is_done(&self) -> bool {
        self.has_ended && self.items.is_empty()
    }
}

/// Reads until the end of the input, or until `deliver` returns `false`. The result of a call may follow in the
/// input, so before the first call is delivered, `read_ahead` reads the whole input; without it, everything is
/// read that is available without waiting (`has_input`). See `docs/records.md`, Which calls run.
pub(super) fn read_all(
    mut reader: Reader<impl Read>,
    has_input: impl Fn() -> bool,
    mut read_ahead: Option<impl FnOnce() -> io::Result<Ledger>>,
    mut decoder: Decoder,
    credit: &Credit,
    deliver: impl Fn(InputEvent) -> bool,
) {
    loop {
        let mut items: Vec<InputItem> = Vec::new();
        let mut end_event = None;
        let (mut bytes, mut has_calls) = (0, false);
        loop {
            match reader.next_piece() {
                Ok(Some(piece)) => {
                    let item = decode_item(piece, &mut decoder);
                    bytes += item.piece.raw().len();
                    has_calls |= item
                        .events
                        .iter()
                        .any(|event| matches!(event, Event::Call(_)));
                    items.push(item);
                }
                Ok(None) => {
                    // The events at the end of the input.
                    items.push(InputItem {
                        piece: Piece::Plain { raw: Vec::new() },
                        events: decoder.finish(),
                        damage: Vec::new(),
                        boundary: Boundary::Line,
                    });
                    end_event = Some(InputEvent::End);
                    break;
                }
                Err(error) => {
                    end_event = Some(InputEvent::Failed(error));
                    break;
                }
            }
            let must_continue = has_calls && bytes < MAX_READ_AHEAD && has_input();
            if !reader.has_piece() && !must_continue {
                break;
            }
        }
        if has_calls && let Some(read_ahead) = read_ahead.take() {
            let ledger = read_ahead().map_or_else(InputEvent::Failed, InputEvent::Ledger);
            if !deliver(ledger) {
                return;
            }
        }
        credit.take(bytes);
        if !items.is_empty() && !deliver(InputEvent::Items(items)) {
            return;
        }
        if let Some(end_event) = end_event {
            deliver(end_event);
            return;
        }
    }
}

/// Returns the events of the records in a piece, and its damage.
fn decode_piece(piece: &Piece, decoder: &mut Decoder) -> (Vec<Event>, Vec<Damage>) {
    let mut events = Vec::new();
    let damage = piece
        .visit_records(|record| decoder.decode(record, |decoded| events.extend(decoded.events)));
    (events, damage)
}

fn decode_item(piece: Piece, decoder: &mut Decoder) -> InputItem {
    let (events, damage) = decode_piece(&piece, decoder);
    let is_inside = matches!(piece, Piece::LongLine { is_last: false, .. });
    InputItem {
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

/// A second reader of a regular file, from the current position of the file, which it leaves
/// unchanged.
pub(super) struct ReadAhead {
    file: File,
    start: u64,
}

impl ReadAhead {
    /// Returns a reader of `file`; `None` if it is not a regular file.
    ///
    /// # Errors
    /// The type of the file cannot be determined.
    pub(super) fn open(file: &File) -> io::Result<Option<Self>> {
        if !file.metadata()?.is_file() {
            return Ok(None);
        }
        let mut file = file.try_clone()?;
        let start = file.stream_position()?;
        Ok(Some(Self { file, start }))
    }

    /// Returns the calls and results of the whole file. `decoder` must be set up like the one of the first
    /// reader.
    pub(super) fn read_ledger(
        self,
        needles: Prefilter,
        mut decoder: Decoder,
    ) -> io::Result<Ledger> {
        let mut ledger = Ledger::default();
        let mut reader = Reader::new(self, needles);
        while let Some(piece) = reader.next_piece()? {
            for event in decode_piece(&piece, &mut decoder).0 {
                ledger.read(&event);
            }
        }
        for event in decoder.finish() {
            ledger.read(&event);
        }
        ledger.complete();
        Ok(ledger)
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(buffer, self.start)?;
        self.start += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_waits_for_bytes_that_are_given_back() {
        let credit = Credit::new();
        let left = || *credit.shared.0.lock().unwrap();
        credit.take(MAX_CREDIT - 3);
        assert_eq!(left(), 3);
        credit.take(MAX_CREDIT * 2);
        assert_eq!(left(), 0, "an item larger than the rest takes the rest");
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| credit.take(2));
            credit.release(5);
            reader.join().unwrap();
        });
        assert_eq!(left(), 3);
        credit.release(MAX_CREDIT * 2);
        assert_eq!(left(), MAX_CREDIT);
    }

    #[test]
    fn a_run_is_done_when_its_input_has_ended_and_is_passed_on() {
        let mut backlog = Backlog::new(Credit::new());
        assert!(!backlog.is_done());
        backlog.extend(vec![InputItem {
            piece: Piece::Plain { raw: Vec::new() },
            events: Vec::new(),
            damage: Vec::new(),
            boundary: Boundary::Line,
        }]);
        backlog.end();
        assert!(!backlog.is_done());
        assert!(backlog.pop().is_some());
        assert!(backlog.is_done());
    }
}
