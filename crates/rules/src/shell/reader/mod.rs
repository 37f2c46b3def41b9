//! The reader of command lines: the grammar of bash, by recursive descent, in linear time.
//!
//! A token that the grammar does not know ends the reading. The commands before it remain. Each token that zsh or
//! dash may read otherwise makes the line not portable.

mod commands;
mod compounds;
mod documents;
mod portability;
mod redirections;
mod words;

use std::collections::BTreeSet;
use std::ops::Range;

use self::documents::Document;
use super::call::CommandContext;
use super::check::MAX_LENGTH;
use super::parts::{CommandPart, Follows, PartInput};
use super::verdict::Refusal;
use super::word::PartWord;

use self::portability::differs_by_shell;
pub use self::redirections::{Redirection, is_connection};

/// Maximum nesting depth of substitutions and compound commands.
const MAX_DEPTH: usize = 64;

/// Maximum number of commands in pipelines, which all run at once. A shell that fails to start a
/// process may leave earlier ones running.
const MAX_PIPED: usize = 64;

/// The token that ended the reading.
#[derive(Debug)]
pub(super) struct Stop {
    /// The token.
    pub(super) span: Range<usize>,
    /// Start of the command that contains it.
    pub(super) start: usize,
    pub(super) why: String,
}

type Read<T> = Result<T, Stop>;

impl Stop {
    /// Ends the reading before the command that starts here.
    fn before(self, start: usize) -> Self {
        Self {
            start: self.start.min(start),
            ..self
        }
    }
}

/// A substitution in a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Substitution {
    pub(super) span: Range<usize>,
    /// Whether a process runs beside the command.
    pub(super) is_process: bool,
}

/// A command line that was read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// In text order.
    pub(super) commands: Vec<CommandPart>,
    pub(super) stop: Option<Stop>,
    pub(super) is_portable: bool,
    /// Whether all commands are simple ones in lists and pipelines.
    pub(super) is_flat: bool,
    /// The words of loops, which belong to no command.
    pub(super) words: Vec<PartWord>,
    /// The constructs outside of commands that may change something.
    pub(super) refusals: Vec<Refusal>,
    /// The variables outside of commands that may be secret.
    pub(super) secrets: Vec<String>,
    /// The variables that the line sets.
    pub(super) names: BTreeSet<String>,
    /// Whether it has substitutions.
    pub(super) has_substitutions: bool,
}

/// Reads a command line.
pub(super) fn read(script: &str) -> Reading {
    let control = |byte: u8| (byte < b' ' && byte != b'\t' && byte != b'\n') || byte == 0x7f;
    let mut reader = Reader {
        text: script,
        position: 0,
        end: script.len(),
        depth: 0,
        parentheses: 0,
        control: script.bytes().position(control).unwrap_or(usize::MAX),
        scope: Scope::default(),
        run: words::Run::default(),
        has_case: false,
        piped: 0,
        reading: Reading {
            is_portable: true,
            is_flat: true,
            ..Reading::default()
        },
    };
    let stop = reader.script().err();
    let mut reading = reader.reading;
    if let Some(stop) = &stop {
        reading
            .commands
            .retain(|command| command.span.start < stop.start);
        reading.is_portable = false;
    }
    reading.stop = stop;
    reading.commands.sort_by_key(|command| command.span.start);
    let starts: Vec<usize> = (reading.commands.iter())
        .map(|command| command.span.start)
        .collect();
    let index = |byte: usize| starts.partition_point(|start| *start < byte);
    for command in &mut reading.commands {
        if let PartInput::Pipe(stage) = &mut command.input {
            *stage = index(stage.start)..index(stage.end);
        }
    }
    // The commands of longer lines are not checked.
    reading.is_portable = reading.is_portable
        && script.len() <= MAX_LENGTH
        && !reading.commands.iter().any(differs_by_shell);
    reading
}

struct Reader<'text> {
    text: &'text str,
    position: usize,
    /// End of the text, or of the backticks or the here-document that is being read.
    end: usize,
    depth: usize,
    /// Number of subshells and substitutions around the position.
    parentheses: usize,
    /// Position of the first control character.
    control: usize,
    scope: Scope,
    run: words::Run,
    /// Whether a `case` was read, so that parentheses may end patterns.
    has_case: bool,
    /// Number of commands in pipelines.
    piped: usize,
    reading: Reading,
}

/// The surroundings of a command.
#[derive(Default)]
struct Scope {
    context: CommandContext,
    /// A pipe is the byte range of the stage that writes to it.
    input: PartInput,
    follows: Follows,
    is_substituted: bool,
    /// The here-documents whose texts follow the next line break.
    documents: Vec<Document>,
    /// Whether here-documents outside of the substitution follow the next line break.
    precedes_documents: bool,
    /// The substitutions of the current command.
    substitutions: Vec<Substitution>,
    /// The variables of the current command that may be secret.
    secrets: Vec<String>,
}

impl<'text> Reader<'text> {
    fn rest(&self) -> &'text str {
        self.text.get(self.position..self.end).unwrap_or_default()
    }

    fn slice(&self, range: Range<usize>) -> &'text str {
        self.text.get(range).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        let index = self.position + ahead;
        (index < self.end).then(|| self.text.as_bytes().get(index).copied())?
    }

    fn begins(&self, token: &str) -> bool {
        self.rest().starts_with(token)
    }

    /// Returns the next `length` bytes, which are a token in an error message.
    fn stop<T>(&self, length: usize, why: impl Into<String>) -> Read<T> {
        let end = (self.position + length).min(self.end);
        stop_at(self.position..end, why)
    }

    /// Skips a token if it follows.
    fn skip(&mut self, token: &str) -> bool {
        let follows = self.begins(token);
        self.position += if follows { token.len() } else { 0 };
        follows
    }

    /// Skips blanks and continued lines.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    let span = self.position..self.position + 2;
                    let why = "a line continued by a backslash";
                    self.refuse(span, why);
                    self.position += 2;
                }
                _ => break,
            }
        }
    }

    /// Refuses the text up to here if it has a control character.
    fn refuse_control(&self) -> Read<()> {
        if self.control < self.position {
            return stop_at(self.control..self.control + 1, "a control character");
        }
        Ok(())
    }

    fn nested<T>(&mut self, inside: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return self.stop(1, "too deeply nested");
        }
        self.depth += 1;
        let read = inside(self)?;
        self.depth -= 1;
        Ok(read)
    }

    /// Records a construct that may change something.
    fn refuse(&mut self, span: Range<usize>, why: impl Into<String>) {
        self.reading.refusals.push(Refusal::unknown(span, why));
    }

    /// Records that zsh or dash may read the text otherwise, if so.
    fn differs(&mut self, differs: bool) {
        self.reading.is_portable &= !differs;
    }

    /// Reads a substitution whose commands start `opening` bytes behind the position and end before `closing`.
    fn substitution(&mut self, opening: usize, closing: &str) -> Read<()> {
        let start = self.position;
        let is_process = matches!(self.peek(), Some(b'<' | b'>'));
        let is_output = self.begins(">(");
        self.enter_parentheses();
        self.differs(is_process || closing != ")");
        let inner = Scope {
            context: self.scope.context.in_subshell(),
            input: if is_output {
                PartInput::Given
            } else {
                self.scope.input.clone()
            },
            is_substituted: true,
            precedes_documents: self.scope.precedes_documents || !self.scope.documents.is_empty(),
            ..Scope::default()
        };
        let outer = std::mem::replace(&mut self.scope, inner);
        self.position += opening;
        self.nested(Self::list)?;
        self.parentheses -= 1;
        if !self.skip(closing) {
            return self.stop(1, "a substitution that does not end");
        }
        let inner = std::mem::replace(&mut self.scope, outer);
        if !inner.documents.is_empty() {
            return stop_at(start..self.position, "a here-document without text");
        }
        let span = start..self.position;
        if is_output {
            let why = "a process that reads `>(…)` may change anything";
            self.refuse(span.clone(), why);
        }
        self.reading.has_substitutions = true;
        (self.scope.substitutions).push(Substitution { span, is_process });
        Ok(())
    }

    fn enter_parentheses(&mut self) {
        let has_documents = self.scope.precedes_documents || !self.scope.documents.is_empty();
        self.differs(self.has_case || has_documents);
        self.parentheses += 1;
    }

    /// Takes the substitutions and secrets of words that belong to no command.
    fn take_from_no_command(&mut self) {
        let secrets = std::mem::take(&mut self.scope.secrets);
        self.reading.secrets.extend(secrets);
        for substitution in std::mem::take(&mut self.scope.substitutions) {
            if substitution.is_process {
                let why = "a process substitution that may be left running";
                self.refuse(substitution.span, why);
            }
        }
    }
}

fn stop_at<T>(span: Range<usize>, why: impl Into<String>) -> Read<T> {
    Err(Stop {
        start: span.start,
        span,
        why: why.into(),
    })
}

/// Whether a byte ends a word outside quotes.
fn ends_word(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}
