//! Redirections.

use super::state::{Read, Reader, stop_at};
use crate::shell::redirection::{Redirection, is_connection};

/// Longer ones first.
const OPERATORS: [&str; 12] = [
    "&>>", "<<-", "<<<", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

/// Maximum number of digits of a descriptor.
const MAX_DIGITS: usize = 9;

/// Returns the redirection operator at the start of the text, behind the descriptor.
pub(super) fn redirection_operator(text: &str) -> Option<&'static str> {
    let after = text.get(descriptor_length(text)..).unwrap_or_default();
    let begins = |operator: &&&str| {
        let is_possible = after.len() == text.len() || !operator.starts_with('&');
        after.starts_with(**operator) && is_possible
    };
    let is_process = after.starts_with("<(") || after.starts_with(">(");
    let operator = OPERATORS.iter().find(begins).filter(|_| !is_process)?;
    Some(operator)
}

fn descriptor_length(text: &str) -> usize {
    let bytes = text.bytes().take(MAX_DIGITS);
    bytes.take_while(u8::is_ascii_digit).count()
}

impl Reader<'_> {
    /// Reads the redirection at the position, which has this operator.
    pub(super) fn redirection(&mut self, operator: &'static str) -> Read<Redirection> {
        let start = self.position;
        let digits = descriptor_length(self.rest());
        let descriptor = self.slice(start..start + digits).parse().ok();
        self.position += digits + operator.len();
        self.skip_blanks();
        let target = match operator {
            "<<" | "<<-" => self.here_document(operator == "<<-")?,
            _ => self.word()?,
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
