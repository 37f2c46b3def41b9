//! Redirections.

use super::state::{Read, Reader, stop_at};
use crate::shell::redirection::{Redirection, is_connection};

/// Longer ones first.
const OPERATORS: [&str; 12] = [
    "&>>", "<<-", "<<<", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

/// Maximum number of digits of a descriptor.
const MAX_DIGITS: usize = 9;

/// Returns the redirection operator at the start of the text, and the length of the descriptor before it.
pub(super) fn redirection_operator(text: &str) -> Option<(&'static str, usize)> {
    let bytes = text.as_bytes().iter();
    let digits = bytes
        .take(MAX_DIGITS)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let after = text.get(digits..).unwrap_or_default();
    if after.starts_with("<(") || after.starts_with(">(") {
        return None;
    }
    let begins = |operator: &&&str| {
        after.starts_with(**operator) && (digits == 0 || !operator.starts_with('&'))
    };
    let operator = OPERATORS.iter().find(begins)?;
    Some((operator, digits))
}

impl Reader<'_> {
    /// Reads the redirection at the position, which has this operator.
    pub(super) fn redirection(
        &mut self,
        (operator, digits): (&'static str, usize),
    ) -> Read<Redirection> {
        let start = self.position;
        let descriptor = self.slice(start..start + digits).parse().ok();
        self.position += digits + operator.len();
        self.skip_blanks();
        let target = match operator {
            "<<" | "<<-" => self.here_document(operator == "<<-")?,
            _ => self.word()?,
        };
        let redirection = Redirection {
            descriptor,
            operator,
            span: start..target.span.end,
            target,
        };
        if redirection.target.literal().is_some_and(is_connection) {
            return stop_at(redirection.span, "a network connection");
        }
        Ok(redirection)
    }
}
