//! The chain of records in a transcript: each names its parent.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use crate::agent::Format;
use crate::session::durable::{LockedFile, RecordError};

/// The end of the live conversation in a file. Each record names its parent.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    /// The id of the last record.
    pub(super) leaf: Option<String>,
}

impl Chain {
    /// Follows a line of the file.
    pub(super) fn follow(&mut self, format: &Format, line: &str) {
        if let Some(leaf) = (format.link)(line) {
            self.leaf = Some(leaf);
        }
    }

    /// Follows the complete lines of a file from `offset` on. Returns the offset after the last one.
    ///
    /// # Errors
    /// Reading failed.
    pub(super) fn follow_file(
        &mut self,
        format: &Format,
        file: &LockedFile,
        offset: u64,
    ) -> Result<u64, RecordError> {
        let mut reader = BufReader::with_capacity(64 * 1024, file.file());
        let mut line = Vec::new();
        let mut at = offset;
        let failed = |error: io::Error| file.error(error);
        reader.seek(SeekFrom::Start(at)).map_err(failed)?;
        while reader.read_until(b'\n', &mut line).map_err(failed)? > 0 && line.ends_with(b"\n") {
            at += line.len() as u64;
            self.follow(format, &String::from_utf8_lossy(&line));
            line.clear();
        }
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::own_format;

    #[test]
    fn the_leaf_is_the_last_message_of_the_main_conversation() {
        let mut chain = Chain::default();
        for line in [
            r#"{"type":"user","parentUuid":null,"uuid":"a","sessionId":"s"}"#,
            r#"{"type":"assistant","parentUuid":"a","uuid":"b","sessionId":"s"}"#,
            r#"{"type":"ai-title","aiTitle":"x","sessionId":"s"}"#,
            r#"{"type":"tool_use_summary","summary":"x","uuid":"z"}"#,
            r#"{"type":"assistant","parentUuid":"b","uuid":"side","isSidechain":true}"#,
            "{torn",
        ] {
            chain.follow(own_format(), line);
        }
        assert_eq!(chain.leaf.as_deref(), Some("b"));
    }
}
