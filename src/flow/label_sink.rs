//! Where labels go, and what a stream of them ends with.

use std::io;
use std::time::Duration;

use super::label_maker::LabelOutcome;
use crate::assemble::Understanding;
use crate::jsonl::Damage;
use crate::message::SessionId;
use crate::process::EndSignal;

/// Where labels go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placing {
    /// Before the content of the next message. No line waits longer than this for one label.
    BeforeNextMessage(Duration),
    /// Wherever the stream is when a label is ready. A label that is ready after a later batch has
    /// completed is dropped.
    WhenReady,
}

/// When and where labels are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Where labels go.
    pub placing: Placing,
    /// How many are made at once.
    pub jobs: usize,
}

/// Receives the output.
pub trait LabelSink {
    /// Bytes of the input.
    ///
    /// # Errors
    /// The output failed.
    fn bytes(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// A label, or the cost of a call that brought none.
    ///
    /// # Errors
    /// The output failed.
    fn label(&mut self, made: &LabelOutcome, session: Option<&SessionId>) -> io::Result<()>;

    /// A label that was not ready in time.
    fn late(&mut self, batch: u64);

    /// Damage in the input.
    fn damage(&mut self, damage: &Damage);

    /// The input pauses, so that output should be flushed.
    ///
    /// # Errors
    /// The output failed.
    fn flush(&mut self) -> io::Result<()>;
}

/// How a stream ended.
#[derive(Debug)]
pub enum LabelEnd {
    /// The whole input was copied, and so much of it was understood.
    Copied(Understanding),
    /// A signal ended it.
    Ended(EndSignal),
    /// The input failed.
    InputFailed(io::Error),
    /// The output failed.
    OutputFailed(io::Error),
}
