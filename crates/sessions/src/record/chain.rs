//! The chain of records in a transcript: each names its parent.

use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use serde_json::Value;

use crate::durable::{LockedFile, RecordError};
use turnpipe_formats::agent::Format;
use turnpipe_formats::assemble::Event;

/// The end of the live conversation in a file. Each record names its parent.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    /// The id of the last record.
    pub(super) leaf: Option<String>,
}

impl Chain {
    /// Follows a line of the file.
    pub(super) fn follow(&mut self, format: &Format, line: &str) {
        if let Some(leaf) = (format.reading.read_link)(line) {
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
        let to_error = |error: io::Error| file.error(error);
        reader.seek(SeekFrom::Start(at)).map_err(to_error)?;
        while reader.read_until(b'\n', &mut line).map_err(to_error)? > 0 && line.ends_with(b"\n") {
            at += line.len() as u64;
            self.follow(format, &String::from_utf8_lossy(&line));
            line.clear();
        }
        Ok(at)
    }
}

/// The state of a turn at the end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continuation {
    /// There are results that the model must see.
    Continue,
    /// No calls were made: the turn is over.
    Over,
    /// A hook, a limit or an interrupt ended the turn.
    Stopped,
}

/// Observes a stream and decides whether the turn continues.
#[derive(Debug, Default)]
pub(super) struct TurnWatch {
    records: usize,
    calls: usize,
    results: usize,
    is_stopped: bool,
    /// Whether a hook asked the model to continue, and it has not yet.
    is_asked: bool,
}

impl TurnWatch {
    /// Observes an event of the stream.
    pub(super) fn observe_event(&mut self, event: &Event) {
        match event {
            Event::Call(_) => self.calls += 1,
            Event::Result(_) => self.results += 1,
            Event::Interrupt { .. } => self.is_stopped = true,
            _ => {}
        }
    }

    /// Observes a record of the stream.
    pub(super) fn observe_record(&mut self, record: &Value) {
        self.records += 1;
        let text = |name: &str| record.get(name).and_then(Value::as_str);
        let is_interrupted = record["turnpipe"]["outcome"] == "interrupted";
        let is_hook_stop = text("subtype") == Some("hook_stopped_continuation");
        let is_failed = text("type") == Some("result") && record["is_error"] == Value::Bool(true);
        self.is_stopped |= is_interrupted || is_hook_stop || is_failed;
        self.is_asked &= text("type") != Some("assistant");
        self.is_asked |= text("type") == Some("user") && record["turnpipe"]["origin"] == "injected";
    }

    /// Returns the decision at the end of the stream.
    pub(super) fn continuation(&self) -> Continuation {
        match (self.is_stopped, self.calls, self.results) {
            (true, _, _) => Continuation::Stopped,
            // The request to the model failed before it wrote a record.
            _ if self.records == 0 => Continuation::Stopped,
            (false, 0, 0) if !self.is_asked => Continuation::Over,
            // A call without a result would make the next request invalid.
            (false, calls, results) if results < calls => Continuation::Stopped,
            (false, _, _) => Continuation::Continue,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnpipe_formats::agent::own_format;
    use turnpipe_formats::assemble::Decoder;

    fn continuation(lines: &[&str]) -> Continuation {
        let (mut watch, mut decoder) = (TurnWatch::default(), Decoder::with_detection());
        for line in lines {
            decoder
                .record(line)
                .iter()
                .for_each(|event| watch.observe_event(event));
            watch.observe_record(&serde_json::from_str(line).unwrap());
        }
        decoder
            .finish()
            .iter()
            .for_each(|event| watch.observe_event(event));
        watch.continuation()
    }

    const CALL: &str = r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}"#;
    const TEXT: &str = r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"done"}]}}"#;
    const RESULT: &str = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}}"#;

    #[test]
    fn results_continue_the_turn() {
        assert_eq!(continuation(&[CALL, RESULT]), Continuation::Continue);
        assert_eq!(continuation(&[TEXT]), Continuation::Over);
        assert_eq!(continuation(&[CALL]), Continuation::Stopped);
        assert_eq!(continuation(&[]), Continuation::Stopped);
    }

    #[test]
    fn hooks_and_interrupts_stop() {
        let hook = r#"{"type":"system","subtype":"hook_stopped_continuation"}"#;
        assert_eq!(continuation(&[CALL, RESULT, hook]), Continuation::Stopped);
        let interrupted = RESULT.replace(
            "\"message\"",
            "\"turnpipe\":{\"v\":1,\"outcome\":\"interrupted\"},\"message\"",
        );
        assert_eq!(continuation(&[CALL, &interrupted]), Continuation::Stopped);
    }

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
