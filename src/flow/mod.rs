//! What drives several rooms at once: labels that are made ahead of their places in a stream, titles
//! and recaps of many sessions, questions of a run to other models. The rules are in other rooms.

mod advisor;
mod ask;
mod batch;
mod batches;
mod briefing;
mod dialog_stream;
mod excerpt;
mod judge;
mod label_maker;
mod label_sink;
mod label_threads;
mod labels;
mod maker;
mod queue;
mod reason;

pub use advisor::{ADVISOR, Advisor};
pub use ask::{Asker, Consultant, Cost};
pub use batch::{Batch, BatchCall, BatchResult, Need};
pub use batches::Batches;
pub use briefing::Briefing;
pub use dialog_stream::DialogStream;
pub use excerpt::Excerpt;
pub use judge::ModelJudge;
pub use label_maker::{LabelMaker, LabelOutcome, Shortcuts};
pub use label_sink::{LabelEnd, LabelSink, Placing, Timing};
pub use labels::Labels;
pub use maker::{Maker, Product, Source};
pub use reason::{NoResult, Reason};
