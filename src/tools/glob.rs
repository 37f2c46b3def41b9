//! `Glob`: files by name pattern, newest first.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use globset::{GlobBuilder, GlobMatcher};
use ignore::DirEntry;
use serde::Deserialize;
use serde_json::{Value, json};

use super::newest::Newest;
use super::walk::{self, Budget, Filters, SearchEnd, Stopped};
use super::{
    Access, AccessError, CallContext, CallStatus, Input, InvalidInput, ResultLimit, Tool,
    ToolContext, ToolFailure, ToolReply, arguments, paths,
};

/// The most files in a result.
const MOST_FILES: usize = 100;

const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Finds files.
#[derive(Debug)]
pub struct Glob;

#[derive(Debug, Deserialize)]
struct Arguments {
    pattern: String,
    path: Option<String>,
}

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "minLength": 1,
                "description": "Glob pattern, e.g. **/*.rs or src/**/*.{ts,tsx}",
            },
            "path": {
                "type": "string",
                "minLength": 1,
                "description": "Directory to search; the working directory if left out",
            },
        },
        "required": ["pattern"],
        "additionalProperties": false,
    })
});

impl Tool for Glob {
    fn name(&self) -> &'static str {
        "Glob"
    }

    fn description(&self) -> &'static str {
        "Finds files whose path matches a glob pattern (* and ? within a path part, ** across \
         parts, [...] and {a,b}), newest first, at most 100. Files that .gitignore names are left \
         out; hidden files are not."
    }

    fn input_schema(&self) -> &Value {
        &SCHEMA
    }

    fn access(&self, input: &Input, context: &ToolContext) -> Result<Access, AccessError> {
        let search = Search::new(input, context)?;
        paths::reading(&search.root)
    }

    fn result_limit(&self) -> ResultLimit {
        ResultLimit::Characters(100_000)
    }

    fn validate(&self, input: &Input, context: &ToolContext) -> Result<(), InvalidInput> {
        Search::new(input, context).map(|_| ())
    }

    fn call(&self, input: &Input, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let started = call.session.clock.elapsed();
        let search = Search::new(input, call.session)?;
        search.check_given_directory()?;
        let mut found = Newest::new(MOST_FILES);
        let budget = Budget::new(call.cancel, TIME_LIMIT);
        let end = walk::walk(&search.root, Filters::none(), budget, &mut |entry| {
            if search.matches(entry.path())
                && let Some(modified) = modified(&entry)
            {
                found.add(entry.into_path(), modified);
            }
            ControlFlow::Continue(())
        });
        let took = call.session.clock.elapsed().saturating_sub(started);
        Ok(reply(found, end, took))
    }
}

/// What to look for and where.
struct Search {
    /// The directory that the call names.
    given: PathBuf,
    /// `given`, and on through the parts of the pattern that have nothing to match.
    root: PathBuf,
    /// The rest of the pattern.
    rest: GlobMatcher,
}

impl Search {
    fn new(input: &Input, context: &ToolContext) -> Result<Self, InvalidInput> {
        let arguments: Arguments = arguments::parse(input)?;
        let given = match &arguments.path {
            Some(path) => paths::absolute(path, context),
            None => context.directory.clone(),
        };
        let (fixed, rest) = split(&arguments.pattern);
        let rest = GlobBuilder::new(rest)
            .literal_separator(true)
            .build()
            .map_err(|error| InvalidInput(format!("invalid glob pattern: {error}")))?;
        let root = if fixed.starts_with('~') {
            paths::absolute(fixed, context)
        } else {
            paths::normalised(&given.join(fixed))
        };
        Ok(Self {
            given,
            root,
            rest: rest.compile_matcher(),
        })
    }

    fn check_given_directory(&self) -> Result<(), ToolFailure> {
        let given = self.given.display();
        match self.given.metadata() {
            Ok(metadata) if metadata.is_dir() => Ok(()),
            Ok(_) => Err(ToolFailure(format!("Path is not a directory: {given}"))),
            Err(error) => Err(ToolFailure(format!(
                "Directory cannot be searched: {given}: {error}"
            ))),
        }
    }

    fn matches(&self, path: &Path) -> bool {
        path.strip_prefix(&self.root)
            .is_ok_and(|below| self.rest.is_match(below))
    }
}

/// A pattern's leading parts without any special character, and the rest (never empty, unless the
/// pattern ends in a slash).
fn split(pattern: &str) -> (&str, &str) {
    let special = pattern
        .find(['*', '?', '[', ']', '{', '}', '\\', '!'])
        .unwrap_or(pattern.len());
    match pattern[..special].rfind('/') {
        Some(slash) => (&pattern[..=slash], &pattern[slash + 1..]),
        None => ("", pattern),
    }
}

/// When a regular file, or what a link leads to if that is one, was changed.
fn modified(entry: &DirEntry) -> Option<SystemTime> {
    let metadata = std::fs::metadata(entry.path()).ok()?;
    metadata
        .is_file()
        .then(|| metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH))
}

fn reply(found: Newest, end: SearchEnd, took: Duration) -> ToolReply {
    let seen = found.seen();
    let filenames: Vec<String> = found
        .into_paths()
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let truncated = seen > filenames.len() || end != SearchEnd::Complete;
    let mut text = if filenames.is_empty() {
        "No files found".to_owned()
    } else {
        filenames.join("\n")
    };
    if seen > filenames.len() {
        text.push_str("\n(Results are truncated. Consider using a more specific path or pattern.)");
    }
    let status = match end {
        SearchEnd::Complete => CallStatus::Ok,
        SearchEnd::Stopped(Stopped::Cancelled) => {
            text.push_str("\n(The search was cancelled; there may be more files.)");
            CallStatus::Cancelled
        }
        SearchEnd::Stopped(Stopped::TimedOut) => {
            text.push_str("\n(The search was stopped after 20 seconds; there may be more files.)");
            CallStatus::TimedOut
        }
    };
    let mut structured = json!({
        "filenames": filenames,
        "durationMs": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "numFiles": filenames.len(),
        "truncated": truncated,
    });
    if status == CallStatus::TimedOut {
        structured["timedOut"] = Value::Bool(true);
    }
    ToolReply {
        status,
        ..ToolReply::text(text, structured)
    }
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
