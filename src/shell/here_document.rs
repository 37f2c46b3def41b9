//! Where a here-document ends, by the rules of bash.

use std::ops::Range;

use super::redirection::HereDocument;
use super::refusal::Refusal;

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
