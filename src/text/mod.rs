//! Pure rules on strings: terminal-safe text, UTF-16 truncation, display width, byte sizes.
//!
//! No I/O, no state, no knowledge of records.

mod terminal_safe;

pub use terminal_safe::{terminal_safe, terminal_safe_line};
