//! The log of decisions about calls of other agents.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::Value;

use crate::client::http::{Redaction, Secret};
use crate::io::open_regular;
use crate::jsonl::{FixedFile, Mapping, SearchControl, append_record, fill_at, search_backward};
use crate::message::Decision;
use crate::records::{HookDecisionRecord, serialize_name};
use crate::text::{fit_columns, redact_strings, secrets_in};

/// Maximum width of a text in the log, in columns.
const MAX_TEXT: usize = 2000;

/// Appends a record to a log, which is created with access for its owner only. Secrets are masked before long
/// texts are truncated.
///
/// # Errors
/// The log cannot be opened, or the record was not written in full.
pub fn log_decision(path: &Path, record: &HookDecisionRecord) -> io::Result<()> {
    let mut value = serde_json::to_value(record)?;
    redact_strings(&mut value);
    // Reasons and rules contain parts of the command, such as a single line of a key.
    let secrets = secrets_in(&record.about).into_iter().map(Secret::new);
    let redaction = Redaction::new(&secrets.collect::<Vec<_>>());
    let mut cleaned: Value = serde_json::from_str(&redaction.clean(&value.to_string()))?;
    for text in cleaned.as_object_mut().into_iter().flatten() {
        if let (_, Value::String(text)) = text {
            *text = fit_columns(text, MAX_TEXT);
        }
    }
    // A named pipe without a reader must not delay the agent.
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let mut file = options.open(path)?;
    // Another process may see only the first part of a record that is being written. A file system without
    // locks can yield an empty line.
    if file.metadata()?.is_file() {
        // Without a lock a line may be torn, which is better than none.
        let _ = file.lock();
    }
    let mut line = Vec::new();
    if is_last_line_open(&file)? {
        line.push(b'\n');
    }
    append_record(&mut line, &cleaned)?;
    // A single write: the system never mixes it with writes of other processes.
    match file.write(&line)? {
        written if written == line.len() => Ok(()),
        _ => Err(io::ErrorKind::StorageFull.into()),
    }
}

/// Whether a full disk cut off the last record.
fn is_last_line_open(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    let mut last = [b'\n'];
    if metadata.is_file() && metadata.len() > 0 {
        fill_at(file, &mut last, metadata.len() - 1)?;
    }
    Ok(last != [b'\n'])
}

/// Returns the last records of a log with one of these decisions, or with any if there are none, the newest first.
///
/// # Errors
/// The log cannot be read, or is not a regular file.
pub fn last_decisions(path: &Path, decisions: &[Decision], limit: usize) -> io::Result<Vec<Value>> {
    let file = open_regular(path, OpenOptions::new().read(true), OFlags::empty())?;
    let size = file.metadata()?.len();
    let mut found = Vec::new();
    let mut file = FixedFile::new(file, size, Mapping::Refused);
    search_backward(&mut file, &["\"hook_decision\""], &mut |hit| {
        // A damaged record has no decision.
        let record: Value = serde_json::from_slice(hit.line).unwrap_or_default();
        let mut names = decisions.iter().map(serialize_name);
        let is_wanted = decisions.is_empty() || names.any(|name| record["decision"] == *name);
        if record["type"] == "hook_decision" && is_wanted {
            found.push(record);
        }
        if found.len() == limit {
            return SearchControl::Stop;
        }
        SearchControl::Continue
    })?;
    Ok(found)
}
