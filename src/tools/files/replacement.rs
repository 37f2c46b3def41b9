//! Exact replacement in the bytes of a file, ignoring the difference between LF and CRLF, and optionally between
//! straight and curly quotes; and the difference between two texts as hunks (`structuredPatch`).
//!
//! A model sees `\n` where the file may have `\r\n`. So both sides are compared with `\n`, and inserted text gets the
//! line endings of the text it replaces. All other bytes are unchanged, valid UTF-8 or not.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr_iter, memchr2_iter, memmem};
use serde::Serialize;
use similar::{DiffOp, group_diff_ops};

use crate::text::{line_operations, marked_lines};

/// The bytes of a file, prepared for searching.
#[derive(Debug)]
pub(super) struct Haystack<'a> {
    raw: &'a [u8],
    /// `raw` with LF for each CRLF, and optionally with straight quotes.
    folded: Cow<'a, [u8]>,
    /// For each byte that was removed from `raw`, the position in `folded` of its replacement, ascending.
    left_out: Vec<usize>,
    usual_line_end: LineEnd,
}

/// The treatment of quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    AsTheyAre,
    /// Straight quotes match curly ones.
    Straight,
}

/// Line endings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Lf,
    CrLf,
}

/// The result of a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    /// The new content.
    pub(super) bytes: Vec<u8>,
    /// The position of the first replacement.
    pub(super) first: Range<usize>,
}

/// Replaces each CRLF with LF.
pub(super) fn folded(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Curly quotes and their straight equivalents.
const CURLY: [(&str, &str); 4] = [("‘", "'"), ("’", "'"), ("“", "\""), ("”", "\"")];

/// The first byte of each curly quote.
const CURLY_BEGINS: u8 = 0xe2;

/// Returns the number of bytes at the start of `text` that are removed, and their replacement.
fn fold(text: &[u8], quotes: Quotes) -> Option<(usize, &'static str)> {
    if text.starts_with(b"\r\n") {
        return Some((1, ""));
    }
    let (curly, straight) = CURLY
        .iter()
        .filter(|_| quotes == Quotes::Straight)
        .find(|(curly, _)| text.starts_with(curly.as_bytes()))?;
    Some((curly.len(), straight))
}

/// Replaces curly quotes with straight ones.
pub(super) fn with_straight_quotes(text: &str) -> String {
    let replaced = |text: String, (curly, straight): &(&str, &str)| text.replace(curly, straight);
    CURLY.iter().fold(text.to_owned(), replaced)
}

/// Replaces straight quotes with curly ones, for the kinds that are curly in `model`.
pub(super) fn with_quotes_like(text: &str, model: &str) -> String {
    let (single, double) = (model.contains(['‘', '’']), model.contains(['“', '”']));
    let mut before = ' ';
    let curly = |letter: char| {
        let opens = before.is_whitespace() || "([{<—–-\"'“‘".contains(before);
        before = letter;
        match letter {
            '\'' if single => [if opens { '‘' } else { '’' }],
            '"' if double => [if opens { '“' } else { '”' }],
            _ => [letter],
        }
    };
    text.chars().flat_map(curly).collect()
}

impl<'a> Haystack<'a> {
    pub(super) fn new(raw: &'a [u8], quotes: Quotes) -> Self {
        let mut bytes = Vec::new();
        let mut left_out = Vec::new();
        let (mut start, mut crlf) = (0, 0);
        for at in memchr2_iter(b'\r', CURLY_BEGINS, raw) {
            let Some((length, stands_for_it)) = fold(&raw[at..], quotes) else {
                continue;
            };
            bytes.extend_from_slice(&raw[start..at]);
            left_out.extend((stands_for_it.len()..length).map(|_| bytes.len()));
            bytes.extend_from_slice(stands_for_it.as_bytes());
            start = at + length;
            crlf += usize::from(stands_for_it.is_empty());
        }
        let folded = if start == 0 {
            Cow::Borrowed(raw)
        } else {
            bytes.extend_from_slice(&raw[start..]);
            Cow::Owned(bytes)
        };
        let usual_line_end = if 2 * crlf > memchr_iter(b'\n', raw).count() {
            LineEnd::CrLf
        } else {
            LineEnd::Lf
        };
        Self {
            raw,
            folded,
            left_out,
            usual_line_end,
        }
    }

    /// Returns the ranges of `needle` (folded, not empty) in the raw bytes, without overlaps, in order.
    pub(super) fn matches<'b>(
        &'b self,
        needle: &'b str,
    ) -> impl Iterator<Item = Range<usize>> + 'b {
        memmem::find_iter(&self.folded, needle.as_bytes())
            .map(|start| self.raw_position(start)..self.raw_position(start + needle.len()))
    }

    /// Replaces every one of `matches` with `with` (folded). Returns `None` if the result would exceed `limit`
    /// bytes.
    pub(super) fn replaced(
        &self,
        matches: impl Iterator<Item = Range<usize>>,
        with: &str,
        limit: usize,
    ) -> Option<Replaced> {
        let with_crlf = with.replace('\n', "\r\n");
        let mut bytes = Vec::with_capacity(self.raw.len());
        let mut first = None;
        let mut rest = 0;
        for found in matches {
            bytes.extend_from_slice(&self.raw[rest..found.start]);
            let start = bytes.len();
            bytes.extend_from_slice(match self.line_end_of(&found) {
                LineEnd::Lf => with.as_bytes(),
                LineEnd::CrLf => with_crlf.as_bytes(),
            });
            first.get_or_insert(start..bytes.len());
            rest = found.end;
            if bytes.len() > limit {
                return None;
            }
        }
        bytes.extend_from_slice(&self.raw[rest..]);
        (bytes.len() <= limit).then(|| Replaced {
            bytes,
            first: first.unwrap_or(0..0),
        })
    }

    fn raw_position(&self, folded: usize) -> usize {
        folded
            + self
                .left_out
                .partition_point(|line_feed| *line_feed < folded)
    }

    fn line_end_of(&self, range: &Range<usize>) -> LineEnd {
        let text = &self.raw[range.clone()];
        match memchr::memchr(b'\n', text) {
            None => self.usual_line_end,
            Some(at) if at > 0 && text[at - 1] == b'\r' => LineEnd::CrLf,
            Some(_) => LineEnd::Lf,
        }
    }
}

/// Unchanged lines around a change.
const CONTEXT_LINES: usize = 3;

/// Maximum size of a patch in the structured output, in bytes.
const MAX_PATCH_BYTES: usize = 4 << 20;

/// Maximum size of a text that is compared, in bytes.
pub(super) const MAX_COMPARED_BYTES: usize = 10 << 20;

/// Maximum size of old content in a result (`originalFile`), in bytes. Without it, every edit of a large file
/// would add the whole file to recordings.
pub(super) const MAX_ORIGINAL_BYTES: usize = 256 << 10;

/// The line after a last line without a line feed, as in `diff -u`.
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// A hunk of changed lines with context. Line numbers start at 1, also if a side is empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hunk {
    old_start: usize,
    old_lines: usize,
    new_start: usize,
    new_lines: usize,
    /// Lines with the prefix ` `, `-`, `+` or `\`, without line feeds.
    lines: Vec<String>,
}

/// Returns the hunks that turn `old` into `new`. Empty if the texts are equal or the hunks exceed
/// [`MAX_PATCH_BYTES`].
pub(super) fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let groups = group_diff_ops(line_operations(&old, &new), CONTEXT_LINES);
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let size: usize = groups
        .iter()
        .flatten()
        .map(|operation| bytes(&old[operation.old_range()]) + bytes(&new[operation.new_range()]))
        .sum();
    if size > MAX_PATCH_BYTES {
        return Vec::new();
    }
    let hunks = groups.iter().filter_map(|group| hunk(group, &old, &new));
    hunks.collect()
}

fn hunk(group: &[DiffOp], old: &[&str], new: &[&str]) -> Option<Hunk> {
    let (first, last) = (group.first()?, group.last()?);
    let mut lines = Vec::new();
    for (mark, line) in group
        .iter()
        .flat_map(|operation| marked_lines(operation, old, new))
    {
        let text = line.strip_suffix('\n');
        lines.push(format!("{mark}{}", text.unwrap_or(line)));
        if text.is_none() {
            lines.push(NO_NEWLINE.to_owned());
        }
    }
    let (old_start, new_start) = (first.old_range().start, first.new_range().start);
    Some(Hunk {
        old_start: old_start + 1,
        old_lines: last.old_range().end - old_start,
        new_start: new_start + 1,
        new_lines: last.new_range().end - new_start,
        lines,
    })
}

#[cfg(test)]
#[path = "replacement_tests.rs"]
mod tests;
