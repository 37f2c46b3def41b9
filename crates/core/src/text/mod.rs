//! Functions on text: terminal-safe output, secrets, UTF-16 lengths, display width, numbers, differences, digests.

mod append;
mod character_class;
mod code_fence;
mod escape_sequences;
mod line_diff;
mod match_excerpt;
mod numbers;
mod redact;
mod secrets;
mod sha256;
mod suggestion;
mod tables;
mod terminal_safe;
mod utf8_decoder;
mod width;

#[doc(hidden)]
pub use append::append;
pub use code_fence::strip_fence;
pub use line_diff::{compare_lines, marked_diff, marked_lines};
pub use match_excerpt::MatchExcerpt;
pub use numbers::{
    format_byte_size, format_byte_size_trimmed, format_count, format_dollars, format_number,
};
pub use redact::{
    MASK, redact, redact_json, redact_members, redact_parts, redact_strings, secrets_in,
};
pub use secrets::{is_random, is_secret, is_secret_name};
pub use sha256::{Sha256Writer, sha256};
pub use suggestion::find_similar;
#[doc(hidden)]
pub use tables::names;
pub use tables::pattern;
pub use terminal_safe::{escape_hidden, terminal_safe, terminal_safe_line};
pub use utf8_decoder::Utf8Decoder;
pub use width::{display_width, fit_columns, fit_end, truncate_utf16, utf16_length};

#[cfg(test)]
mod key_tests;
#[cfg(test)]
mod terminal_safe_tests;
