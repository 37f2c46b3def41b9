//! `Glob`: files by name pattern, newest first.

use crate::io::to_millis;
use crate::run::tools::context::normalise;
use crate::run::tools::paths::{absolute_path, path_or_current};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobMatcher};
use ignore::DirEntry;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::regular_file::check_not_process_file;
use super::walk::{self, Budget, Filters, NewestFiles, SearchEnd, UnreadableFiles};
use crate::run::tools::builtin::Parameters;
use crate::run::tools::{
    Assessment, CallContext, CallStatus, DecisionContext, InvalidInput, PreparedCall, ResultLimit,
    ToolFailure, ToolReply,
};

/// Maximum number of files in a result.
const MAX_FILES: usize = 100;

const TIME_LIMIT: Duration = Duration::from_secs(20);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Glob {
    /// Glob pattern, e.g. **/*.rs or src/**/*.{ts,tsx}
    #[schemars(length(min = 1))]
    pattern: String,
    /// Directory to search; the working directory if omitted
    #[schemars(length(min = 1))]
    path: Option<String>,
}

impl Parameters for Glob {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = "Finds files whose path matches a glob pattern (* and ? \
        within a path part, ** across parts, [...] and {a,b}), newest first, at most 100. Skips \
        files that .gitignore names, but not hidden files.";
    const RESULT_LIMIT: ResultLimit = ResultLimit::Characters(100_000);

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let (fixed, glob) = split_pattern(&self.pattern);
        let rest = GlobBuilder::new(glob)
            .literal_separator(true)
            .build()
            .map_err(|error| InvalidInput(format!("invalid glob pattern: {error}")))?
            .compile_matcher();
        let fixed = fixed.to_owned();
        let path = self.path;
        Ok(Box::new(Search { path, fixed, rest }))
    }
}

/// A validated search.
struct Search {
    /// The directory to search. The default is the working directory.
    path: Option<String>,
    /// The leading components of the pattern without special characters.
    fixed: String,
    /// The rest of the pattern.
    rest: GlobMatcher,
}

impl PreparedCall for Search {
    fn assess(&self, context: &DecisionContext) -> Assessment {
        Assessment::reads(Glob::NAME, self.root(context))
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let start = call.session.clock.elapsed();
        check_directory(&path_or_current(self.path.as_deref(), call.session))?;
        let root = self.root(call.session);
        check_not_process_file(&root)?;
        let mut newest = NewestFiles::new(MAX_FILES);
        let budget = Budget::new(call.cancel, TIME_LIMIT);
        let mut unread = UnreadableFiles::default();
        let end = walk::walk(
            &root,
            call.session,
            Filters::none(),
            budget,
            &mut unread,
            &mut |entry| {
                let below = entry.path().strip_prefix(&root);
                if below.is_ok_and(|below| self.rest.is_match(below))
                    && let Some(modified) = modification_time(&entry)
                {
                    newest.add_file(entry.into_path(), modified);
                }
                ControlFlow::Continue(())
            },
        );
        let duration = call.session.clock.elapsed().saturating_sub(start);
        Ok(build_reply(newest, end, &unread, duration))
    }
}

impl Search {
    /// Returns the directory where the walk starts.
    fn root(&self, context: &DecisionContext) -> PathBuf {
        if self.fixed.starts_with('~') {
            absolute_path(&self.fixed, context)
        } else {
            let directory = path_or_current(self.path.as_deref(), context);
            normalise(&directory.join(&self.fixed))
        }
    }
}

fn check_directory(path: &Path) -> Result<(), ToolFailure> {
    let name = path.display();
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(ToolFailure(format!("Path is not a directory: {name}"))),
        Err(error) => Err(ToolFailure(format!(
            "Directory cannot be searched: {name}: {error}"
        ))),
    }
}

/// Splits a pattern after the last leading component without special characters. The rest is only empty if the
/// pattern ends with a slash.
fn split_pattern(pattern: &str) -> (&str, &str) {
    let special = pattern
        .find(['*', '?', '[', ']', '{', '}', '\\', '!'])
        .unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(slash) => (&pattern[..=slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

/// Returns the modification time of a regular file. Follows links.
fn modification_time(entry: &DirEntry) -> Option<SystemTime> {
    let metadata = std::fs::metadata(entry.path()).ok()?;
    metadata
        .is_file()
        .then(|| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH))
}

fn build_reply(
    newest: NewestFiles,
    end: SearchEnd,
    unread: &UnreadableFiles,
    duration: Duration,
) -> ToolReply {
    let count = newest.count();
    let filenames: Vec<String> = newest
        .into_paths()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let truncated = count > filenames.len() || end != SearchEnd::Complete;
    let mut text = if filenames.is_empty() {
        "No files found".to_owned()
    } else {
        filenames.join("\n")
    };
    if count > filenames.len() {
        text.push_str("\n(Results are truncated. Consider using a more specific path or pattern.)");
    }
    if let Some(note) = unread.describe() {
        text = format!("{text}\n{note}");
    }
    let status = match end {
        SearchEnd::Complete => CallStatus::Ok,
        SearchEnd::Cancelled => {
            text.push_str("\n(The search was cancelled; there may be more files.)");
            CallStatus::Cancelled
        }
        SearchEnd::TimedOut => {
            text.push_str("\n(The search was stopped after 20 seconds; there may be more files.)");
            CallStatus::TimedOut
        }
    };
    let mut structured = json!({
        "filenames": filenames,
        "durationMs": to_millis(duration),
        "numFiles": filenames.len(),
        "truncated": truncated,
    });
    if status == CallStatus::TimedOut {
        structured["timedOut"] = Value::Bool(true);
    }
    ToolReply::with_status(status, text, structured)
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
