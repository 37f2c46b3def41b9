//! Messages from the records of a stream.

mod dialog_stream;

pub use dialog_stream::DialogStream;
