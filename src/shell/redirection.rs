//! Redirections, which of them change nothing, and where here-documents end.

use std::ops::Range;

use super::lexer::{Expansions, Lexer, LineBreaks};
use super::refusal::{Refusal, excerpt};
use super::word::Word;

/// Where output may go.
const HARMLESS_TARGET: &str = "/dev/null";

/// A here-document as its redirection announces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HereDocument {
    pub(super) delimiter: String,
    /// Whether its text is expanded.
    pub(super) expands: bool,
    /// Whether tabs before the delimiter do not count (`<<-`).
    pub(super) strips_tabs: bool,
    /// Where the redirection ends.
    pub(super) announced: usize,
}

/// A redirection that changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Harmless {
    /// Nothing.
    Plain,
    /// A text on the following lines.
    HereDocument(HereDocument),
}

/// The length of the redirection operator at the start of the text, descriptor included; 0 if
/// there is none.
pub(super) fn operator_length(text: &str) -> usize {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let after = text.get(digits..).unwrap_or_default();
    if after.starts_with("<(") || after.starts_with(">(") {
        return 0;
    }
    let operator = if after.starts_with("<<-") || after.starts_with("<<<") {
        3
    } else if ["<<", "<>", "<&", ">>", ">&", ">|"]
        .iter()
        .any(|operator| after.starts_with(operator))
    {
        2
    } else if after.starts_with(['<', '>']) {
        1
    } else if digits == 0 && after.starts_with("&>>") {
        return 3;
    } else if digits == 0 && after.starts_with("&>") {
        return 2;
    } else {
        return 0;
    };
    digits + operator
}

/// Reads the redirection that the lexer stands at.
pub(super) fn read(lexer: &mut Lexer<'_, '_>) -> Result<Harmless, Refusal> {
    let start = lexer.position();
    let rest = lexer.rest();
    let length = operator_length(rest);
    let operator = rest
        .get(..length)
        .unwrap_or_default()
        .trim_start_matches(|first: char| first.is_ascii_digit());
    lexer.skip(length);
    lexer.skip_blanks(LineBreaks::End);
    if matches!(operator, "<<" | "<<-") {
        return here_document(lexer, operator == "<<-");
    }
    let target = lexer.word(Expansions::All)?;
    let span = start..target.span.end;
    match operator {
        "<" if may_be_socket(&target) => Err(Refusal::unknown(
            span,
            "a redirection from a name that may be a network connection",
        )),
        "<<<" if target.literal().is_none() => Err(Refusal::unknown(
            span,
            "a here-string that is only known when it runs, and may need a file",
        )),
        "<" | "<<<" => Ok(Harmless::Plain),
        "<&" | ">&" if is_descriptor(&target) => Ok(Harmless::Plain),
        "<>" => Err(Refusal::writes(span, "`<>` creates files")),
        "<&" => Err(Refusal::unknown(
            span,
            "`<&` to something that is no descriptor",
        )),
        _ if target.literal() == Some(HARMLESS_TARGET) => Ok(Harmless::Plain),
        _ => Err(match target.literal() {
            Some(file) => {
                Refusal::writes(span, format!("`{operator}` writes to `{}`", excerpt(file)))
            }
            None => Refusal::writes(span, format!("`{operator}` writes to a file")),
        }),
    }
}

fn here_document(lexer: &mut Lexer<'_, '_>, strips_tabs: bool) -> Result<Harmless, Refusal> {
    let begins = lexer.rest();
    let word = lexer.word(Expansions::Unsplit)?;
    let length = word.span.len();
    let source = begins.get(..length).unwrap_or_default();
    let Some(delimiter) = word.literal() else {
        return Err(Refusal::unknown(
            word.span,
            "the end of a here-document that is not plain text",
        ));
    };
    let is_plain = !delimiter.is_empty()
        && delimiter
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"`$\\'\"".contains(&byte));
    if !is_plain {
        return Err(Refusal::unknown(
            word.span,
            "the end of a here-document that is not plain text",
        ));
    }
    Ok(Harmless::HereDocument(HereDocument {
        expands: source == delimiter,
        delimiter: delimiter.to_owned(),
        strips_tabs,
        announced: word.span.end,
    }))
}

/// Whether bash may open a connection instead of a file.
fn may_be_socket(target: &Word) -> bool {
    const NETWORK: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];
    match target.literal() {
        Some(path) => NETWORK.iter().any(|network| path.starts_with(network)),
        None => NETWORK.iter().any(|network| {
            network.starts_with(&target.prefix) || target.prefix.starts_with(network)
        }),
    }
}

/// A descriptor's number, or the dash that closes one.
fn is_descriptor(target: &Word) -> bool {
    target.literal().is_some_and(|text| {
        text == "-" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Where the text of a here-document stands, and its last line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Body {
    /// The lines before the delimiter.
    pub(super) text: Range<usize>,
    /// Where the line with the delimiter ends.
    pub(super) end: usize,
}

/// Finds the text of the here-document in the command line.
pub(super) fn body(command: &str, document: &HereDocument) -> Result<Body, Refusal> {
    let refuse = |why| Refusal::unknown(document.announced..document.announced, why);
    let start = command
        .get(document.announced..)
        .and_then(|rest| rest.find('\n'))
        .map(|line_break| document.announced + line_break + 1)
        .ok_or_else(|| refuse("a here-document without text"))?;
    let mut position = start;
    for line in command
        .get(start..)
        .unwrap_or_default()
        .split_inclusive('\n')
    {
        let content = line.strip_suffix('\n').unwrap_or(line);
        let content = if document.strips_tabs {
            content.trim_start_matches('\t')
        } else {
            content
        };
        if content == document.delimiter {
            return Ok(Body {
                text: start..position,
                end: position + line.trim_end_matches('\n').len(),
            });
        }
        position += line.len();
    }
    Err(refuse("a here-document that does not end"))
}
