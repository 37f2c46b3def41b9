//! Sorts whole lines: which of them can be passed on as they are, and what the others hold.
//!
//! Each question (is this UTF-8, is it well formed, is there a needle) is asked for as many lines
//! at once as possible, and the answers are kept until the lines have been used up.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::examine::{Defect, Examination, examine};
use super::well_formed::well_formed_lines;
use super::{Prefilter, Record, replace_lone_surrogates};

const BOM: &[u8] = b"\xef\xbb\xbf";

/// What is known of the lines ahead. Positions are bytes from the start of the first line.
#[derive(Default)]
pub(super) struct Outlook {
    /// The lines up to here are UTF-8.
    utf8: usize,
    /// The lines up to here are well-formed UTF-8.
    sound: usize,
    wanted: Wanted,
}

/// The next line with a needle.
#[derive(Default)]
enum Wanted {
    #[default]
    Unknown,
    Line(Range<usize>),
    None,
}

/// The start of the lines ahead.
pub(super) struct Stretch {
    /// This many bytes of lines are in order and not wanted.
    pub(super) plain: usize,
    /// What comes after them, unless that is the end.
    pub(super) line: Option<Line>,
}

/// A line that is wanted or damaged. Positions are bytes from its start.
pub(super) struct Line {
    /// In bytes, with its newline.
    pub(super) length: usize,
    /// The wanted records.
    pub(super) records: Vec<Record>,
    /// What is wrong, in order.
    pub(super) findings: Vec<(Defect, usize)>,
}

/// Where the lines ahead stand in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// At its very start, where a BOM may stand.
    Start,
    /// Anywhere else.
    Later,
}

impl Outlook {
    /// Forgets the first `length` bytes.
    pub(super) fn advance(&mut self, length: usize) {
        self.utf8 = self.utf8.saturating_sub(length);
        self.sound = self.sound.saturating_sub(length);
        if let Wanted::Line(line) = &mut self.wanted {
            if line.start < length {
                self.wanted = Wanted::Unknown;
            } else {
                *line = line.start - length..line.end - length;
            }
        }
    }

    /// Sorts `lines` up to the first that is not plain.
    pub(super) fn sort(
        &mut self,
        lines: &[u8],
        place: Place,
        prefilter: &dyn Prefilter,
    ) -> Stretch {
        let mut plain = 0;
        while plain < lines.len() {
            let bom = match place {
                Place::Start if plain == 0 && lines.starts_with(BOM) => BOM.len(),
                Place::Start | Place::Later => 0,
            };
            self.look_ahead(lines, plain, bom);
            let wanted = self.wanted_line(lines, plain, prefilter);
            let passable = self.sound.min(wanted.start);
            if passable > plain {
                plain = passable;
                continue;
            }
            let end = line_end(lines, plain);
            let mut line = Line::new(end - plain);
            let text = &lines[plain..end];
            let objects = if self.sound >= end {
                sound_object(text, bom)
            } else {
                line.examine(text, bom)
            };
            if self.utf8 < end {
                line.note_invalid_utf8(text);
            }
            if wanted.start < end {
                line.records = objects
                    .into_iter()
                    .filter(|range| prefilter.find(&text[range.clone()], 0).is_some())
                    .map(|range| record(text, range))
                    .collect();
            } else if line.findings.is_empty() {
                plain = end;
                continue;
            }
            return Stretch {
                plain,
                line: Some(line),
            };
        }
        Stretch { plain, line: None }
    }

    /// Makes sure that something is known about the line at `from`, which starts with a BOM of
    /// `bom` bytes, and as far beyond as can be.
    fn look_ahead(&mut self, lines: &[u8], from: usize, bom: usize) {
        if self.utf8 <= from {
            self.utf8 = from + utf8_lines(&lines[from..]);
        }
        if self.sound <= from && from < self.utf8 {
            let start = from + bom;
            self.sound = match well_formed_lines(&lines[start..self.utf8]) {
                0 => from,
                length => start + length,
            };
        }
    }

    /// The first line at or after `from` (the start of a line) that has a needle, or an empty range
    /// at the end.
    fn wanted_line(
        &mut self,
        lines: &[u8],
        from: usize,
        prefilter: &dyn Prefilter,
    ) -> Range<usize> {
        match &self.wanted {
            Wanted::None => return lines.len()..lines.len(),
            Wanted::Line(line) if line.start >= from => return line.clone(),
            Wanted::Line(_) | Wanted::Unknown => {}
        }
        if let Some(needle) = prefilter.find(lines, from) {
            let start = memrchr(b'\n', &lines[from..needle]).map_or(from, |at| from + at + 1);
            let line = start..line_end(lines, needle);
            self.wanted = Wanted::Line(line.clone());
            line
        } else {
            self.wanted = Wanted::None;
            lines.len()..lines.len()
        }
    }
}

impl Line {
    fn new(length: usize) -> Self {
        Self {
            length,
            records: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Notes what is wrong with the line, and returns the objects on it.
    fn examine(&mut self, line: &[u8], bom: usize) -> Vec<Range<usize>> {
        let Examination { objects, findings } = examine(&line[bom..]);
        let findings = findings.into_iter().map(|(defect, at)| (defect, at + bom));
        self.findings = findings.collect();
        let objects = objects.into_iter();
        objects
            .map(|range| range.start + bom..range.end + bom)
            .collect()
    }

    fn note_invalid_utf8(&mut self, line: &[u8]) {
        if let Err(error) = simdutf8::compat::from_utf8(line) {
            let at = error.valid_up_to();
            self.findings.push((Defect::InvalidUtf8, at));
            self.findings.sort_by_key(|(_, at)| *at);
        }
    }
}

/// The only object on a well-formed line, unless it is blank.
pub(super) fn sound_object(line: &[u8], bom: usize) -> Vec<Range<usize>> {
    let start = line.len() - line[bom..].trim_ascii_start().len();
    let end = start + line[start..].trim_ascii_end().len();
    (start < end).then_some(start..end).into_iter().collect()
}

/// The end of the line that `at` lies in, behind its newline if it has one.
fn line_end(lines: &[u8], at: usize) -> usize {
    memchr(b'\n', &lines[at..]).map_or(lines.len(), |length| at + length + 1)
}

/// The length of the whole lines at the start of `lines` that are UTF-8.
fn utf8_lines(lines: &[u8]) -> usize {
    match simdutf8::compat::from_utf8(lines) {
        Ok(_) => lines.len(),
        Err(error) => memrchr(b'\n', &lines[..error.valid_up_to()]).map_or(0, |at| at + 1),
    }
}

/// The record at `range`, repaired if need be.
pub(super) fn record(line: &[u8], range: Range<usize>) -> Record {
    let bytes = &line[range.clone()];
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        repaired(text, range)
    } else {
        // All of JSON's own characters are ASCII, so that this changes strings only.
        let text = String::from_utf8_lossy(bytes).into_owned();
        Record::Repaired(replace_lone_surrogates(&text).unwrap_or(text))
    }
}

/// The same on a line that is known to be UTF-8.
pub(super) fn valid_record(line: &str, range: Range<usize>) -> Record {
    repaired(line.get(range.clone()).unwrap_or_default(), range)
}

fn repaired(text: &str, range: Range<usize>) -> Record {
    replace_lone_surrogates(text).map_or(Record::Range(range), Record::Repaired)
}
