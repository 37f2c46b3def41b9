//! The result of a search, as text for the model and as structured output.

use serde_json::{Value, json};

use super::super::walk::{SearchEnd, Stopped, Unread};
use super::parameters::{Bounds, OutputMode};
use crate::text::counted;
use crate::tools::{CallStatus, ToolReply};

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

    /// Whether no more lines will be kept.
    pub(super) fn is_full(&self) -> bool {
        self.cut != Cut::Nothing
    }

    /// Whether the report is empty.
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
    pub(super) unread: Unread,
}

impl Report {
    /// Creates the report of a complete search.
    pub(super) fn of_lines(mode: OutputMode, lines: Lines) -> Self {
        Self {
            mode,
            entries: lines.kept,
            files: 0,
            matches: 0,
            cut: lines.cut,
            end: SearchEnd::Complete,
            unread: Unread::default(),
        }
    }

    pub(super) fn into_reply(self, bounds: Bounds) -> ToolReply {
        let page = pagination(bounds, self.cut);
        let (mut text, mut structured) = match self.mode {
            OutputMode::Content => self.content(page),
            OutputMode::FilesWithMatches => self.files(page),
            OutputMode::Count => self.counts(page),
        };
        if self.cut == Cut::Limit {
            structured["appliedLimit"] = json!(bounds.limit);
        }
        if bounds.offset > 0 {
            structured["appliedOffset"] = json!(bounds.offset);
        }
        if let Some(note) = self.unread.note() {
            text = format!("{text}\n\n{note}");
        }
        let (status, note) = match self.end {
            SearchEnd::Complete => (CallStatus::Ok, ""),
            SearchEnd::Stopped(Stopped::Cancelled) => (
                CallStatus::Cancelled,
                "\n\n(The search was cancelled; there may be more matches.)",
            ),
            SearchEnd::Stopped(Stopped::TimedOut) => (
                CallStatus::TimedOut,
                "\n\n(The search took too long and was stopped; there may be more matches.)",
            ),
        };
        ToolReply {
            status,
            ..ToolReply::text(text + note, structured)
        }
    }

    fn content(&self, page: Option<String>) -> (String, Value) {
        let structured = json!({
            "mode": "content",
            "numFiles": 0,
            "filenames": [],
            "content": self.entries.join("\n"),
            "numLines": self.entries.len(),
        });
        let page = page.map(|page| format!("\n\n[Showing results with pagination = {page}]"));
        (self.listed() + &page.unwrap_or_default(), structured)
    }

    fn files(&self, page: Option<String>) -> (String, Value) {
        let structured = json!({
            "mode": "files_with_matches",
            "filenames": self.entries,
            "numFiles": self.entries.len(),
        });
        if self.entries.is_empty() {
            return ("No files found".to_owned(), structured);
        }
        let page = page.map(|page| format!(" {page}")).unwrap_or_default();
        let number = counted(self.entries.len() as u64, "file", "files");
        let text = format!("Found {number}{page}\n{}", self.entries.join("\n"));
        (text, structured)
    }

    fn counts(&self, page: Option<String>) -> (String, Value) {
        let page = page.map(|page| format!(" with pagination = {page}"));
        let text = format!(
            "{}\n\nFound {} across {}.{}",
            self.listed(),
            counted(self.matches, "total occurrence", "total occurrences"),
            counted(self.files, "file", "files"),
            page.unwrap_or_default(),
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

    fn listed(&self) -> String {
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
