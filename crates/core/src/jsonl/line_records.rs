//! Finds the records on a line, and its damage.
//!
//! Crashes leave torn records, runs of NUL bytes and several records on one line. Recovery is conservative,
//! because a recovered record may be executed: nothing is extracted from the middle of an incomplete value.
//!
//! Server-sent events, as `curl` prints the replies of an API, are lines too: the record follows `data:`.

use std::ops::Range;

use serde_json::value::RawValue;

use super::value::{FirstValue, first_value};
use crate::json::replace_lone_surrogates;

/// The data of the event that ends a stream of chat completions.
pub const END_OF_EVENTS: &str = "[DONE]";

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// Maximum number of reports per line: a hostile line could have millions.
const MAX_DEFECTS: usize = 8;

/// A complete JSON object on a line: valid UTF-8, well-formed, of any depth and size, without lone surrogate
/// escapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A range of the line's `raw` bytes.
    Range(Range<usize>),
    /// A copy with invalid UTF-8 and lone surrogate escapes replaced by U+FFFD.
    Repaired(String),
}

impl Record {
    /// Returns the JSON text of the record. `raw` must be the `raw` bytes of its line; with other bytes the text is
    /// unspecified.
    pub fn text<'a>(&'a self, raw: &'a [u8]) -> &'a str {
        match self {
            Self::Range(range) => raw
                .get(range.clone())
                .and_then(|bytes| simdutf8::basic::from_utf8(bytes).ok())
                .unwrap_or_default(),
            Self::Repaired(text) => text,
        }
    }
}

/// Damage of a line: reported on standard error, and exit status 3 with `--strict`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("input line {line} (byte {offset}): {reason}")]
pub struct Damage {
    /// The reason, as a lowercase phrase.
    pub reason: String,
    /// The line number, from 1.
    pub line: u64,
    /// The byte offset in the input.
    pub offset: u64,
}

/// Returns the complete JSON objects on a line (with or without its newline), in order, and its damage. The line
/// number of damage is 1, and offsets are from the start of the line.
pub fn split_line(line: &[u8]) -> (Vec<Record>, Vec<Damage>) {
    split_from(line, 0)
}

/// Like [`split_line`], skipping the first `skip` bytes.
pub(super) fn split_from(line: &[u8], skip: usize) -> (Vec<Record>, Vec<Damage>) {
    let start = skip + event_field_length(&line[skip..]);
    let LineContents {
        objects,
        mut defects,
    } = find_objects(&line[start..]);
    if let Err(error) = simdutf8::compat::from_utf8(&line[skip..]) {
        let at = (skip + error.valid_up_to()).saturating_sub(start);
        defects.push((Defect::InvalidUtf8, at));
        defects.sort_by_key(|(_, at)| *at);
        defects.truncate(MAX_DEFECTS);
    }
    let objects = objects.into_iter();
    let records = objects.map(|range| extract_record(line, range.start + start..range.end + start));
    let damage = defects.into_iter().map(|(defect, at)| Damage {
        reason: defect.to_string(),
        line: 1,
        offset: (at + start) as u64,
    });
    (records.collect(), damage.collect())
}

/// Returns the record on a line that has exactly one and needs no repair, as nearly all do. [`split_line`] handles
/// all other lines.
pub fn only_record(line: &[u8]) -> Option<&str> {
    let is_only =
        matches!(first_value(line), FirstValue::Object(range) if is_blank(&line[range.end..]));
    undamaged_text(line).filter(|_| is_only)
}

/// Returns the trimmed text of a line if no record on it needs repair. It may not be a record.
pub fn undamaged_text(line: &[u8]) -> Option<&str> {
    let text = simdutf8::basic::from_utf8(line).ok()?.trim_ascii();
    replace_lone_surrogates(text).is_none().then_some(text)
}

/// Returns the text of a line that looks like exactly one record and needs no repair, or that ends an event stream.
/// It may not be well-formed.
pub(super) fn probable_record(line: &[u8]) -> Option<&str> {
    let data = line
        .strip_prefix(b"data:")
        .unwrap_or(&line[event_field_length(line)..]);
    let text = simdutf8::basic::from_utf8(data).ok()?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let is_enclosed = text.starts_with('{') && text.ends_with('}') || text == END_OF_EVENTS;
    (is_enclosed && replace_lone_surrogates(text).is_none()).then_some(text)
}

/// Returns the elements of a list of objects if nothing else is on the line and it needs no repair.
pub(super) fn list_of_objects(line: &[u8]) -> Option<Vec<Range<usize>>> {
    let trimmed = line.trim_ascii();
    if !(trimmed.starts_with(b"[") && trimmed.ends_with(b"]")) {
        return None;
    }
    let elements: Vec<&RawValue> = serde_json::from_str(undamaged_text(line)?).ok()?;
    let is_list = elements
        .iter()
        .all(|element| element.get().starts_with('{'));
    let range = |element: &RawValue| {
        let start = element.get().as_ptr().addr() - line.as_ptr().addr();
        start..start + element.get().len()
    };
    is_list.then(|| elements.into_iter().map(range).collect())
}

/// Whether a line has no damage. Only in a list of objects does a lone surrogate count. The bracket of such a list may
/// precede the first object.
pub(super) fn is_undamaged(line: &[u8]) -> bool {
    if list_of_objects(line).is_some() {
        return true;
    }
    let record = &line[usize::from(line.starts_with(b"[{"))..];
    let text = &record[event_field_length(record)..];
    let value = match first_value(text) {
        FirstValue::Missing => 0..0,
        FirstValue::Object(range) => range,
        FirstValue::NotAnObject(_) | FirstValue::CutOff | FirstValue::Broken { .. } => {
            return false;
        }
    };
    is_blank(&text[value.end..]) && simdutf8::basic::from_utf8(line).is_ok()
}

/// Returns the length of the prefix of an event stream's line that is not a record: the field name, or all of it.
fn event_field_length(line: &[u8]) -> usize {
    let starts_with = |field: &&[u8]| line.starts_with(field);
    if let Some(data) = line.strip_prefix(b"data:") {
        let is_end = data.trim_ascii() == END_OF_EVENTS.as_bytes();
        return if is_end {
            line.len()
        } else {
            line.len() - data.len()
        };
    }
    let fields: [&[u8]; 4] = [b":", b"event:", b"id:", b"retry:"];
    // Some APIs print a list of objects with lines that have only a comma or the closing bracket.
    let is_field = fields.iter().any(starts_with) || matches!(line.trim_ascii(), b"," | b"]");
    if is_field { line.len() } else { 0 }
}

fn is_blank(text: &[u8]) -> bool {
    measure_gap(text).first_nul.is_none() && measure_gap(text).length == text.len()
}

/// Returns the record at `range`, repaired if necessary.
fn extract_record(line: &[u8], range: Range<usize>) -> Record {
    let bytes = &line[range.clone()];
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return replace_lone_surrogates(text).map_or(Record::Range(range), Record::Repaired);
    }
    // The structure of JSON is ASCII, so the replacement changes only strings.
    let text = String::from_utf8_lossy(bytes).into_owned();
    Record::Repaired(replace_lone_surrogates(&text).unwrap_or(text))
}

/// The objects and the damage of a line. Positions are byte offsets in the line.
#[derive(Debug, Default, PartialEq, Eq)]
struct LineContents {
    /// Complete top-level objects, in order.
    objects: Vec<Range<usize>>,
    /// Damage, in order, at most [`MAX_DEFECTS`].
    defects: Vec<(Defect, usize)>,
}

impl LineContents {
    fn report(&mut self, defect: Defect, at: usize) {
        if self.defects.len() < MAX_DEFECTS {
            self.defects.push((defect, at));
        }
    }
}

/// A kind of damage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Defect {
    /// NUL bytes around a record.
    #[error("NUL bytes next to a record")]
    NulBytes,
    #[error("invalid UTF-8")]
    InvalidUtf8,
    /// An incomplete record at the end of the line.
    #[error("record is cut off")]
    CutOff,
    /// An incomplete record, glued to the text after it.
    #[error("record is cut off and glued to the next one")]
    Torn,
    /// A second record on the line.
    #[error("several records on one line")]
    Glued,
    /// A top-level array or scalar.
    #[error("not a JSON object")]
    NotAnObject,
    /// Text after a record that is not a record.
    #[error("text after a record")]
    TrailingText,
    /// Anything else.
    #[error("not JSON: {0}")]
    NotJson(String),
    /// More than [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES).
    #[error("line is longer than 16 MiB; not parsed")]
    TooLong,
}

/// Finds the objects on a line.
fn find_objects(line: &[u8]) -> LineContents {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut result = LineContents::default();
    let mut nul_reported = false;
    let mut start = 0;
    loop {
        let gap = measure_gap(&line[start..]);
        if let Some(nul) = gap.first_nul
            && !nul_reported
        {
            nul_reported = true;
            result.report(Defect::NulBytes, start + nul);
        }
        start += gap.length;
        let rest = &line[start..];
        let (end, is_object) = match first_value(rest) {
            FirstValue::Missing => return result,
            FirstValue::CutOff => {
                result.report(Defect::CutOff, start);
                return result;
            }
            FirstValue::Broken { at, reason } => {
                let Some(next) = record_after(rest, at) else {
                    result.report(Defect::NotJson(reason), start + at);
                    return result;
                };
                result.report(Defect::Torn, start);
                start += next;
                continue;
            }
            FirstValue::Object(range) => (start + range.end, true),
            FirstValue::NotAnObject(range) => (start + range.end, false),
        };
        let after = end + measure_gap(&line[end..]).length;
        // An object that is followed by anything else may be part of a larger value whose start is missing.
        let is_unusable = !matches!(line.get(after), None | Some(b'{'));
        if !is_object {
            result.report(Defect::NotAnObject, start);
        } else if is_unusable {
            result.report(Defect::TrailingText, after);
        } else {
            if gap.is_after_record(&result, start) {
                result.report(Defect::Glued, start);
            }
            result.objects.push(start..end);
        }
        if is_unusable {
            return result;
        }
        start = end;
    }
}

/// Bytes between two records.
struct Gap {
    length: usize,
    /// The position of the first NUL.
    first_nul: Option<usize>,
}

impl Gap {
    /// Whether the record at `start` directly follows another one, without NULs (reported separately) between.
    fn is_after_record(&self, so_far: &LineContents, start: usize) -> bool {
        let gap_start = start - self.length;
        let last = so_far.objects.last();
        self.first_nul.is_none() && last.is_some_and(|last| last.end == gap_start)
    }
}

/// Returns the whitespace and NUL bytes at the start of `text`.
fn measure_gap(text: &[u8]) -> Gap {
    let is_filler = |byte: &u8| matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n');
    let length = text
        .iter()
        .position(|byte| !is_filler(byte))
        .unwrap_or(text.len());
    Gap {
        length,
        first_nul: text[..length].iter().position(|byte| *byte == 0),
    }
}

/// Returns the position at which to resume after a torn record whose byte at `fault` is invalid: the next record, or
/// NUL bytes before it. No part of the torn record can start there.
fn record_after(text: &[u8], fault: usize) -> Option<usize> {
    match text[fault] {
        // The brace is invalid here, so no value of the torn record can start with it.
        b'{' => Some(fault),
        // Values and whitespace contain no raw NULs: a crash left them between two writes.
        0 => {
            let next = fault + measure_gap(&text[fault..]).length;
            matches!(text.get(next), None | Some(b'{')).then_some(fault)
        }
        // A raw control character is invalid inside a string, not after one.
        0x01..=0x1f => None,
        _ => find_brace_ending_string(&text[..fault]),
    }
}

/// Returns the position of the brace if `text` ends with a string that ends with a brace: the torn record stopped
/// inside a string, and the first quote of the next record closed it.
fn find_brace_ending_string(text: &[u8]) -> Option<usize> {
    let inside = text.trim_ascii_end().strip_suffix(b"\"")?.trim_ascii_end();
    (inside.last() == Some(&b'{')).then(|| inside.len() - 1)
}

#[cfg(test)]
#[path = "line_records_tests.rs"]
mod tests;
