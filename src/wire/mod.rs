//! Records: what a line of any dialect means, and the records turnpipe writes.
//!
//! Reads every dialect of protocol section 1, told apart line by line; joins streamed deltas.
//! Executes nothing and reads no files. What a stage does about an event is not decided here.

mod decode;
mod event;
mod ids;
mod outcome;

pub use decode::{Decoder, Dialect, prefilter_needles, result_needles};
pub use event::{CutOff, Event, InvalidCall, Opening, ResultSeen, ToolCall, TurnEnd};
pub use ids::{MessageId, SessionId, ToolUseId};
pub use outcome::{Lane, Outcome};
