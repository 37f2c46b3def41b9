//! The world as a stage sees it: streams, terminal facts, time, ids and environment, all injectable.
//!
//! Nothing here decides anything. Everything that would make two runs differ (clock, random ids,
//! environment, terminal) is reached through [`Io`], so that a test can pin it.

mod cancel;
mod clock;
mod environment;
mod ids;
mod messages;
mod process_io;
mod streams;
mod terminal;

pub use cancel::CancelToken;
pub(crate) use cancel::Level;
pub use clock::{Clock, FixedClock, SystemClock};
pub use environment::Environment;
pub use ids::{Ids, RandomIds, SeededIds};
pub use messages::{MessageLevel, Messages};
pub use process_io::{StdoutAtStart, UnusableVariable};
pub use streams::{Input, Io, Output};
pub use terminal::{TerminalFacts, TerminalRecords};
