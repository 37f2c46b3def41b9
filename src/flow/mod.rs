//! Messages from the records of a stream.

mod dialog_stream;
mod each;

pub use dialog_stream::DialogStream;
pub use each::each_in_order;
