//! Limits on results: saved files and their previews, the budget of a turn with stable replacements,
//! references to repeated results (`docs/records.md`, Large results).
//!
//! Decisions are final: a result that was sent in full is not replaced later, and the replacement of a result
//! never changes, so that prompt caches stay valid.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::message::ToolUseId;
use crate::state::{RESULTS, SessionDirectory, StateError, safe_file_name};
use crate::text::{
    Sha256Writer, byte_size, byte_size_trimmed, sha256, truncate_utf16, utf16_length,
};
use crate::tools::ResultLimit;

/// Maximum length of a preview, in UTF-16 units.
const MAX_PREVIEW: usize = 2000;

/// Maximum length of a text that replaces a result, in UTF-16 units: a preview, its frame, and a path of usual length.
pub const MAX_REPLACEMENT: usize = MAX_PREVIEW + 500;

/// The file with the full text of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Persisted {
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

impl Persisted {
    /// Returns the text that is sent instead of the saved text.
    pub fn replacement(&self, text: &str) -> String {
        format!(
            "<persisted-output>\nOutput too large ({}). Full output saved to: {}\n\nPreview (first \
             {}):\n{}\n...\n</persisted-output>",
            byte_size(self.size),
            self.path.display(),
            byte_size_trimmed(MAX_PREVIEW as u64),
            preview(text),
        )
    }
}

/// Writes the text of one result to `tool-results/<id>.txt` (mode 0600) below the directory of its session,
/// or to `tool-results/<id>-<digest>.txt` if that file has another text. An existing file is kept: the same
/// id and text always have the same path. Links are not followed.
///
/// # Errors
/// The file could not be written completely. It is removed.
pub fn persist(
    session: &SessionDirectory,
    id: &ToolUseId,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<Persisted, StateError> {
    let directory = session.subdirectory(RESULTS)?;
    let name = safe_file_name(id.as_str());
    let path = directory.join(format!("{name}.txt"));
    let exists = |file: &io::Result<File>| {
        file.as_ref()
            .is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
    };
    let file = create_exclusively(&path);
    if !exists(&file) {
        return write(file, path, content);
    }
    let mut hasher = Sha256Writer::default();
    content(&mut hasher).map_err(StateError::io(&path))?;
    let digest = hasher.finish();
    let earlier = existing(&path)?;
    if digest_of(&path).map_err(StateError::io(&path))? == digest {
        return Ok(earlier);
    }
    let path = directory.join(format!("{name}-{digest}.txt"));
    let file = create_exclusively(&path);
    if exists(&file) {
        return existing(&path);
    }
    write(file, path, content)
}

/// Writes a new file, or removes it on failure.
fn write(
    file: io::Result<File>,
    path: PathBuf,
    mut content: impl FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<Persisted, StateError> {
    let mut writer = BufWriter::new(file.map_err(StateError::io(&path))?);
    let written = content(&mut writer)
        .and_then(|()| writer.flush())
        .and_then(|()| writer.get_ref().metadata());
    match written {
        Ok(metadata) => Ok(Persisted {
            path,
            size: metadata.len(),
        }),
        Err(source) => {
            // A later process would mistake a partial file for the whole result.
            let _ = std::fs::remove_file(&path);
            Err(StateError::Io { path, source })
        }
    }
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256Writer::default();
    io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hasher.finish())
}

fn existing(path: &Path) -> Result<Persisted, StateError> {
    let metadata = std::fs::symlink_metadata(path).map_err(StateError::io(path))?;
    if !metadata.is_file() {
        let source = io::Error::other("exists and is not a regular file");
        return Err(StateError::io(path)(source));
    }
    Ok(Persisted {
        path: path.to_owned(),
        size: metadata.len(),
    })
}

fn create_exclusively(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}

/// Returns the first [`MAX_PREVIEW`] units, cut at the last line feed if that is in the second half.
/// Surrogate pairs are not split.
fn preview(text: &str) -> &str {
    let head = truncate_utf16(text, MAX_PREVIEW);
    let half = truncate_utf16(text, MAX_PREVIEW / 2).len();
    match head.rfind('\n') {
        Some(line_feed) if head.len() < text.len() && line_feed >= half => &head[..line_feed],
        _ => head,
    }
}

/// Maximum number of files that a hint names.
const MAX_NAMED: usize = 10;

/// Returns the text for an empty result, after which a model might end its turn.
pub fn empty_result(tool: &str) -> String {
    format!("({tool} completed with no output)")
}

/// Formats an error that does not come from the tool itself.
pub fn tool_use_error(message: &str) -> String {
    format!("<tool_use_error>{message}</tool_use_error>")
}

/// Returns a hint for the model that a call changed files that it has read. `before` and `after` are the
/// stale files before and after the call. `None` if the call changed none.
pub fn stale_read_hint(before: &[PathBuf], after: &[PathBuf]) -> Option<String> {
    let changed: Vec<String> = after
        .iter()
        .filter(|path| !before.contains(path))
        .map(|path| path.display().to_string())
        .collect();
    if changed.is_empty() {
        return None;
    }
    let named = changed[..changed.len().min(MAX_NAMED)].join(", ");
    let more = match changed.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "This call changed files that were read before: {named}{more}. Read them again before relying on their content."
    ))
}

/// Maximum length of all results of a turn, in UTF-16 units.
pub const TURN_BUDGET: usize = 200_000;

/// A result to decide on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetCandidate {
    /// The call and its text, as in [`decision_key`].
    pub key: String,
    /// Length in UTF-16 units.
    pub units: usize,
    /// Whether it may be replaced: `false` if its tool declares no limit, or if it was replaced.
    pub replaceable: bool,
}

/// Returns the key of a decision. It contains the text, since ids may repeat.
pub fn decision_key(id: &ToolUseId, text: &str) -> String {
    format!("{id}-{}", sha256(text))
}

/// The decision on one result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetAction {
    /// Send it in full.
    Keep,
    /// Send the replacement of an earlier decision, byte for byte.
    Reapply(String),
    /// Create and send a replacement.
    Replace,
}

/// Decides on the results of one turn, in their order. `log` contains the earlier decisions: the replacement,
/// or `None` for a result that was sent in full. A replacement has at most `replacement_units`.
pub fn decide(
    candidates: &[BudgetCandidate],
    log: &BTreeMap<String, Option<String>>,
    budget: usize,
    replacement_units: usize,
) -> Vec<BudgetAction> {
    let mut actions: Vec<BudgetAction> = candidates
        .iter()
        .map(|candidate| match log.get(&candidate.key) {
            Some(Some(text)) => BudgetAction::Reapply(text.clone()),
            Some(None) | None => BudgetAction::Keep,
        })
        .collect();
    let mut total: usize = actions
        .iter()
        .zip(candidates)
        .map(|(action, candidate)| match action {
            BudgetAction::Reapply(text) => utf16_length(text),
            BudgetAction::Keep | BudgetAction::Replace => candidate.units,
        })
        .sum();
    let is_fresh = |candidate: &BudgetCandidate| {
        candidate.replaceable
            && candidate.units > replacement_units
            && !log.contains_key(&candidate.key)
    };
    let mut fresh: Vec<usize> = (0..candidates.len())
        .filter(|position| is_fresh(&candidates[*position]))
        .collect();
    // Largest first, in order among equals: the choice depends only on the input.
    fresh.sort_by_key(|position| (std::cmp::Reverse(candidates[*position].units), *position));
    for position in fresh {
        if total <= budget {
            break;
        }
        total -= candidates[position].units - replacement_units;
        actions[position] = BudgetAction::Replace;
    }
    actions
}

/// Maximum length of a result sent in full, unless a tool or the configuration sets another limit, in UTF-16 units.
pub const DEFAULT_LIMIT: usize = 50_000;

/// Limits of the configuration for single tools, by name, in UTF-16 units. They override the limit that the
/// tool declares; `None` means no limit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolLimits(pub BTreeMap<String, Option<usize>>);

impl ToolLimits {
    /// Returns the limit of a tool: the configured one, else the declared one, which is at most [`DEFAULT_LIMIT`]
    /// unless the tool raises it.
    pub fn of(&self, tool: &str, declared: ResultLimit) -> Option<usize> {
        if let Some(limit) = self.0.get(tool) {
            return *limit;
        }
        match declared {
            ResultLimit::Unlimited => None,
            ResultLimit::Default => Some(DEFAULT_LIMIT),
            ResultLimit::Characters(units) => Some(units.min(DEFAULT_LIMIT)),
            ResultLimit::Raised(units) => Some(units),
        }
    }
}

/// Minimum length of a result that a reference replaces, in bytes.
const MIN_LENGTH: usize = 400;
/// Maximum number of remembered results.
const MAX_REMEMBERED: usize = 4096;

/// The results so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeenResults {
    /// The call of each result, by the digest of the result.
    pub results: BTreeMap<String, String>,
}

impl SeenResults {
    /// Remembers a result. Returns a reference to an earlier call if the same tool gave the same text.
    pub fn reference(&mut self, tool: &str, id: &ToolUseId, text: &str) -> Option<String> {
        let key = key(tool, text);
        // Ids may repeat: an id that now has another result is no longer referred to.
        self.results
            .retain(|known, earlier| earlier != id.as_str() || *known == key);
        if text.len() < MIN_LENGTH {
            return None;
        }
        if let Some(earlier) = self.results.get(&key)
            && earlier != id.as_str()
        {
            return Some(match tool {
                "Read" => format!(
                    "The file is unchanged: its text is in the result of the earlier call {earlier}."
                ),
                _ => format!("The same output as the earlier call {earlier}; see its result."),
            });
        }
        if self.results.len() < MAX_REMEMBERED {
            self.results.insert(key, id.0.clone());
        }
        None
    }
}

/// Returns the tool and the digest of the text. It is saved, so later versions must compute the same.
fn key(tool: &str, text: &str) -> String {
    format!("{tool}-{}", sha256(text))
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;

#[cfg(test)]
mod text_tests {
    use super::*;

    #[test]
    fn only_newly_changed_files_are_named() {
        let before = [PathBuf::from("/old")];
        assert_eq!(stale_read_hint(&before, &before), None);
        let after = [PathBuf::from("/new"), PathBuf::from("/old")];
        let hint = stale_read_hint(&before, &after).unwrap();
        assert!(hint.contains("/new") && !hint.contains("/old"), "{hint}");
    }
}
