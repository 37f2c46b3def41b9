//! Recording and replay of exchanges with providers.
//!
//! A recording is a file of JSON Lines, one exchange a line, in the order in which the exchanges
//! ended. It contains everything that a replay needs, including dialects, and no keys.

mod exchange_record;
mod nearest;
mod play;
mod recorder;
mod replayed;

#[cfg(test)]
mod tests;

pub use exchange_record::UnusableRecording;
pub(super) use play::Recording;
pub use recorder::Recorder;
pub(super) use recorder::Tape;
pub(super) use replayed::Replayed;
