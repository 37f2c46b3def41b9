//! The state of the reader, and functions that all parts of the grammar share.

use std::ops::Range;

use crate::shell::line::{CommandLine, Unread};
use crate::shell::parts::{CommandContext, Follows, PartInput};
use crate::shell::verdict::Refusal;
use crate::shell::word::PartWord;

/// Maximum nesting depth of substitutions and compound commands.
pub(super) const MAX_DEPTH: usize = 64;

/// What was read, or the reason why reading ends.
pub(super) type ReadResult<T = ()> = Result<T, Unread>;

impl Unread {
    /// Moves the start back to that of the command that contains the token.
    pub(super) fn extend_to(self, start: usize) -> Self {
        Self {
            start: self.start.min(start),
            ..self
        }
    }
}

/// The reader of a command line. Positions are byte offsets in the text.
#[derive(Default)]
pub(super) struct Reader<'text> {
    pub(super) text: &'text str,
    pub(super) position: usize,
    /// End of the text, or of the here-document that is being read.
    pub(super) end: usize,
    /// Nesting depth, at most [`MAX_DEPTH`].
    pub(super) depth: usize,
    /// Position of the first control character; `usize::MAX` without one.
    pub(super) control: usize,
    pub(super) scope: Scope,
    pub(super) line: CommandLine,
}

/// The state that a substitution has on its own.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) context: CommandContext,
    pub(super) input: PartInput,
    pub(super) follows: Follows,
    /// The here-documents whose texts follow the next line break.
    pub(super) documents: Vec<Document>,
    /// Whether here-documents that started outside the substitution follow the next line break.
    pub(super) precedes_documents: bool,
    /// Whether the current command has process substitutions.
    pub(super) has_processes: bool,
}

impl Scope {
    /// Whether the text of a here-document follows the next line break.
    pub(super) fn has_documents(&self) -> bool {
        self.precedes_documents || !self.documents.is_empty()
    }
}

impl<'text> Reader<'text> {
    pub(super) fn rest(&self) -> &'text str {
        self.text.get(self.position..self.end).unwrap_or_default()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'text str {
        self.text.get(range).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let index = self.position + ahead;
        (index < self.end).then(|| self.text.as_bytes().get(index).copied())?
    }

    /// Ends the reading at the next `length` bytes, extended to whole characters, as the unknown token.
    pub(super) fn stop<T>(&self, length: usize, why: impl Into<String>) -> ReadResult<T> {
        let end = self.text.ceil_char_boundary(self.position + length);
        stop_at(self.position..end.min(self.end), why)
    }

    /// Skips a token if it follows. Returns whether it does.
    pub(super) fn skip(&mut self, token: &str) -> bool {
        let follows = self.rest().starts_with(token);
        self.position += if follows { token.len() } else { 0 };
        follows
    }

    /// Skips blanks and continued lines.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    self.refuse_next(2, "a line continued by a backslash");
                }
                _ => break,
            }
        }
    }

    /// Stops at a control character before the position.
    pub(super) fn stop_at_control(&self) -> ReadResult {
        if self.control < self.position {
            return stop_at(self.control..self.control + 1, "a control character");
        }
        Ok(())
    }

    /// Reads a nested construct.
    pub(super) fn nest<T>(
        &mut self,
        inside: impl FnOnce(&mut Self) -> ReadResult<T>,
    ) -> ReadResult<T> {
        if self.depth == MAX_DEPTH {
            return self.stop(1, "too deeply nested");
        }
        self.depth += 1;
        let result = inside(self)?;
        self.depth -= 1;
        Ok(result)
    }

    /// Records that a construct may change something.
    pub(super) fn refuse(&mut self, span: Range<usize>, why: impl Into<String>) {
        self.line.refusals.push(Refusal::new(span, why));
    }

    /// Skips the next `length` bytes, and records that they may change something.
    pub(super) fn refuse_next(&mut self, length: usize, why: &str) {
        self.refuse(self.position..self.position + length, why);
        self.position += length;
    }

    /// Skips a token that must follow.
    pub(super) fn expect(&mut self, token: &str, why: &str) -> ReadResult {
        if self.skip(token) {
            return Ok(());
        }
        self.stop(1, why)
    }

    /// Reads a substitution: `$(…)`, `<(…)` or `>(…)`.
    pub(super) fn read_substitution(&mut self) -> ReadResult {
        let start = self.position;
        let is_process = matches!(self.peek(), Some(b'<' | b'>'));
        let fresh = Scope {
            context: CommandContext {
                is_in_subshell: true,
                is_substituted: true,
                ..self.scope.context
            },
            input: self.scope.input.clone(),
            precedes_documents: self.scope.has_documents(),
            ..Scope::default()
        };
        let outer = std::mem::replace(&mut self.scope, fresh);
        self.position += 2;
        self.nest(Self::read_list)?;
        self.expect(")", "a substitution that does not end")?;
        let inner = std::mem::replace(&mut self.scope, outer);
        if !inner.documents.is_empty() {
            return stop_at(start..self.position, "a here-document without text");
        }
        if is_process {
            let why = "a process substitution that may be left running";
            self.refuse(start..self.position, why);
        }
        self.scope.has_processes |= is_process;
        Ok(())
    }
}

/// Ends the reading at an unknown token.
pub(super) fn stop_at<T>(span: Range<usize>, why: impl Into<String>) -> ReadResult<T> {
    let start = span.start;
    let refusal = Refusal::new(span, why);
    Err(Unread { start, refusal })
}

/// Whether a byte ends a word outside quotes.
pub(super) fn ends_word(byte: u8) -> bool {
    b" \t\n;&|()<>".contains(&byte)
}

/// A here-document whose text follows.
#[derive(Debug, Clone)]
pub(super) struct Document {
    /// The delimiter. With quotes, the text is not expanded.
    pub(super) delimiter: PartWord,
    /// Whether tabs before the final delimiter are ignored (`<<-`).
    pub(super) strips_tabs: bool,
    /// Index of its command, once that is read.
    pub(super) command: Option<usize>,
}
