//! `LS`: lists a directory.

use std::fs::DirEntry;
use std::path::Path;

use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::regular_file::check_not_process_file;
use super::walk::SmallestItems;
use crate::run::tools::builtin::Parameters;
use crate::run::tools::paths::absolute_path;
use crate::run::tools::{
    Assessment, CallContext, CallStatus, DecisionContext, InvalidInput, PreparedCall, ToolFailure,
    ToolReply,
};

/// Maximum number of entries in a result.
const MAX_ENTRIES: usize = 1000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::run::tools) struct Ls {
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
    fn assess(&self, context: &DecisionContext) -> Assessment {
        Assessment::reads(Ls::NAME, absolute_path(&self.path, context))
    }

    fn run(&self, call: &CallContext<'_>) -> Result<ToolReply, ToolFailure> {
        let path = absolute_path(&self.path, call.session);
        check_not_process_file(&path)?;
        let to_failure =
            |error| ToolFailure(format!("{} cannot be listed: {error}", path.display()));
        let mut entries = SmallestItems::new(MAX_ENTRIES);
        let mut status = CallStatus::Ok;
        for entry in std::fs::read_dir(&path).map_err(to_failure)? {
            if call.cancel.is_cancelled() {
                status = CallStatus::Cancelled;
                break;
            }
            let entry = entry.map_err(to_failure)?;
            if !self.ignored.is_match(entry.file_name()) && !self.ignored.is_match(entry.path()) {
                entries.add(display_name(&entry));
            }
        }
        let text = format_listing(entries, &path, status);
        Ok(ToolReply::with_status(
            status,
            text.clone(),
            Value::String(text),
        ))
    }
}

/// Returns the entry's name, with a slash if it is a directory or a link to one.
fn display_name(entry: &DirEntry) -> String {
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

fn format_listing(entries: SmallestItems<String>, path: &Path, status: CallStatus) -> String {
    let path = path.display().to_string();
    let count = entries.count();
    let mut lines = vec![format!("- {}/", path.trim_end_matches('/'))];
    let names = entries.into_sorted().into_iter();
    lines.extend(names.map(|name| format!("  - {name}")));
    if count == 0 {
        lines.push("(no entries)".to_owned());
    } else if count > MAX_ENTRIES {
        lines.push(format!(
            "(Only the first {MAX_ENTRIES} of {count} entries are shown. Use Glob with a pattern \
             to find others.)"
        ));
    }
    if status == CallStatus::Cancelled {
        lines.push("(The listing was cancelled; there may be more entries.)".to_owned());
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;
    use crate::run::tools::test_context::Session;

    #[test]
    fn entries_are_sorted_and_marked() {
        let session = Session::new();
        session.write("d/sub/x", "");
        session.write("d/b", "");
        session.write("d/.a", "");
        session.write("d/skip.log", "");
        session.write("d/target/y", "");
        symlink("sub", session.path("d/to-sub")).unwrap();
        symlink("gone", session.path("d/to-nothing")).unwrap();
        let input = json!({ "path": session.name("d"), "ignore": ["*.log", "target/"] });
        let (text, structured) = session.ok::<Ls>(input);
        let expected = format!(
            "- {}/\n  - .a\n  - b\n  - sub/\n  - to-nothing\n  - to-sub/\n",
            session.name("d")
        );
        assert_eq!(text, expected);
        assert_eq!(structured, Value::String(expected));
    }

    #[test]
    fn a_list_is_bounded() {
        let session = Session::new();
        for number in 0..1005 {
            session.write(&format!("f{number:04}"), "");
        }
        let (text, _) = session.ok::<Ls>(json!({ "path": "." }));
        assert!(
            text.contains("  - f0999\n(Only the first 1000 of 1005 entries are shown."),
            "{text}"
        );
    }

    #[test]
    fn empty_and_missing_directories_are_reported() {
        let session = Session::new();
        let (text, _) = session.ok::<Ls>(json!({ "path": session.name("") }));
        assert!(text.ends_with("/\n(no entries)\n"), "{text}");
        session.write("file", "");
        for name in ["gone", "file"] {
            let failure = session.failure::<Ls>(json!({ "path": session.name(name) }));
            assert!(failure.contains("cannot be listed"), "{failure}");
        }
        let failure = session.failure::<Ls>(json!({ "path": "/", "ignore": ["{"] }));
        assert!(
            failure.starts_with("validation: invalid glob pattern"),
            "{failure}"
        );
    }

    #[test]
    fn a_cancelled_listing_is_reported() {
        let session = Session::new();
        session.write("a", "");
        session.cancel.cancel();
        let reply = session.call::<Ls>(json!({ "path": "." })).unwrap();
        assert_eq!(reply.status, CallStatus::Cancelled);
    }
}
