//! The matches of a search, and its result as text for the model and as structured output.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use serde_json::{Value, json};

use super::super::walk::{SearchEnd, UnreadableFiles};
use super::parameters::{Bounds, OutputMode, Style, Unit};
use crate::run::tools::{CallStatus, ToolReply};
use crate::text::format_count;

/// Maximum size of a result in memory, in bytes, for any limit.
const MAX_BYTES: usize = 4 << 20;

/// Collects the lines of a page.
#[derive(Debug)]
pub(super) struct Lines {
    bounds: Bounds,
    seen: usize,
    kept: Vec<String>,
    bytes: usize,
    cut: Cut,
}

/// The reason why entries were omitted at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// No entries were omitted.
    Nothing,
    /// There are more entries than the call's limit.
    Limit,
    /// There are more entries than the memory limit.
    Memory,
}

impl Lines {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            seen: 0,
            kept: Vec::new(),
            bytes: 0,
            cut: Cut::Nothing,
        }
    }

    /// Adds a line. [`Lines::is_full`] may be true afterwards.
    pub(super) fn push(&mut self, line: String) {
        self.seen += 1;
        if self.is_full() || self.seen <= self.bounds.offset {
        } else if self.seen > self.bounds.end() {
            self.cut = Cut::Limit;
        } else if self.bytes + line.len() > MAX_BYTES {
            self.cut = Cut::Memory;
        } else {
            self.bytes += line.len() + 1;
            self.kept.push(line);
        }
    }

    /// Whether no more lines are kept.
    pub(super) fn is_full(&self) -> bool {
        self.cut != Cut::Nothing
    }

    pub(super) fn is_empty(&self) -> bool {
        self.seen == 0
    }
}

/// The result of a search.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) mode: OutputMode,
    /// Lines, file names, or file names with counts.
    pub(super) entries: Vec<String>,
    /// Totals of all files, including unlisted ones. Only for counts.
    pub(super) files: u64,
    pub(super) matches: u64,
    pub(super) cut: Cut,
    pub(super) end: SearchEnd,
    pub(super) unread: UnreadableFiles,
}

impl Report {
    /// Creates the report of a complete search.
    pub(super) fn from_lines(mode: OutputMode, lines: Lines) -> Self {
        Self {
            mode,
            entries: lines.kept,
            files: 0,
            matches: 0,
            cut: lines.cut,
            end: SearchEnd::Complete,
            unread: UnreadableFiles::default(),
        }
    }

    pub(super) fn into_reply(self, bounds: Bounds) -> ToolReply {
        let page = pagination(bounds, self.cut);
        let (mut text, mut structured) = match self.mode {
            OutputMode::Content => self.format_content(page),
            OutputMode::FilesWithMatches => self.format_files(page),
            OutputMode::Count => self.format_counts(page),
        };
        if self.cut == Cut::Limit {
            structured["appliedLimit"] = json!(bounds.limit);
        }
        if bounds.offset > 0 {
            structured["appliedOffset"] = json!(bounds.offset);
        }
        if let Some(note) = self.unread.describe() {
            text = format!("{text}\n\n{note}");
        }
        let (status, note) = match self.end {
            SearchEnd::Complete => (CallStatus::Ok, ""),
            SearchEnd::Cancelled => (
                CallStatus::Cancelled,
                "\n\n(The search was cancelled; there may be more matches.)",
            ),
            SearchEnd::TimedOut => (
                CallStatus::TimedOut,
                "\n\n(The search took too long and was stopped; there may be more matches.)",
            ),
        };
        ToolReply::with_status(status, text + note, structured)
    }

    fn format_content(&self, page: Option<String>) -> (String, Value) {
        let structured = json!({
            "mode": "content",
            "numFiles": 0,
            "filenames": [],
            "content": self.entries.join("\n"),
            "numLines": self.entries.len(),
        });
        let note = page.map(|page| format!("\n\n[Showing results with pagination = {page}]"));
        (self.list_files() + &note.unwrap_or_default(), structured)
    }

    fn format_files(&self, page: Option<String>) -> (String, Value) {
        let structured = json!({
            "mode": "files_with_matches",
            "filenames": self.entries,
            "numFiles": self.entries.len(),
        });
        if self.entries.is_empty() {
            return ("No files found".to_owned(), structured);
        }
        let note = page.map(|page| format!(" {page}")).unwrap_or_default();
        let number = format_count(self.entries.len() as u64, "file", "files");
        let text = format!("Found {number}{note}\n{}", self.entries.join("\n"));
        (text, structured)
    }

    fn format_counts(&self, page: Option<String>) -> (String, Value) {
        let note = page.map(|page| format!(" with pagination = {page}"));
        let text = format!(
            "{}\n\nFound {} across {}.{}",
            self.list_files(),
            format_count(self.matches, "total occurrence", "total occurrences"),
            format_count(self.files, "file", "files"),
            note.unwrap_or_default(),
        );
        let structured = json!({
            "mode": "count",
            "numFiles": self.files,
            "filenames": [],
            "content": self.entries.join("\n"),
            "numMatches": self.matches,
        });
        (text, structured)
    }

    fn list_files(&self) -> String {
        if self.entries.is_empty() {
            return "No matches found".to_owned();
        }
        self.entries.join("\n")
    }
}

/// Describes the page, if it is not the whole result.
fn pagination(bounds: Bounds, cut: Cut) -> Option<String> {
    let limit = match cut {
        Cut::Nothing => None,
        Cut::Limit => Some(format!("limit: {}", bounds.limit)),
        Cut::Memory => Some("limit: what fits in one result".to_owned()),
    };
    let offset = (bounds.offset > 0).then(|| format!("offset: {}", bounds.offset));
    let parts: Vec<String> = limit.into_iter().chain(offset).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Maximum length of a line, in characters. Longer lines are truncated.
const MAX_LINE_CHARACTERS: usize = 500;

/// Number of characters before the first match of a truncated line.
const LEAD_CHARACTERS: usize = 100;

/// The separator between groups of lines that are not adjacent.
const GROUP_SEPARATOR: &str = "--";

/// Formats the matches of a file as lines.
#[derive(Debug)]
pub(super) struct ContentSink<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) style: Style,
    /// The file name before each line, or `None` if the call names the file.
    pub(super) name: Option<String>,
    pub(super) lines: &'a mut Lines,
    /// Whether there was a match in the file.
    pub(super) has_match: bool,
    /// The position of binary data in the file.
    pub(super) binary_at: Option<u64>,
}

/// The separator after the name and number of a matching line, and of a context line.
const MATCH_SEPARATOR: char = ':';
const CONTEXT_SEPARATOR: char = '-';

impl ContentSink<'_> {
    fn push(&mut self, mark: char, number: Option<u64>, text: &str) {
        // With context, groups of different files are also separated.
        let has_context = self.style.before + self.style.after > 0;
        if !self.has_match && has_context && !self.lines.is_empty() {
            self.lines.push(GROUP_SEPARATOR.to_owned());
        }
        self.has_match = true;
        let mut line = String::new();
        if let Some(name) = &self.name {
            line.push_str(name);
            line.push(mark);
        }
        if let Some(number) = number.filter(|_| self.style.numbers) {
            line.push_str(&number.to_string());
            line.push(mark);
        }
        line.push_str(text);
        self.lines.push(line);
    }

    fn push_matches(&mut self, found: &SinkMatch<'_>) -> io::Result<()> {
        let matcher = self.matcher;
        visit_matches(matcher, found, |buffer, start, matched| {
            if matched.is_empty() {
                return;
            }
            let before = memchr::memchr_iter(b'\n', &buffer[start..matched.start()]).count();
            for (line_index, text) in buffer[matched].split(|byte| *byte == b'\n').enumerate() {
                let offset = (before + line_index) as u64;
                let number = found.line_number().map(|number| number + offset);
                self.push(
                    MATCH_SEPARATOR,
                    number,
                    &cut_around(without_line_end(text), 0),
                );
            }
        })
    }

    fn push_lines(&mut self, found: &SinkMatch<'_>) -> io::Result<()> {
        let mut number = found.line_number();
        for line in found.lines() {
            let line = without_line_end(line);
            let at = if line.len() > MAX_LINE_CHARACTERS {
                let first = self.matcher.find(line).map_err(io::Error::other)?;
                first.map_or(0, |found| found.start())
            } else {
                0
            };
            self.push(MATCH_SEPARATOR, number, &cut_around(line, at));
            number = number.map(|number| number + 1);
        }
        Ok(())
    }
}

impl Sink for ContentSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if searcher.binary_detection().convert_byte().is_some() && self.binary_at.is_some() {
            self.has_match = true;
            return Ok(false);
        }
        match self.style.unit {
            Unit::Lines => self.push_lines(found)?,
            Unit::Matches => self.push_matches(found)?,
        }
        Ok(!self.lines.is_full())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let text = cut_around(without_line_end(context.bytes()), 0);
        self.push(CONTEXT_SEPARATOR, context.line_number(), &text);
        Ok(!self.lines.is_full())
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.lines.push(GROUP_SEPARATOR.to_owned());
        Ok(!self.lines.is_full())
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.binary_at = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, searcher: &Searcher, _: &SinkFinish) -> io::Result<()> {
        if let Some(offset) = self.binary_at
            && self.has_match
            && !self.lines.is_full()
        {
            let event = match searcher.binary_detection().convert_byte() {
                Some(_) => "binary file matches",
                None => "stopped searching binary file after match",
            };
            let name = self
                .name
                .as_ref()
                .map_or_else(String::new, |name| format!("{name}: "));
            self.lines.push(format!(
                "{name}{event} (found \"\\0\" byte around offset {offset})"
            ));
        }
        Ok(())
    }
}

/// Counts the matches of a file.
#[derive(Debug)]
pub(super) struct CountSink<'a> {
    pub(super) matcher: &'a RegexMatcher,
    pub(super) style: Style,
    pub(super) count: &'a mut u64,
}

impl Sink for CountSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.style.unit == Unit::Lines && !self.style.multiline {
            *self.count += 1;
        } else {
            visit_matches(self.matcher, found, |_, _, _| *self.count += 1)?;
        }
        Ok(true)
    }

    /// Like ripgrep, counts no matches in a binary file.
    fn finish(&mut self, searcher: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        let quits_at_binary = searcher.binary_detection().quit_byte().is_some();
        if quits_at_binary && finish.binary_byte_offset().is_some() {
            *self.count = 0;
        }
        Ok(())
    }
}

/// Calls `visit` for each match in the reported lines, with their buffer, the start of the lines in it, and the
/// range of the match.
fn visit_matches(
    matcher: &RegexMatcher,
    found: &SinkMatch<'_>,
    mut visit: impl FnMut(&[u8], usize, grep_matcher::Match),
) -> io::Result<()> {
    let range = found.bytes_range_in_buffer();
    let buffer = &found.buffer()[..range.end];
    matcher
        .find_iter_at(buffer, range.start, |matched| {
            let is_inside = matched.start() < range.end;
            if is_inside {
                visit(buffer, range.start, matched);
            }
            is_inside
        })
        .map_err(io::Error::other)
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let unended = line.strip_suffix(b"\n").unwrap_or(line);
    unended.strip_suffix(b"\r").unwrap_or(unended)
}

/// Returns the line; if it is long, the part around the byte `at`.
fn cut_around(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let length = text.chars().count();
    if length <= MAX_LINE_CHARACTERS {
        return text.into_owned();
    }
    let before = String::from_utf8_lossy(&line[..at]).chars().count();
    let skipped = before
        .saturating_sub(LEAD_CHARACTERS)
        .min(length - MAX_LINE_CHARACTERS);
    let shown: String = text
        .chars()
        .skip(skipped)
        .take(MAX_LINE_CHARACTERS)
        .collect();
    let lead = if skipped > 0 { "..." } else { "" };
    let is_end = skipped + MAX_LINE_CHARACTERS == length;
    let tail = if is_end { "" } else { "..." };
    format!("{lead}{shown}{tail} [line cut to {MAX_LINE_CHARACTERS} of {length} characters]")
}
