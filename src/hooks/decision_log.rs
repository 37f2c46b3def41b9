//! The log of decisions: one record per line, appended by any number of processes at once.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use serde_json::Value;

use crate::jsonl::{append_record, read_at};
use crate::records::HookDecisionRecord;
use crate::text::{fitted, redact_strings};

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
    for text in value.as_object_mut().into_iter().flatten() {
        if let (_, Value::String(text)) = text {
            *text = fitted(text, MAX_TEXT);
        }
    }
    // A named pipe without a reader must not delay the agent.
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let mut file = options.open(path)?;
    let mut line = Vec::new();
    if ends_within_line(&file)? {
        line.push(b'\n');
    }
    append_record(&mut line, &value)?;
    // A single write: the system never mixes it with those of other processes.
    match file.write(&line)? {
        written if written == line.len() => Ok(()),
        _ => Err(io::ErrorKind::StorageFull.into()),
    }
}

/// Whether a full disk cut off the last record.
fn ends_within_line(file: &File) -> io::Result<bool> {
    let metadata = file.metadata()?;
    let mut last = [b'\n'];
    if metadata.is_file() && metadata.len() > 0 {
        read_at(file, &mut last, metadata.len() - 1)?;
    }
    Ok(last != [b'\n'])
}
