//! Streams, terminal facts, clock, ids and environment.
//!
//! Everything that makes two runs differ is injected through [`Io`], so that tests can fix it.

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
pub use process_io::{StdoutAtStart, UnusableVariable, columns};
pub use streams::{InputStream, Io, OutputStream};
pub use terminal::{TerminalFacts, TerminalRecords};
