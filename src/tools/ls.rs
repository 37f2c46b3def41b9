//! `LS`: the entries of one directory.

use std::collections::BinaryHeap;
use std::fs::DirEntry;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::builtin::Parameters;
use super::{
    Assessment, CallContext, CallStatus, InvalidInput, PreparedCall, ToolContext, ToolFailure,
    ToolReply, paths,
};

/// The most entries in a result.
const MOST_ENTRIES: usize = 1000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ls {
    /// Absolute path of the directory to list
    #[schemars(length(min = 1))]
    path: String,
    /// Glob patterns of names to leave out
    ignore: Option<Vec<String>>,
}

impl Parameters for Ls {
    const NAME: &'static str = "LS";
    const DESCRIPTION: &'static str = "Lists the entries of a directory, sorted by name, \
        directories with a slash at the end, at most 1000. To find files, use Glob or Grep.";

    fn prepare(self) -> Result<Box<dyn PreparedCall>, InvalidInput> {
        let invalid = |error| InvalidInput(format!("invalid glob pattern: {error}"));
        let mut ignored = GlobSetBuilder::new();
        for glob in self.ignore.iter().flatten() {
            ignored.add(Glob::new(glob.trim_end_matches('/')).map_err(invalid)?);
        }
        Ok(Box::new(ListDirectory {
            path: self.path,
            ignored: ignored.build().map_err(invalid)?,
        }))
    }
}

struct ListDirectory {
    path: String,
    ignored: GlobSet,
}

impl PreparedCall for ListDirectory {
    fn assess(&self, context: &ToolContext) -> Assessment {
        Assessment::of(
            Ls::NAME,
            paths::reading(&paths::absolute(&self.path, context)),
        )
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let path = paths::absolute(&self.path, call.session);
        let failed = |error| ToolFailure(format!("{} cannot be listed: {error}", path.display()));
        let mut listing = Listing::default();
        let mut status = CallStatus::Ok;
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            if call.cancel.is_cancelled() {
                status = CallStatus::Cancelled;
                break;
            }
            let entry = entry.map_err(failed)?;
            if !self.ignored.is_match(entry.file_name()) && !self.ignored.is_match(entry.path()) {
                listing.add(shown(&entry));
            }
        }
        let text = listing.into_text(&path, status);
        Ok(ToolReply {
            status,
            ..ToolReply::text(text.clone(), Value::String(text))
        })
    }
}

/// The entry's name; with a slash if it is a directory or a link to one.
fn shown(entry: &DirEntry) -> String {
    let mut name = entry.file_name().to_string_lossy().into_owned();
    let is_directory = match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry.path().is_dir(),
        Ok(kind) => kind.is_dir(),
        Err(_) => false,
    };
    if is_directory {
        name.push('/');
    }
    name
}

/// The first entries in the order of names; the rest is only counted.
#[derive(Debug, Default)]
struct Listing {
    first: BinaryHeap<String>,
    seen: usize,
}

impl Listing {
    fn add(&mut self, name: String) {
        self.seen += 1;
        self.first.push(name);
        if self.first.len() > MOST_ENTRIES {
            self.first.pop();
        }
    }

    fn into_text(self, path: &Path, status: CallStatus) -> String {
        let path = path.display().to_string();
        let mut text = format!("- {}/\n", path.trim_end_matches('/'));
        for name in self.first.into_sorted_vec() {
            text.push_str("  - ");
            text.push_str(&name);
            text.push('\n');
        }
        if self.seen == 0 {
            text.push_str("(no entries)\n");
        } else if self.seen > MOST_ENTRIES {
            text = format!(
                "{text}(Only the first {MOST_ENTRIES} of {} entries are shown. Use Glob with a \
                 pattern to find others.)\n",
                self.seen
            );
        }
        if status == CallStatus::Cancelled {
            text.push_str("(The listing was cancelled; there may be more entries.)\n");
        }
        text
    }
}

#[cfg(test)]
#[path = "ls_tests.rs"]
mod tests;
