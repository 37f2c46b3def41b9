//! Regular expressions that are a part of the program.

use regex::Regex;

/// Compiles a pattern that is a part of the program.
///
/// # Panics
/// The pattern is invalid, which a test of its user finds.
#[expect(clippy::expect_used, reason = "patterns are a part of the program")]
pub fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}
