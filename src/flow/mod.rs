//! What drives several rooms at once: labels made ahead of a stream and put in their places, titles
//! and recaps of many sessions.
//!
//! No rules live here: what a batch is called, and which title counts, is known elsewhere.

mod ask;
mod batch;
mod batches;
mod dialog_stream;
mod digest;
mod each;
mod label_maker;
mod labels;
mod maker;
mod queue;
mod reason;

pub use ask::{Asked, Asker, Cost};
pub use batch::{Batch, BatchCall, BatchResult, Need};
pub use batches::Batches;
pub use dialog_stream::DialogStream;
pub use digest::Digest;
pub use each::{Pace, each_in_order};
pub use label_maker::{LabelMaker, Made, Shortcuts};
pub use labels::{LabelEnd, LabelSink, Labels, Placing, Timing};
pub use maker::{Maker, Product, Source};
pub use reason::{Nothing, Reason};
