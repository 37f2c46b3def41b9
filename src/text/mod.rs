//! Pure rules on strings: terminal-safe text, UTF-16 truncation, display width, byte sizes.
//!
//! No I/O, no knowledge of records.

mod byte_size;
mod character_class;
mod counted;
mod escape_sequences;
mod escaped;
mod pieces;
mod redact;
mod sha256;
mod terminal_safe;
mod utf16;
mod width;

pub use byte_size::{byte_size, byte_size_trimmed};
pub use counted::counted;
pub use escaped::escape_hidden;
pub use pieces::TextPieces;
pub use redact::{MASK, is_secret, names_secret, redact, redact_strings};
pub use sha256::{Sha256Writer, sha256};
pub use terminal_safe::{terminal_safe, terminal_safe_line};
pub use utf16::{truncate_utf16, utf16_length};
pub use width::{display_width, fitted, fitted_end};

#[cfg(test)]
mod terminal_safe_tests;
