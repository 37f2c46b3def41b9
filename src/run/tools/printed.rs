//! Formats the output of a child for results, with limits on the text and on memory. The module `results` writes the
//! full output to a file.

use std::io;
use std::time::Duration;

use super::excerpt::{HeadAndTail, LossyText, TextEnds};
use super::{CallStatus, FullText, ToolFailure};
use crate::process::{Captured, Ended, Finished};

/// Maximum output of a failed call, in UTF-16 units.
const FAILURE_LIMIT: usize = 10_000;

/// Size of each end of a stream that is kept in memory, in UTF-16 units. All limits must be at most this.
pub(super) const MAX_LIMIT: usize = 50_000;

/// The displayable parts of both streams of a child.
#[derive(Debug)]
pub(super) struct DisplayedOutput {
    stdout: TextEnds,
    stderr: TextEnds,
    full: FullText,
}

/// Text for the model, with the full output if the text is an excerpt.
#[derive(Debug)]
pub(super) struct ModelText {
    /// The content of the result.
    pub(super) content: String,
    /// The full output if `content` is an excerpt.
    pub(super) full: Option<FullText>,
}

impl DisplayedOutput {
    /// Takes the streams of a child that has ended.
    ///
    /// # Errors
    /// A spilled stream could not be read back.
    pub(super) fn take(finished: &mut Finished) -> Result<Self, ToolFailure> {
        let stdout = std::mem::take(&mut finished.stdout);
        let stderr = std::mem::take(&mut finished.stderr);
        Self::from_streams(stdout, stderr)
            .map_err(|error| ToolFailure(format!("cannot read the output: {error}")))
    }

    fn from_streams(stdout: Captured, stderr: Captured) -> io::Result<Self> {
        let (mut output, mut errors) = (TextEnds::read(&stdout)?, TextEnds::read(&stderr)?);
        output.trim_blank_lines();
        errors.trim_blank_lines();
        errors.trim_start();
        Ok(Self {
            stdout: output,
            stderr: errors,
            full: FullText::new([stdout, stderr]),
        })
    }

    /// Returns standard output for the structured output: without leading blank lines and trailing whitespace,
    /// and at most `limit` UTF-16 units.
    pub(super) fn stdout(&self, limit: usize) -> String {
        self.stdout.excerpt(limit)
    }

    /// Like [`DisplayedOutput::stdout`] for standard error, trimmed.
    pub(super) fn stderr(&self, limit: usize) -> String {
        self.stderr.excerpt(limit)
    }

    /// Whether standard error is not empty.
    pub(super) fn has_errors(&self) -> bool {
        !self.stderr.is_empty()
    }

    /// Returns the output of a successful call. If it is longer than `limit` UTF-16 units, the excerpt is also
    /// longer, so that it is detected as too large.
    pub(super) fn format_success(&self, shown: Streams, limit: usize) -> ModelText {
        let mut excerpt = HeadAndTail::new(limit);
        self.stdout.push_line(&mut excerpt);
        if shown == Streams::Both {
            self.stderr.push_line(&mut excerpt);
        }
        ModelText {
            full: excerpt.is_partial().then(|| self.full.clone()),
            content: excerpt.finish(),
        }
    }

    /// Returns the output of a failed call: the headline, then both ends of the streams.
    pub(super) fn format_failure(&self, headline: &str) -> String {
        let mut excerpt = HeadAndTail::new(FAILURE_LIMIT);
        self.stdout.push_line(&mut excerpt);
        self.stderr.push_line(&mut excerpt);
        join_lines([headline, &excerpt.finish()])
    }
}

/// Returns the status and headline of a failed run of `subject`, or `None` if it succeeded.
pub(super) fn describe_failure(
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

/// The streams in the result of a successful call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// Standard output.
    Stdout,
    /// Standard output, then standard error.
    Both,
}

/// Joins non-empty parts, each at the start of a line.
pub(super) fn join_lines<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    text
}

impl TextEnds {
    fn read(captured: &Captured) -> io::Result<Self> {
        let mut excerpt = HeadAndTail::new(2 * MAX_LIMIT);
        let mut text = LossyText::new(|piece: &str| excerpt.push(piece));
        captured.write_to(&mut text)?;
        text.finish();
        let mut ends = excerpt.into_ends();
        if ends.omitted_units == 0 {
            ends.head.push_str(&std::mem::take(&mut ends.tail));
        }
        Ok(ends)
    }

    /// Removes leading blank lines and trailing whitespace.
    fn trim_blank_lines(&mut self) {
        let head = &self.head;
        let first_line = head
            .find(|character: char| !character.is_whitespace())
            .map_or(head.len(), |first| {
                head[..first]
                    .rfind('\n')
                    .map_or(0, |line_feed| line_feed + 1)
            });
        self.head.drain(..first_line);
        let end = if self.omitted_units == 0 {
            &mut self.head
        } else {
            &mut self.tail
        };
        end.truncate(end.trim_end().len());
    }

    /// Removes leading whitespace.
    fn trim_start(&mut self) {
        let blank = self.head.len() - self.head.trim_start().len();
        self.head.drain(..blank);
    }

    fn is_empty(&self) -> bool {
        self.head.is_empty() && self.omitted_units == 0
    }

    /// Adds the text to an excerpt, on a line of its own.
    fn push_line(&self, excerpt: &mut HeadAndTail) {
        if self.is_empty() {
            return;
        }
        if !excerpt.is_empty() {
            excerpt.push("\n");
        }
        excerpt.push(&self.head);
        excerpt.push_omitted(self.omitted_units);
        excerpt.push(&self.tail);
    }

    fn excerpt(&self, limit: usize) -> String {
        let mut excerpt = HeadAndTail::new(limit);
        self.push_line(&mut excerpt);
        excerpt.finish()
    }
}
