//! Matching lines of one file, as ripgrep prints them.

use std::io;

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use super::lines::Lines;
use super::request::{LineNumbers, Style, Unit};

/// Longer lines are cut, in characters.
const LINE_CHARACTERS: usize = 500;

/// How much of a cut line is shown before its first match, in characters.
const LEAD_CHARACTERS: usize = 100;

/// Between stretches of lines that do not follow each other.
const BREAK: &str = "--";

/// Turns what the searcher finds in one file into lines.
#[derive(Debug)]
pub(super) struct ContentSink<'a> {
    matcher: &'a RegexMatcher,
    style: Style,
    /// The file's name in front of every line; `None` if the call names this file.
    name: Option<&'a str>,
    lines: &'a mut Lines,
    any_in_file: bool,
    binary_at: Option<u64>,
}

/// What kind of line it is, which shows in the character after its name and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Match,
    Context,
}

impl<'a> ContentSink<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        style: Style,
        name: Option<&'a str>,
        lines: &'a mut Lines,
    ) -> Self {
        Self {
            matcher,
            style,
            name,
            lines,
            any_in_file: false,
            binary_at: None,
        }
    }

    fn push(&mut self, kind: Kind, number: Option<u64>, text: &str) {
        let mark = match kind {
            Kind::Match => ':',
            Kind::Context => '-',
        };
        let mut line = String::new();
        if let Some(name) = self.name {
            line.push_str(name);
            line.push(mark);
        }
        if let (LineNumbers::Shown, Some(number)) = (self.style.numbers, number) {
            line.push_str(&number.to_string());
            line.push(mark);
        }
        line.push_str(text);
        self.begin_file();
        self.lines.push(line);
    }

    /// With context, the lines of different files are divided too.
    fn begin_file(&mut self) {
        let has_context = self.style.before + self.style.after > 0;
        if !self.any_in_file && has_context && !self.lines.is_empty() {
            self.lines.push(BREAK.to_owned());
        }
        self.any_in_file = true;
    }

    fn push_matches(&mut self, found: &SinkMatch<'_>) -> io::Result<()> {
        let range = found.bytes_range_in_buffer();
        let buffer = &found.buffer()[..range.end];
        let mut texts = Vec::new();
        self.matcher
            .find_iter_at(buffer, range.start, |each| {
                if each.start() < range.end && !each.is_empty() {
                    let line =
                        memchr::memchr_iter(b'\n', &buffer[range.start..each.start()]).count();
                    texts.push((line, &buffer[each]));
                }
                each.start() < range.end
            })
            .map_err(io::Error::other)?;
        for (line, text) in texts {
            let first = found.line_number().map(|number| number + to_u64(line));
            for (below, text) in text.split(|byte| *byte == b'\n').enumerate() {
                let number = first.map(|first| first + to_u64(below));
                self.push(Kind::Match, number, &cut(trimmed(text), 0));
            }
        }
        Ok(())
    }

    fn push_lines(&mut self, found: &SinkMatch<'_>) -> io::Result<()> {
        let mut number = found.line_number();
        for line in found.lines() {
            let line = trimmed(line);
            let at = if line.len() > LINE_CHARACTERS {
                self.matcher
                    .find(line)
                    .map_err(io::Error::other)?
                    .map_or(0, |found| found.start())
            } else {
                0
            };
            self.push(Kind::Match, number, &cut(line, at));
            number = number.map(|number| number + 1);
        }
        Ok(())
    }
}

impl Sink for ContentSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if searcher.binary_detection().convert_byte().is_some() && self.binary_at.is_some() {
            self.any_in_file = true;
            return Ok(false);
        }
        match self.style.unit {
            Unit::Lines => self.push_lines(found)?,
            Unit::Matches => self.push_matches(found)?,
        }
        Ok(!self.lines.is_full())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let text = cut(trimmed(context.bytes()), 0);
        self.push(Kind::Context, context.line_number(), &text);
        Ok(!self.lines.is_full())
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.lines.push(BREAK.to_owned());
        Ok(!self.lines.is_full())
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.binary_at = Some(offset);
        Ok(true)
    }

    fn finish(&mut self, searcher: &Searcher, _: &SinkFinish) -> io::Result<()> {
        let (Some(offset), true, false) = (self.binary_at, self.any_in_file, self.lines.is_full())
        else {
            return Ok(());
        };
        let what = if searcher.binary_detection().convert_byte().is_some() {
            "binary file matches"
        } else {
            "stopped searching binary file after match"
        };
        let name = self
            .name
            .map(|name| format!("{name}: "))
            .unwrap_or_default();
        self.lines.push(format!(
            "{name}{what} (found \"\\0\" byte around offset {offset})"
        ));
        Ok(())
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The line, or if it is long the part of it around the byte `at`.
fn cut(line: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let length = text.chars().count();
    if length <= LINE_CHARACTERS {
        return text.into_owned();
    }
    let before = String::from_utf8_lossy(&line[..at]).chars().count();
    let skipped = before
        .saturating_sub(LEAD_CHARACTERS)
        .min(length - LINE_CHARACTERS);
    let shown: String = text.chars().skip(skipped).take(LINE_CHARACTERS).collect();
    let lead = if skipped > 0 { "..." } else { "" };
    let tail = if skipped + LINE_CHARACTERS < length {
        "..."
    } else {
        ""
    };
    format!("{lead}{shown}{tail} [line cut to {LINE_CHARACTERS} of {length} characters]")
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
