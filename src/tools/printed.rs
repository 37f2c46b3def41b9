//! The output of a child for results: its start and end, if it is too long.
//!
//! Limits inline text and memory, however long the output is. The module `results` writes the rest to a file.

use std::io::{self, Write};
use std::time::Duration;

use super::{CallStatus, FullText, ToolFailure};
use crate::process::{Captured, Ended, Finished};
use crate::text::{TextPieces, truncate_utf16, utf16_length};

/// Maximum output of a failed call, in UTF-16 units.
const FAILURE_LIMIT: usize = 10_000;

/// Size of each end of a stream that is kept in memory, in UTF-16 units. All limits must be at most this.
pub(super) const MAX_LIMIT: usize = 50_000;

/// The displayable parts of both streams of a child.
#[derive(Debug)]
pub(super) struct Printed {
    stdout: Stream,
    stderr: Stream,
    full: FullText,
}

/// The two ends of a stream. If it is complete, the head contains all of it.
#[derive(Debug, Default)]
struct Stream(ExcerptParts);

/// Text for the model, with the full output if the text is an excerpt.
#[derive(Debug)]
pub(super) struct Shown {
    /// The content of the result.
    pub(super) content: String,
    /// The full output if `content` is an excerpt.
    pub(super) full: Option<FullText>,
}

impl Printed {
    /// Takes the streams of a child that has ended.
    ///
    /// # Errors
    /// A spilled stream could not be read back.
    pub(super) fn by(finished: &mut Finished) -> Result<Self, ToolFailure> {
        let stdout = std::mem::take(&mut finished.stdout);
        let stderr = std::mem::take(&mut finished.stderr);
        Self::of_streams(stdout, stderr)
            .map_err(|error| ToolFailure(format!("cannot read the output: {error}")))
    }

    fn of_streams(stdout: Captured, stderr: Captured) -> io::Result<Self> {
        let (mut output, mut errors) = (Stream::of(&stdout)?, Stream::of(&stderr)?);
        output.trim_blank_lines();
        errors.trim_blank_lines();
        errors.trim_start();
        Ok(Self {
            stdout: output,
            stderr: errors,
            full: FullText::of([stdout, stderr]),
        })
    }

    /// Returns standard output for the structured output: without leading blank lines and trailing whitespace,
    /// and at most `limit` UTF-16 units.
    pub(super) fn stdout(&self, limit: usize) -> String {
        self.stdout.excerpt(limit)
    }

    /// Like [`Printed::stdout`] for standard error, trimmed.
    pub(super) fn stderr(&self, limit: usize) -> String {
        self.stderr.excerpt(limit)
    }

    /// Whether standard error is not empty.
    pub(super) fn has_errors(&self) -> bool {
        !self.stderr.is_empty()
    }

    /// Returns the output of a successful call. If it is longer than `limit` UTF-16 units, the excerpt is also
    /// longer, so that it is detected as too large.
    pub(super) fn success(&self, shown: Streams, limit: usize) -> Shown {
        let mut excerpt = HeadAndTail::new(limit);
        self.stdout.push_line(&mut excerpt);
        if shown == Streams::Both {
            self.stderr.push_line(&mut excerpt);
        }
        Shown {
            full: excerpt.is_partial().then(|| self.full.clone()),
            content: excerpt.finish(),
        }
    }

    /// Returns the output of a failed call: the headline, then both ends of the streams.
    pub(super) fn failure(&self, headline: &str) -> String {
        let mut excerpt = HeadAndTail::new(FAILURE_LIMIT);
        self.stdout.push_line(&mut excerpt);
        self.stderr.push_line(&mut excerpt);
        joined_lines([headline, &excerpt.finish()])
    }
}

/// Returns the status and headline of a failed run of `subject`, or `None` if it succeeded.
pub(super) fn failure_of(
    finished: &Finished,
    subject: &str,
    timeout: Duration,
) -> Option<(CallStatus, String)> {
    let code = finished.status.shell_code();
    Some(match finished.ended {
        Ended::Exited if code == 0 => return None,
        Ended::Exited => (CallStatus::Error, format!("Exit code {code}")),
        Ended::TimedOut => (
            CallStatus::TimedOut,
            format!("{subject} timed out after {}s", timeout.as_secs_f64()),
        ),
        Ended::Cancelled => (
            CallStatus::Cancelled,
            format!("{subject} was interrupted before it finished"),
        ),
    })
}

/// Converts a duration for the structured output.
pub(super) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// The streams in the result of a successful call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// Standard output.
    Stdout,
    /// Standard output, then standard error.
    Both,
}

/// Joins non-empty parts, each at the start of a line.
pub(super) fn joined_lines<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

impl Stream {
    fn of(captured: &Captured) -> io::Result<Self> {
        let mut excerpt = HeadAndTail::new(2 * MAX_LIMIT);
        let mut text = LossyText::new(|piece: &str| excerpt.push(piece));
        captured.write_to(&mut text)?;
        text.finish();
        let mut parts = excerpt.into_parts();
        if parts.omitted_units == 0 {
            parts.head.push_str(&std::mem::take(&mut parts.tail));
        }
        Ok(Self(parts))
    }

    /// Removes leading blank lines and trailing whitespace.
    fn trim_blank_lines(&mut self) {
        let head = &self.0.head;
        let first_line = head
            .find(|character: char| !character.is_whitespace())
            .map_or(head.len(), |first| {
                head[..first]
                    .rfind('\n')
                    .map_or(0, |line_feed| line_feed + 1)
            });
        self.0.head.drain(..first_line);
        let end = if self.0.omitted_units == 0 {
            &mut self.0.head
        } else {
            &mut self.0.tail
        };
        end.truncate(end.trim_end().len());
    }

    fn trim_start(&mut self) {
        let blank = self.0.head.len() - self.0.head.trim_start().len();
        self.0.head.drain(..blank);
    }

    fn is_empty(&self) -> bool {
        self.0.head.is_empty() && self.0.omitted_units == 0
    }

    fn push_line(&self, excerpt: &mut HeadAndTail) {
        if self.is_empty() {
            return;
        }
        if !excerpt.is_empty() {
            excerpt.push("\n");
        }
        excerpt.push(&self.0.head);
        excerpt.push_omitted(self.0.omitted_units);
        excerpt.push(&self.0.tail);
    }

    fn excerpt(&self, limit: usize) -> String {
        let mut excerpt = HeadAndTail::new(limit);
        self.push_line(&mut excerpt);
        excerpt.finish()
    }
}

/// Collects text in chunks and keeps about half of `limit` UTF-16 units from each end, in constant memory.
#[derive(Debug, Default)]
pub(super) struct HeadAndTail {
    limit: usize,
    head: String,
    head_units: usize,
    tail: String,
    tail_units: usize,
    total_units: usize,
    /// Whether text after the head went to the tail or was dropped.
    head_is_complete: bool,
    has_omitted: bool,
}

/// The two ends of a text.
#[derive(Debug, Default)]
pub(super) struct ExcerptParts {
    /// The start.
    pub(super) head: String,
    /// UTF-16 units between the two.
    pub(super) omitted_units: usize,
    /// The end.
    pub(super) tail: String,
}

impl HeadAndTail {
    /// Creates an excerpt of at most `limit` UTF-16 units, without the marker.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// Appends a chunk.
    pub(super) fn push(&mut self, piece: &str) {
        let units = utf16_length(piece);
        self.total_units += units;
        let room = if self.head_is_complete {
            0
        } else {
            (self.limit / 2).saturating_sub(self.head_units)
        };
        let (to_head, rest) = piece.split_at(truncate_utf16(piece, room).len());
        let head_units = utf16_length(to_head);
        self.head.push_str(to_head);
        self.head_units += head_units;
        if !rest.is_empty() {
            self.head_is_complete = true;
            self.push_tail(rest, units - head_units);
        }
    }

    /// Adds `units` UTF-16 units of dropped text between the head and the tail.
    pub(super) fn push_omitted(&mut self, units: usize) {
        if units > 0 {
            self.total_units += units;
            self.has_omitted = true;
            self.head_is_complete = true;
            self.tail.clear();
            self.tail_units = 0;
        }
    }

    /// Returns the start, the number of omitted units, and the end.
    pub(super) fn into_parts(mut self) -> ExcerptParts {
        self.trim_tail();
        ExcerptParts {
            omitted_units: self.total_units - self.head_units - self.tail_units,
            head: self.head,
            tail: self.tail,
        }
    }

    /// Returns the whole text if it fits, else the head, a marker with the number of omitted units, and the
    /// tail.
    pub(super) fn finish(self) -> String {
        let parts = self.into_parts();
        let omitted = parts.omitted_units;
        if omitted == 0 {
            return parts.head + &parts.tail;
        }
        format!(
            "{}\n\n... [{omitted} characters omitted] ...\n\n{}",
            parts.head, parts.tail
        )
    }

    /// Whether nothing was appended.
    pub(super) fn is_empty(&self) -> bool {
        self.total_units == 0
    }

    /// Whether text was omitted.
    pub(super) fn is_partial(&self) -> bool {
        self.has_omitted || self.total_units > self.limit
    }

    fn push_tail(&mut self, piece: &str, units: usize) {
        let capacity = self.limit - self.head_units;
        let surplus = units.saturating_sub(capacity);
        if surplus > 0 {
            // Text before this chunk cannot be among the last characters.
            self.tail.clear();
            self.tail_units = 0;
        }
        let kept = &piece[suffix_start(piece, surplus)..];
        self.tail.push_str(kept);
        self.tail_units += utf16_length(kept);
        // Trimming moves the whole tail, so not on every push.
        if self.tail_units > capacity.saturating_mul(4) {
            self.trim_tail();
        }
    }

    fn trim_tail(&mut self) {
        let surplus = (self.head_units + self.tail_units).saturating_sub(self.limit);
        if surplus > 0 {
            let start = suffix_start(&self.tail, surplus);
            self.tail.drain(..start);
            self.tail_units = utf16_length(&self.tail);
        }
    }
}

/// Returns the offset after the first `units` UTF-16 units. A surrogate pair on the boundary is skipped.
fn suffix_start(text: &str, units: usize) -> usize {
    let head = truncate_utf16(text, units);
    let is_short = utf16_length(head) < units;
    let pair = text[head.len()..].chars().next().filter(|_| is_short);
    head.len() + pair.map_or(0, char::len_utf8)
}

/// A writer that decodes UTF-8 and replaces invalid bytes.
pub(super) struct LossyText<Sink: FnMut(&str)> {
    sink: Sink,
    pieces: TextPieces,
}

impl<Sink: FnMut(&str)> LossyText<Sink> {
    pub(super) fn new(sink: Sink) -> Self {
        Self {
            sink,
            pieces: TextPieces::default(),
        }
    }

    /// Decodes the last bytes.
    pub(super) fn finish(mut self) {
        (self.sink)(&self.pieces.finish());
    }
}

impl<Sink: FnMut(&str)> Write for LossyText<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.sink)(&self.pieces.push(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "printed_tests.rs"]
mod tests;
