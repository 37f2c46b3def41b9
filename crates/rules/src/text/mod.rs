//! Pure functions on strings: terminal-safe text, redaction, UTF-16 truncation, display width, byte sizes.

mod escape_sequences;
mod pattern;
mod pieces;
mod secrets;
mod sha256;
mod terminal_safe;
mod width;

pub use pattern::pattern;
pub use pieces::{TextPieces, line_operations, marked_lines, unfenced};
pub use secrets::{MASK, is_secret, names_secret, redact, redact_json, redact_strings};
pub use sha256::{Sha256Writer, sha256};
pub use terminal_safe::{escape_hidden, terminal_safe, terminal_safe_line};
pub use width::{
    byte_size, byte_size_trimmed, counted, display_width, dollars, fitted, fitted_end,
    truncate_utf16, utf16_length, with_separators,
};

#[cfg(test)]
mod terminal_safe_tests;
