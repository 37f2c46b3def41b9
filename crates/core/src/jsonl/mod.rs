//! Lines: a bounded, lossless reader, search in large files, and the writer of records.
//!
//! This module finds JSON objects but does not interpret records. `unsafe` is allowed here, each use with a
//! SAFETY comment.

mod backward;
mod fixed_file;
mod line_records;
mod line_splitter;
mod piece;
mod reader;
#[cfg(test)]
mod test_samples;
mod text_line;
mod value;
mod writer;

pub use backward::{Hit, LineVisitor, SearchControl, search_backward, visit_lines_backward};
pub use fixed_file::{Beginning, FixedFile, Mapping, fill_at};
pub use line_records::{Damage, END_OF_EVENTS, Record, only_record, split_line, undamaged_text};
pub use line_splitter::{LineEnding, LineReader, LineSplitter, LineTooLong, take_buffer};
pub use piece::{Piece, Prefilter};
pub use reader::{MAX_LINE_BYTES, Reader, UnwantedLines};
pub use text_line::{LineContext, TextLine, TextLineForm, describe_without_line, parse_text_line};
pub use value::{FirstValue, first_value};
pub use writer::{RecordWriter, WriteError, WriteResult, Writer, append_record, escape_separators};
