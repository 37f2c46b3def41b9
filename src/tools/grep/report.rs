//! What a search found, as text for the model and as structured output.

use serde_json::{Value, json};

use super::super::walk::{SearchEnd, Stopped};
use super::super::{CallStatus, ToolReply};
use super::lines::LinesEnd;
use super::request::Bounds;

/// The outcome of a search.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) found: Found,
    /// Whether entries were left out.
    pub(super) cut: LinesEnd,
    pub(super) end: SearchEnd,
    pub(super) unsearched: Unsearched,
}

/// The entries that are given out.
#[derive(Debug)]
pub(super) enum Found {
    /// Lines.
    Content(Vec<String>),
    /// File names.
    Files(Vec<String>),
    /// File names with counts, and the totals of all files, listed or not.
    Counts {
        lines: Vec<String>,
        files: u64,
        matches: u64,
    },
}

/// Files that could not be searched.
#[derive(Debug, Default)]
pub(super) struct Unsearched {
    count: u64,
    /// Name and reason of the first one.
    pub(super) first: Option<String>,
}

impl Unsearched {
    pub(super) fn add(&mut self, name_and_reason: String) {
        self.count += 1;
        self.first.get_or_insert(name_and_reason);
    }
}

impl Report {
    pub(super) fn into_reply(self, bounds: Bounds) -> ToolReply {
        let page = pagination(bounds, self.cut);
        let (text, mut structured) = match self.found {
            Found::Content(lines) => content(&lines, page),
            Found::Files(names) => files(&names, page),
            Found::Counts {
                lines,
                files,
                matches,
            } => counts(&lines, files, matches, page),
        };
        if let (LinesEnd::Limit, Some(limit)) = (self.cut, bounds.limit) {
            structured["appliedLimit"] = json!(limit);
        }
        if bounds.offset > 0 {
            structured["appliedOffset"] = json!(bounds.offset);
        }
        let mut parts = vec![text];
        if let Some(first) = self.unsearched.first {
            let files = counted(&self.unsearched.count, "file", "files");
            parts.push(format!(
                "({files} could not be searched, the first: {first})"
            ));
        }
        let status = match self.end {
            SearchEnd::Complete => CallStatus::Ok,
            SearchEnd::Stopped(Stopped::Cancelled) => {
                parts.push("(The search was cancelled; there may be more matches.)".to_owned());
                CallStatus::Cancelled
            }
            SearchEnd::Stopped(Stopped::TimedOut) => {
                parts.push(
                    "(The search took too long and was stopped; there may be more matches.)"
                        .to_owned(),
                );
                CallStatus::TimedOut
            }
        };
        ToolReply {
            status,
            ..ToolReply::text(parts.join("\n\n"), structured)
        }
    }
}

fn content(lines: &[String], page: Option<String>) -> (String, Value) {
    let content = lines.join("\n");
    let text = if lines.is_empty() {
        "No matches found"
    } else {
        &content
    };
    let structured = json!({
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": content,
        "numLines": lines.len(),
    });
    let page = page.map(|page| format!("\n\n[Showing results with pagination = {page}]"));
    (format!("{text}{}", page.unwrap_or_default()), structured)
}

fn files(names: &[String], page: Option<String>) -> (String, Value) {
    let text = if names.is_empty() {
        "No files found".to_owned()
    } else {
        let page = page.map(|page| format!(" {page}")).unwrap_or_default();
        let number = counted(&names.len(), "file", "files");
        format!("Found {number}{page}\n{}", names.join("\n"))
    };
    let structured = json!({
        "mode": "files_with_matches",
        "filenames": names,
        "numFiles": names.len(),
    });
    (text, structured)
}

fn counts(lines: &[String], files: u64, matches: u64, page: Option<String>) -> (String, Value) {
    let content = lines.join("\n");
    let list = if lines.is_empty() {
        "No matches found"
    } else {
        &content
    };
    let page = page.map(|page| format!(" with pagination = {page}"));
    let text = format!(
        "{list}\n\nFound {} across {}.{}",
        counted(&matches, "total occurrence", "total occurrences"),
        counted(&files, "file", "files"),
        page.unwrap_or_default(),
    );
    let structured = json!({
        "mode": "count",
        "numFiles": files,
        "filenames": [],
        "content": content,
        "numMatches": matches,
    });
    (text, structured)
}

fn counted(number: &impl ToString, one: &str, many: &str) -> String {
    let number = number.to_string();
    let noun = if number == "1" { one } else { many };
    format!("{number} {noun}")
}

/// Which part of all entries is shown, if it is not all of them.
fn pagination(bounds: Bounds, cut: LinesEnd) -> Option<String> {
    let limit = match cut {
        LinesEnd::All => None,
        LinesEnd::Limit => bounds.limit.map(|limit| format!("limit: {limit}")),
        LinesEnd::Memory => Some("limit: what fits in one result".to_owned()),
    };
    let offset = (bounds.offset > 0).then(|| format!("offset: {}", bounds.offset));
    let parts: Vec<String> = limit.into_iter().chain(offset).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
