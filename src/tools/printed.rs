//! What a child printed, as a result shows it.
//!
//! Bounds what stays inline; writing the rest to a file is the `results` room's business.

use super::FullText;
use super::excerpt::{Excerpt, excerpt_of};
use crate::process::Captured;

/// The most of a failed call's output that is shown, in UTF-16 units.
const FAILURE_LIMIT: usize = 10_000;

/// Both streams of a child as text.
#[derive(Debug)]
pub(super) struct Printed {
    /// Without blank lines at its beginning and without white space at its end.
    pub(super) stdout: String,
    /// Without white space around it.
    pub(super) stderr: String,
    full: FullText,
}

/// Text for the model, and the whole of it if the text is only a part.
#[derive(Debug)]
pub(super) struct Shown {
    /// What goes into the result's content.
    pub(super) content: String,
    /// Set if `content` is an excerpt that the whole can replace.
    pub(super) full: Option<FullText>,
}

impl Printed {
    /// # Errors
    /// A spilled stream could not be read back.
    pub(super) fn from_streams(stdout: Captured, stderr: Captured) -> std::io::Result<Self> {
        Ok(Self {
            stdout: tidy(&stdout.text()?),
            stderr: stderr.text()?.trim().to_owned(),
            full: FullText::of([stdout, stderr]),
        })
    }

    /// What a successful call shows of its streams: an excerpt of more than `limit` UTF-16 units
    /// if they are longer, so that it is recognised as too large.
    pub(super) fn success(&self, shown: Streams, limit: usize) -> Shown {
        let mut excerpt = Excerpt::new(limit);
        push_line(&mut excerpt, &self.stdout);
        if shown == Streams::Both {
            push_line(&mut excerpt, &self.stderr);
        }
        Shown {
            full: excerpt.is_partial().then(|| self.full.clone()),
            content: excerpt.finish(),
        }
    }

    /// What a failed call shows: a first line that says how it failed, then both ends of what
    /// the streams contain.
    pub(super) fn failure(&self, headline: &str) -> String {
        let mut excerpt = Excerpt::new(FAILURE_LIMIT);
        push_line(&mut excerpt, &self.stdout);
        push_line(&mut excerpt, &self.stderr);
        joined_lines([headline, &excerpt.finish()])
    }
}

/// Which streams a successful call shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Streams {
    /// Standard output only.
    Stdout,
    /// Standard output, then standard error.
    Both,
}

/// The parts that are not empty, each beginning on a line of its own.
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

/// A stream for the structured output, with its middle left out if it is longer than `limit`.
pub(super) fn bounded(stream: &str, limit: usize) -> String {
    excerpt_of(stream, limit)
}

fn push_line(excerpt: &mut Excerpt, part: &str) {
    if part.is_empty() {
        return;
    }
    if !excerpt.is_empty() {
        excerpt.push("\n");
    }
    excerpt.push(part);
}

fn tidy(text: &str) -> String {
    let text = text.trim_end();
    let first_line = text
        .find(|character: char| !character.is_whitespace())
        .and_then(|first| text[..first].rfind('\n'))
        .map_or(0, |line_feed| line_feed + 1);
    text[first_line..].to_owned()
}
