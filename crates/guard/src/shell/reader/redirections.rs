//! Reads redirections.

use super::state::{ReadResult, Reader, stop_at};
use crate::shell::redirection::{Redirection, is_connection};

/// The operators; each one before those that it starts with.
const OPERATORS: [&str; 12] = [
    "&>>", "<<-", "<<<", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

/// Maximum number of digits of a descriptor.
const MAX_DIGITS: usize = 9;

/// Returns the redirection operator at the start of the text, behind the descriptor.
pub(super) fn find_operator(text: &str) -> Option<&'static str> {
    let after = text.get(descriptor_length(text)..).unwrap_or_default();
    let has_descriptor = after.len() < text.len();
    let is_process = after.starts_with("<(") || after.starts_with(">(");
    let mut operators = OPERATORS.into_iter();
    operators.find(|operator| {
        after.starts_with(operator) && !is_process && !(has_descriptor && operator.starts_with('&'))
    })
}

/// Returns the number of digits at the start of the text, at most [`MAX_DIGITS`].
fn descriptor_length(text: &str) -> usize {
    let bytes = text.bytes().take(MAX_DIGITS);
    bytes.take_while(u8::is_ascii_digit).count()
}

impl Reader<'_> {
    /// Reads the redirection at the position, whose operator is known.
    pub(super) fn read_redirection(&mut self, operator: &'static str) -> ReadResult<Redirection> {
        let start = self.position;
        let digits = descriptor_length(self.rest());
        let descriptor = self.slice(start..start + digits).parse().ok();
        self.position += digits + operator.len();
        self.skip_blanks();
        let target = match operator {
            "<<" | "<<-" => self.read_delimiter(operator == "<<-")?,
            _ => self.read_word()?,
        };
        let span = start..target.span.end;
        if target.literal().is_some_and(is_connection) {
            return stop_at(span, "a network connection");
        }
        Ok(Redirection {
            descriptor,
            operator,
            target,
            span,
        })
    }
}
