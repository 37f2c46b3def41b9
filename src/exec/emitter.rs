//! The output side of a run: echoes input, writes records, keeps them out of open lines.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::Echo;
use super::call::{Call, CallStage};
use super::intake::Boundary;
use super::plan::PlannedBatch;
use crate::io::{Clock, Ids};
use crate::jsonl::{WriteError, Writer};
use crate::tools::Content;
use crate::wire::{SessionId, ToolUseId};

/// Writes everything a run writes.
pub(super) struct Emitter<Sink: Write> {
    writer: Writer<Sink>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    session: SessionId,
    echo: Echo,
    /// Records that wait for the end of a giant line.
    held: Vec<Value>,
    boundary: Boundary,
}

/// What a progress record says.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProgressKind<'a> {
    /// The call still runs.
    Heartbeat,
    /// The tool says something.
    Note(&'a str),
}

impl<Sink: Write> Emitter<Sink> {
    pub(super) fn new(
        sink: Sink,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        session: SessionId,
        echo: Echo,
    ) -> Self {
        let writer = Writer::new(sink);
        Self {
            writer,
            clock,
            ids,
            session,
            echo,
            held: Vec::new(),
            boundary: Boundary::Line,
        }
    }

    pub(super) fn set_session(&mut self, session: SessionId) {
        self.session = session;
    }

    pub(super) fn echo(&mut self, raw: &[u8], boundary: Boundary) -> Result<(), WriteError> {
        if self.echo == Echo::Everything {
            self.writer.echo(raw)?;
            self.boundary = boundary;
        }
        if self.boundary == Boundary::Line {
            for record in std::mem::take(&mut self.held) {
                self.writer.record(&record)?;
            }
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }

    pub(super) fn executor(&mut self) -> Result<(), WriteError> {
        self.write(json!({"type": "system", "subtype": "executor", "turnpipe": {"v": 1}}))
    }

    pub(super) fn turn_end(&mut self, ids: &[ToolUseId]) -> Result<(), WriteError> {
        self.write(json!({"type": "system", "subtype": "turn_end", "tool_use_ids": ids}))
    }

    pub(super) fn plan(&mut self, batch: &PlannedBatch) -> Result<(), WriteError> {
        self.write(json!({"type": "system", "subtype": "plan", "batch": batch.number}))
    }

    pub(super) fn result(&mut self, call: &Call) -> Result<(), WriteError> {
        let CallStage::Done(completed) = &call.stage else {
            return Ok(());
        };
        let content = match &completed.content {
            Content::Text(text) => json!(text),
            Content::Image { .. } => json!([]),
        };
        self.write(json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id,
                "content": content, "is_error": completed.is_error()}]},
            "tool_use_result": completed.structured,
            "turnpipe": {"v": 1, "outcome": completed.outcome},
        }))
    }

    pub(super) fn progress(
        &mut self,
        call: &Call,
        elapsed: Duration,
        kind: ProgressKind<'_>,
    ) -> Result<(), WriteError> {
        let _ = kind;
        self.write(json!({"type": "tool_progress", "tool_use_id": call.id, "elapsed_time_seconds": elapsed.as_secs()}))
    }

    pub(super) fn content_replacement(
        &mut self,
        replacements: &[(ToolUseId, String)],
    ) -> Result<(), WriteError> {
        let _ = (replacements, &self.clock, &self.ids);
        Ok(())
    }

    pub(super) fn interrupt_received(&mut self, request_id: &str) -> Result<(), WriteError> {
        let _ = request_id;
        Ok(())
    }

    fn write(&mut self, record: Value) -> Result<(), WriteError> {
        match self.boundary {
            Boundary::Line => self.writer.record(&record),
            Boundary::Inside => {
                self.held.push(record);
                Ok(())
            }
        }
    }
}
