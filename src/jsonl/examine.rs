//! What a single line holds: its whole objects, and what is wrong with the rest.
//!
//! Crashes leave torn records, runs of NUL bytes and several records on one line. Recovery is
//! conservative, because a recovered record may be executed: nothing is ever taken out of the
//! middle of a value that merely lacks its end.

use std::fmt;
use std::ops::Range;

use super::validate::{Fault, Kind, Verdict, Wrong, validate};

/// More reports of one line would help nobody, and a hostile line could hold millions.
const MOST_FINDINGS: usize = 8;

/// The result of [`examine`]. Positions are bytes from the start of the line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Examination {
    /// Whole top-level objects, in order.
    pub(super) objects: Vec<Range<usize>>,
    /// What is wrong, in order, at most [`MOST_FINDINGS`].
    pub(super) findings: Vec<(Defect, usize)>,
}

impl Examination {
    fn report(&mut self, defect: Defect, at: usize) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push((defect, at));
        }
    }
}

/// One kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    NotJson(Wrong),
    /// Longer than the reader looks into.
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
            Self::NotJson(wrong) => return write!(formatter, "not json: {wrong}"),
            Self::TooLong => "line of more than 16 MiB, not looked into",
        })
    }
}

/// Finds the objects on a line (without BOM; with or without its newline).
pub(super) fn examine(line: &[u8]) -> Examination {
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
        match validate(rest) {
            Verdict::Blank => return result,
            Verdict::CutOff => {
                result.report(Defect::CutOff, start);
                return result;
            }
            Verdict::Whole { kind, span } => {
                let end = start + span.end;
                let after = end + gap(&line[end..]).length;
                // An object that something else follows may be a part of a greater whole whose
                // start is missing.
                let is_hopeless = !matches!(line.get(after), None | Some(b'{'));
                if kind != Kind::Object {
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
            Verdict::Broken(fault) => {
                let Some(next) = record_after(rest, fault) else {
                    result.report(Defect::NotJson(fault.wrong), start + fault.at);
                    return result;
                };
                result.report(Defect::Torn, start);
                start += next;
            }
        }
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

/// Where the next record may start after a torn one, which is broken at `fault`: only where no
/// part of the torn record can.
fn record_after(text: &[u8], fault: Fault) -> Option<usize> {
    match text[fault.at] {
        // No value may start here (or the brace would not be the fault), so this is another one.
        b'{' => Some(fault.at),
        // Neither a value nor whitespace has raw NULs: a crash left them between two writes.
        0 => {
            let next = fault.at + gap(&text[fault.at..]).length;
            matches!(text.get(next), None | Some(b'{')).then_some(fault.at)
        }
        _ => match fault.wrong {
            Wrong::NotAColon | Wrong::NotASeparator => brace_at_end_of_string(&text[..fault.at]),
            // The fault does not come after a string.
            Wrong::NotAValue
            | Wrong::NotAKey
            | Wrong::Literal
            | Wrong::Number
            | Wrong::ControlCharacter
            | Wrong::Escape => None,
        },
    }
}

/// If `text` ends with a string that ends with a brace, where that brace stands. The torn record
/// stopped inside of a string, and the next record's first quote closed it.
fn brace_at_end_of_string(text: &[u8]) -> Option<usize> {
    let inside = text.trim_ascii_end().strip_suffix(b"\"")?.trim_ascii_end();
    (inside.last() == Some(&b'{')).then(|| inside.len() - 1)
}

#[cfg(test)]
#[path = "examine_tests.rs"]
mod tests;
