//! The records on a line, and what is wrong with it.
//!
//! Crashes leave torn records, runs of NUL bytes and several records on one line. Recovery is
//! conservative, because a recovered record may be executed: nothing is ever taken out of the
//! middle of a value that merely lacks its end.
//!
//! Server-sent events, as `curl` prints the replies of an API, are lines too: the record stands
//! behind `data:`.

use std::fmt;
use std::ops::Range;

use serde_json::value::RawValue;

use super::value::{FirstValue, first_value};
use super::{Damage, Record, replace_lone_surrogates};

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

/// A hostile line could be wrong in millions of places.
const MOST_FINDINGS: usize = 8;

/// The whole JSON objects on a line (with or without its newline), in order, and what is wrong
/// with the line. Damage is on line 1, its offset in bytes from the start of the line.
pub fn split_line(line: &[u8]) -> (Vec<Record>, Vec<Damage>) {
    split_from(line, 0)
}

/// The same for a line of which the first `start` bytes are skipped.
pub(super) fn split_from(line: &[u8], start: usize) -> (Vec<Record>, Vec<Damage>) {
    let begin = start;
    let start = begin + event_field_length(&line[begin..]);
    let Examination {
        objects,
        mut findings,
    } = examine(&line[start..]);
    if let Err(error) = simdutf8::compat::from_utf8(&line[begin..]) {
        let at = (begin + error.valid_up_to()).saturating_sub(start);
        findings.push((Defect::InvalidUtf8, at));
        findings.sort_by_key(|(_, at)| *at);
    }
    let objects = objects.into_iter();
    let records = objects.map(|range| record(line, range.start + start..range.end + start));
    let damage = findings.into_iter().map(|(defect, at)| Damage {
        reason: defect.to_string(),
        line: 1,
        offset: (at + start) as u64,
    });
    (records.collect(), damage.collect())
}

/// The record on a line that holds exactly one and needs no repair, as nearly all do. Of all other
/// lines [`split_line`] says more.
pub fn only_record(line: &[u8]) -> Option<&str> {
    let is_only =
        matches!(first_value(line), FirstValue::Object(range) if is_blank(&line[range.end..]));
    sound_text(line).filter(|_| is_only)
}

/// The text of a line, without blanks around it, if no record on it needs repair. Whether it is one
/// record is not known.
pub fn sound_text(line: &[u8]) -> Option<&str> {
    let text = simdutf8::basic::from_utf8(line).ok()?.trim_ascii();
    replace_lone_surrogates(text).is_none().then_some(text)
}

/// The text of a line that seems to hold exactly one record and needs no repair. Whether it is well
/// formed is for its reader to say.
pub(super) fn probable_record(line: &[u8]) -> Option<&str> {
    let text = simdutf8::basic::from_utf8(&line[event_field_length(line)..]).ok()?;
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    let is_enclosed = text.starts_with('{') && text.ends_with('}');
    (is_enclosed && replace_lone_surrogates(text).is_none()).then_some(text)
}

/// The elements of a list of objects, if that is all there is on a line, and needs no repair.
pub(super) fn list_of_objects(line: &[u8]) -> Option<Vec<Range<usize>>> {
    let ends = line.trim_ascii();
    if !(ends.starts_with(b"[") && ends.ends_with(b"]")) {
        return None;
    }
    let elements: Vec<&RawValue> = serde_json::from_str(sound_text(line)?).ok()?;
    let is_list = elements
        .iter()
        .all(|element| element.get().starts_with('{'));
    let range = |element: &RawValue| {
        let start = element.get().as_ptr().addr() - line.as_ptr().addr();
        start..start + element.get().len()
    };
    is_list.then(|| elements.into_iter().map(range).collect())
}

/// Whether there is nothing wrong with a line that is not wanted. The bracket of a list of objects may
/// stand before the first one.
pub(super) fn is_sound(line: &[u8]) -> bool {
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

/// What of a line of an event stream is not a record: the name of its field, or all of it.
fn event_field_length(line: &[u8]) -> usize {
    let starts_with = |field: &&[u8]| line.starts_with(field);
    if let Some(data) = line.strip_prefix(b"data:") {
        let is_end = data.trim_ascii() == b"[DONE]";
        return if is_end {
            line.len()
        } else {
            line.len() - data.len()
        };
    }
    let without_record: [&[u8]; 4] = [b":", b"event:", b"id:", b"retry:"];
    // Some APIs print a list of objects, with nothing but a comma or the end of it on a line.
    let is_field =
        without_record.iter().any(starts_with) || matches!(line.trim_ascii(), b"," | b"]");
    if is_field { line.len() } else { 0 }
}

fn is_blank(text: &[u8]) -> bool {
    gap(text).first_nul.is_none() && gap(text).length == text.len()
}

/// The record at `range`, repaired if need be.
fn record(line: &[u8], range: Range<usize>) -> Record {
    let bytes = &line[range.clone()];
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return replace_lone_surrogates(text).map_or(Record::Range(range), Record::Repaired);
    }
    // All of JSON's own characters are ASCII, so that this changes strings only.
    let text = String::from_utf8_lossy(bytes).into_owned();
    Record::Repaired(replace_lone_surrogates(&text).unwrap_or(text))
}

/// What a line holds. Positions are bytes from the start of the line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Examination {
    /// Whole top-level objects, in order.
    objects: Vec<Range<usize>>,
    /// What is wrong, in order, at most [`MOST_FINDINGS`].
    findings: Vec<(Defect, usize)>,
}

impl Examination {
    fn report(&mut self, defect: Defect, at: usize) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push((defect, at));
        }
    }
}

/// One kind of damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Defect {
    /// NUL bytes around a record.
    NulBytes,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A record without its end, and nothing after it.
    CutOff,
    /// A record without its end, glued to what comes after.
    Torn,
    /// A second record on the line.
    Glued,
    /// A top-level array or scalar.
    NotAnObject,
    /// Text after a record that is no record.
    TrailingText,
    /// Anything else.
    NotJson(String),
    /// Longer than the reader reads.
    TooLong,
}

impl fmt::Display for Defect {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NulBytes => "nul bytes beside a record",
            Self::InvalidUtf8 => "invalid utf-8",
            Self::CutOff => "record is cut off",
            Self::Torn => "record is cut off and runs into the next one",
            Self::Glued => "several records on one line",
            Self::NotAnObject => "not a json object",
            Self::TrailingText => "text after a record",
            Self::NotJson(reason) => return write!(formatter, "not json: {reason}"),
            Self::TooLong => "line of more than 16 MiB, not read",
        })
    }
}

/// Finds the objects on a line.
fn examine(line: &[u8]) -> Examination {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut result = Examination::default();
    let mut nul_reported = false;
    let mut start = 0;
    loop {
        let before = gap(&line[start..]);
        if let Some(nul) = before.first_nul
            && !nul_reported
        {
            nul_reported = true;
            result.report(Defect::NulBytes, start + nul);
        }
        start += before.length;
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
        let after = end + gap(&line[end..]).length;
        // An object that something else follows may be a part of a greater whole whose start is
        // missing.
        let is_hopeless = !matches!(line.get(after), None | Some(b'{'));
        if !is_object {
            result.report(Defect::NotAnObject, start);
        } else if is_hopeless {
            result.report(Defect::TrailingText, after);
        } else {
            if before.follows_a_record(&result, start) {
                result.report(Defect::Glued, start);
            }
            result.objects.push(start..end);
        }
        if is_hopeless {
            return result;
        }
        start = end;
    }
}

/// What stands between two records.
struct Gap {
    /// In bytes.
    length: usize,
    /// Where the first NUL stands in it.
    first_nul: Option<usize>,
}

impl Gap {
    /// Whether the record at `start` comes right after another one, with no NUL run (which was
    /// reported already) between.
    fn follows_a_record(&self, so_far: &Examination, start: usize) -> bool {
        let before = start - self.length;
        self.first_nul.is_none() && so_far.objects.last().is_some_and(|last| last.end == before)
    }
}

/// The whitespace and NUL bytes at the start of `text`.
fn gap(text: &[u8]) -> Gap {
    let filler = |byte: &u8| matches!(byte, 0 | b' ' | b'\t' | b'\r' | b'\n');
    let length = text
        .iter()
        .position(|byte| !filler(byte))
        .unwrap_or(text.len());
    Gap {
        length,
        first_nul: text[..length].iter().position(|byte| *byte == 0),
    }
}

/// Where the next record may start after a torn one, in which the byte at `fault` is wrong: only
/// where no part of the torn record can.
fn record_after(text: &[u8], fault: usize) -> Option<usize> {
    match text[fault] {
        // No value may start here (or the brace would not be wrong), so this is another one.
        b'{' => Some(fault),
        // Neither a value nor whitespace has raw NULs: a crash left them between two writes.
        0 => {
            let next = fault + gap(&text[fault..]).length;
            matches!(text.get(next), None | Some(b'{')).then_some(fault)
        }
        // A raw control character is wrong inside of a string, not after one.
        0x01..=0x1f => None,
        _ => brace_at_end_of_string(&text[..fault]),
    }
}

/// If `text` ends with a string that ends with a brace, where that brace stands. The torn record
/// stopped inside of a string, and the next record's first quote closed it.
fn brace_at_end_of_string(text: &[u8]) -> Option<usize> {
    let inside = text.trim_ascii_end().strip_suffix(b"\"")?.trim_ascii_end();
    (inside.last() == Some(&b'{')).then(|| inside.len() - 1)
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
