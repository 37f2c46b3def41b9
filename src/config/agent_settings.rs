//! Parser for the `settings.json` of agents, which may contain comments.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::file::ConfigError;

pub(super) fn read_agent_settings<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&blank_comments(&text)).map_err(|error| ConfigError::Invalid {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Replaces comments with spaces, so that errors have the right line and column.
fn blank_comments(text: &str) -> String {
    let mut blanked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['"', '/']) {
        let (before, found) = rest.split_at(start);
        let block = found.strip_prefix("/*").and_then(|body| body.find("*/"));
        let (length, is_comment) = if found.starts_with("//") {
            (found.find('\n').unwrap_or(found.len()), true)
        } else if let Some(end) = block {
            (end + "/**/".len(), true)
        } else if found.starts_with('"') {
            (string_length(found), false)
        } else {
            (1, false)
        };
        let (part, after) = found.split_at(length);
        blanked.push_str(before);
        if is_comment {
            let spaces = part
                .bytes()
                .map(|byte| if byte == b'\n' { '\n' } else { ' ' });
            blanked.extend(spaces);
        } else {
            blanked.push_str(part);
        }
        rest = after;
    }
    blanked + rest
}

/// Returns the length of the string at the start of a text, with its quotes.
fn string_length(text: &str) -> usize {
    // The opening quote does not end it.
    let mut is_escaped = true;
    let end = text.find(|character| {
        let ends = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}
