//! Recording and replay of exchanges with providers.
//!
//! A recording is a JSON Lines file with one exchange per line, in the order in which they ended. It
//! contains everything needed for replay, including dialects, but no keys.

mod exchange_record;
mod nearest;
mod play;
mod recorder;
mod replayed;

#[cfg(test)]
mod tests;

pub use exchange_record::RecordingError;
pub(super) use play::Recording;
pub(super) use recorder::PendingExchange;
pub use recorder::Recorder;
pub(super) use replayed::Replayed;
