//! A simple command: assignments, words and redirections in a range of the command line.

use std::ops::Range;

use tree_sitter::Node;

use super::expansion::identifier_length;
use super::lexer::{Expansions, Lexer, LineBreaks, Substitution};
use super::redirection::{self, HereDocument, Redirected, Redirection};
use super::verdict::Refusal;
use super::word::Word;

/// The parsed content of a range.
#[derive(Debug, Default)]
pub(super) struct ParsedCommand<'tree> {
    /// Assignments before the first word.
    pub(super) assignments: Vec<Assignment>,
    /// The command's name and its arguments.
    pub(super) words: Vec<Word>,
    /// Redirections other than here-documents.
    pub(super) redirections: Vec<Redirection>,
    /// The here-document, if any.
    pub(super) here_document: Option<HereDocument>,
    /// The substitutions in all of them.
    pub(super) substitutions: Vec<Node<'tree>>,
}

/// `NAME=value`.
#[derive(Debug)]
pub(super) struct Assignment {
    pub(super) name: String,
    pub(super) value: Word,
    pub(super) span: Range<usize>,
}

/// Parses a range that consists of one simple command.
pub(super) fn read<'tree>(
    text: &str,
    range: Range<usize>,
    substitutions: &[Substitution<'tree>],
) -> Result<ParsedCommand<'tree>, Refusal> {
    let mut lexer = Lexer::new(text, range, substitutions);
    let mut simple = ParsedCommand::default();
    loop {
        lexer.skip_blanks(LineBreaks::End);
        let rest = lexer.rest();
        if rest.is_empty() {
            simple.substitutions = lexer.found;
            return Ok(simple);
        }
        if let Some(operator) = redirection::operator(rest) {
            match redirection::read(&mut lexer, operator)? {
                Redirected::Target(redirection) => simple.redirections.push(redirection),
                Redirected::HereDocument(document) if simple.here_document.is_none() => {
                    simple.here_document = Some(document);
                }
                Redirected::HereDocument(document) => {
                    return Err(Refusal::unknown(
                        document.announced - document.delimiter.len()..document.announced,
                        "more than one here-document for a command",
                    ));
                }
            }
        } else if simple.words.is_empty()
            && let Some(length) = assigned_name(rest)
        {
            let start = lexer.position();
            lexer.skip(length + 1);
            let value = assigned_value(&mut lexer)?;
            simple.assignments.push(Assignment {
                name: rest.get(..length).unwrap_or_default().to_owned(),
                span: start..value.span.end,
                value,
            });
        } else {
            let word = lexer.word(Expansions::All)?;
            if rest.starts_with('{') && redirection::operator(lexer.rest()).is_some() {
                return Err(Refusal::unknown(
                    word.span,
                    "a redirection that assigns a descriptor to a variable",
                ));
            }
            simple.words.push(word);
        }
    }
}

/// Returns the length of the name if the text starts with `NAME=`. Other forms of assignment (`+=`,
/// an element) are parsed as words, which no command is named like.
fn assigned_name(text: &str) -> Option<usize> {
    let length = identifier_length(text);
    (length > 0 && text.as_bytes().get(length) == Some(&b'=')).then_some(length)
}

fn assigned_value(lexer: &mut Lexer<'_, '_>) -> Result<Word, Refusal> {
    match lexer.peek() {
        // An empty value.
        None | Some(b' ' | b'\t') => {
            let here = lexer.position();
            Ok(Word::plain(here..here, ""))
        }
        _ => lexer.word(Expansions::Unsplit),
    }
}
