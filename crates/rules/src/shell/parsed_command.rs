//! A simple command: assignments, words and redirections in a range of the command line.

use std::ops::Range;

use tree_sitter::Node;

use super::expansion::assigned_name;
use super::lexer::{Expansions, Lexer, LineBreaks, Substitution};
use super::verdict::{Checked, Refusal, excerpt};
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
    /// The variables in all of them that may be secret.
    pub(super) secrets: Vec<String>,
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
            simple.secrets = lexer.secrets;
            return Ok(simple);
        }
        if let Some(operator) = redirection_operator(rest) {
            match redirection(&mut lexer, operator)? {
                Redirected::Target(redirection) => simple.redirections.push(redirection),
                Redirected::HereDocument(document) if simple.here_document.is_none() => {
                    simple.here_document = Some(document);
                }
                Redirected::HereDocument(document) => {
                    return Err(Refusal::unknown(
                        document.span,
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
            if rest.starts_with('{') && redirection_operator(lexer.rest()).is_some() {
                return Err(Refusal::unknown(
                    word.span,
                    "a redirection that assigns a descriptor to a variable",
                ));
            }
            simple.words.push(word);
        }
    }
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

/// Accepted output targets.
const HARMLESS_TARGET: &str = "/dev/null";

/// The redirection of a here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HereDocument {
    pub(super) delimiter: String,
    /// Whether its text is expanded.
    pub(super) expands: bool,
    /// Whether tabs before the delimiter are ignored (`<<-`).
    pub(super) strips_tabs: bool,
    /// Range of the delimiter in the text, with its quotes.
    pub(super) span: Range<usize>,
}

impl HereDocument {
    /// Whether a line is the delimiter.
    pub(super) fn is_ended_by(&self, line: &str) -> bool {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = if self.strips_tabs {
            content.trim_start_matches('\t')
        } else {
            content
        };
        content == self.delimiter
    }
}

/// A redirection with one word as its target.
#[derive(Debug)]
pub(super) struct Redirection {
    operator: &'static str,
    pub(super) target: Word,
    span: Range<usize>,
}

/// A parsed redirection.
enum Redirected {
    /// Input or output.
    Target(Redirection),
    /// A here-document.
    HereDocument(HereDocument),
}

/// Longer ones first.
const OPERATORS: [&str; 12] = [
    "&>>", "<<-", "<<<", "&>", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">",
];

/// Returns the redirection operator at the start of the text, and its length including the
/// descriptor.
pub(super) fn redirection_operator(text: &str) -> Option<(&'static str, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = text.get(digits..).unwrap_or_default();
    if after.starts_with("<(") || after.starts_with(">(") {
        return None;
    }
    let begins = |operator: &&&str| {
        after.starts_with(**operator) && (digits == 0 || !operator.starts_with('&'))
    };
    let operator = OPERATORS.iter().find(begins)?;
    Some((operator, digits + operator.len()))
}

/// Parses the redirection at the position of the lexer, which has this operator.
fn redirection(
    lexer: &mut Lexer<'_, '_>,
    (operator, length): (&'static str, usize),
) -> Result<Redirected, Refusal> {
    let start = lexer.position();
    lexer.skip(length);
    lexer.skip_blanks(LineBreaks::End);
    if matches!(operator, "<<" | "<<-") {
        return here_document(lexer, operator == "<<-");
    }
    let target = lexer.word(Expansions::All)?;
    Ok(Redirected::Target(Redirection {
        operator,
        span: start..target.span.end,
        target,
    }))
}

impl Redirection {
    /// Refuses a redirection that may change something.
    pub(super) fn check(&self) -> Checked {
        let Self {
            operator, target, ..
        } = self;
        let span = self.span.clone();
        match *operator {
            "<" if may_be_socket(target) => Err(Refusal::unknown(
                span,
                "a redirection from a path that may be a network connection",
            )),
            "<<<" if target.literal().is_none() => Err(Refusal::unknown(
                span,
                "a here-string known only at run time, which may need a file",
            )),
            "<" | "<<<" => Ok(()),
            "<&" | ">&" if is_descriptor(target) => Ok(()),
            "<>" => Err(Refusal::writes(span, "`<>` creates files")),
            "<&" => Err(Refusal::unknown(
                span,
                "`<&` with something other than a descriptor",
            )),
            _ if target.literal() == Some(HARMLESS_TARGET) => Ok(()),
            _ => Err(match target.literal() {
                Some(file) => {
                    Refusal::writes(span, format!("`{operator}` writes to `{}`", excerpt(file)))
                }
                None => Refusal::writes(span, format!("`{operator}` writes to a file")),
            }),
        }
    }

    pub(super) fn is_here_string(&self) -> bool {
        self.operator == "<<<"
    }

    /// Returns whether it opens a file for reading and for writing. Connections are refused.
    pub(super) fn opens(&self) -> Result<(bool, bool), Refusal> {
        let target = self.target.literal();
        if target.is_some_and(is_connection) {
            return Err(Refusal::unknown(self.span.clone(), "a network connection"));
        }
        let copies_descriptor = self.operator.ends_with('&') && is_descriptor(&self.target);
        let is_file =
            !self.is_here_string() && !copies_descriptor && target != Some(HARMLESS_TARGET);
        Ok((
            is_file && self.operator.contains('<'),
            is_file && self.operator.contains('>'),
        ))
    }
}

fn here_document(lexer: &mut Lexer<'_, '_>, strips_tabs: bool) -> Result<Redirected, Refusal> {
    let begins = lexer.rest();
    let word = lexer.word(Expansions::Unsplit)?;
    let length = word.span.len();
    let source = begins.get(..length).unwrap_or_default();
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"`$\\'\"".contains(&byte);
    let delimiter = word.literal().unwrap_or_default();
    if delimiter.is_empty() || !delimiter.bytes().all(is_plain) {
        return Err(word.unknown("a here-document delimiter that is not plain text"));
    }
    Ok(Redirected::HereDocument(HereDocument {
        expands: source == delimiter,
        delimiter: delimiter.to_owned(),
        strips_tabs,
        span: word.span.clone(),
    }))
}

/// Beginnings of paths for which bash opens a connection instead of a file.
const NETWORK: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

/// Whether bash opens a connection instead of a file for this path.
pub fn is_connection(path: &str) -> bool {
    NETWORK.iter().any(|network| path.starts_with(network))
}

fn may_be_socket(target: &Word) -> bool {
    match target.literal() {
        Some(path) => is_connection(path),
        None => NETWORK.iter().any(|network| {
            network.starts_with(&target.prefix) || target.prefix.starts_with(network)
        }),
    }
}

/// Whether a target is a descriptor's number, or the dash that closes one.
fn is_descriptor(target: &Word) -> bool {
    target.literal().is_some_and(|text| {
        text == "-" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Position of the text of a here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body {
    /// The lines before the delimiter.
    pub(super) text: Range<usize>,
    /// End of the line with the delimiter.
    pub(super) end: usize,
}

/// Finds the text of the here-document in the command line.
pub(super) fn here_document_body(command: &str, document: &HereDocument) -> Result<Body, Refusal> {
    let announced = document.span.end;
    let refuse = |why| Refusal::unknown(announced..announced, why);
    let start = command
        .get(announced..)
        .and_then(|rest| rest.find('\n'))
        .map(|line_break| announced + line_break + 1)
        .ok_or_else(|| refuse("a here-document without text"))?;
    let mut position = start;
    for line in command
        .get(start..)
        .unwrap_or_default()
        .split_inclusive('\n')
    {
        if document.is_ended_by(line) {
            return Ok(Body {
                text: start..position,
                end: position + line.trim_end_matches('\n').len(),
            });
        }
        position += line.len();
    }
    Err(refuse("a here-document that does not end"))
}
