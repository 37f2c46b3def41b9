//! The output side of a run: echoes input, writes records, keeps them out of open lines.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::call::{Call, CallStage};
use super::intake::Boundary;
use super::{Echo, Listener, Options};
use crate::assemble::RawReply;
use crate::io::{Clock, Ids};
use crate::jsonl::{Piece, WriteError, Writer};
use crate::message::{SessionId, ToolUseId};
use crate::process::Witnessed;
use crate::records::{
    ContentReplacementRecord, ControlResponse, ControlResponseRecord, HookStoppedRecord,
    HookStoppedSubtype, Lane, Persisted, Replacement, ResultMessage, SandboxReport, SideExtension,
    ToolProgressRecord, ToolResultBlock, ToolResultExtension, ToolResultRecord, TurnEndRecord,
    TurnEndSubtype, UsageRecord,
};

/// Writes everything a run writes.
pub(super) struct Emitter<Sink: Write> {
    writer: Writer<Sink>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    session: SessionId,
    echo: Echo,
    /// Own lines that wait for the end of a giant line.
    held: Vec<Value>,
    boundary: Boundary,
    /// What the next request of an API takes, if that is to be written and nothing else.
    api: Option<RawReply>,
    /// How the ids begin that calls got here.
    made_ids: String,
    /// Hears the conversation.
    listener: Option<Listener>,
    /// The results of the turn, which it hears at the end of it: not sooner or later as the calls are
    /// fast or slow.
    untold: Vec<String>,
}

impl<Sink: Write> Emitter<Sink> {
    pub(super) fn new(
        sink: Sink,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        session: SessionId,
        listener: Option<Listener>,
        options: &Options,
    ) -> Self {
        let writer = Writer::new(sink);
        Self {
            writer,
            clock,
            ids,
            session,
            echo: options.echo,
            held: Vec::new(),
            boundary: Boundary::Line,
            api: options.results.map(RawReply::of),
            made_ids: options.call_ids.clone(),
            listener,
            untold: Vec::new(),
        }
    }

    pub(super) fn set_session(&mut self, session: SessionId) {
        self.session = session;
    }

    pub(super) fn echo(&mut self, piece: &Piece, boundary: Boundary) -> Result<(), WriteError> {
        if let Some(listener) = &mut self.listener {
            for record in piece.records().0 {
                listener(record.text(piece.raw()));
            }
        }
        if let Some(api) = &mut self.api {
            piece.visit_records(|record| api.record(record));
            return Ok(());
        }
        if self.echo == Echo::Everything {
            self.writer.echo(piece.raw())?;
            self.boundary = boundary;
        }
        if self.boundary == Boundary::Line {
            for record in std::mem::take(&mut self.held) {
                self.writer.record(&record)?;
            }
        }
        Ok(())
    }

    /// The message of the model ends here.
    pub(super) fn end_reply(&mut self) -> Result<(), WriteError> {
        let reply = self.api.as_mut().map(RawReply::take_reply);
        self.messages(reply.filter(|_| self.echo == Echo::Everything))
    }

    fn messages(&mut self, messages: Option<Vec<Value>>) -> Result<(), WriteError> {
        let mut messages = messages.into_iter().flatten();
        messages.try_for_each(|message| self.writer.record(&message))
    }

    pub(super) fn flush(&mut self) -> Result<(), WriteError> {
        self.writer.flush()
    }

    pub(super) fn turn_end(&mut self, ids: Vec<ToolUseId>) -> Result<(), WriteError> {
        if let Some(listener) = &mut self.listener {
            self.untold.drain(..).for_each(|record| listener(&record));
        }
        let results = self.api.as_mut().map(RawReply::take_results);
        self.messages(results)?;
        self.write(TurnEndRecord {
            subtype: TurnEndSubtype::Only,
            tool_use_ids: ids,
            uuid: Some(self.uuid()),
            session_id: Some(self.session.clone()),
        })
    }

    /// The result of a call that is done.
    pub(super) fn result(&mut self, call: Call) -> Result<(), WriteError> {
        let CallStage::Done(completed) = call.stage else {
            return Ok(());
        };
        let is_error = completed.is_error();
        let turnpipe = ToolResultExtension {
            lane: Some(call.lane),
            batch: call.batch.map(|batch| batch.0),
            verdict: call.verdict,
            duration_ms: u64::try_from(completed.phases.run.as_millis()).unwrap_or(u64::MAX),
            permission: completed.permission,
            persisted: completed.persisted.map(|persisted| Persisted {
                path: persisted.path.display().to_string(),
                bytes: persisted.size,
            }),
            sandbox: completed.sandbox.map(sandbox_report),
            hooks: completed.hooks,
            ..ToolResultExtension::of(completed.outcome)
        };
        let stop = completed.stop.map(|reason| (call.id.clone(), reason));
        let result = ToolResultBlock {
            tool_use_id: call.id,
            content: completed.content,
            is_error,
        };
        if self.listener.is_some() {
            let message = ResultMessage::new(result.clone());
            let record = json!({"type": "user", "message": message});
            self.untold.push(record.to_string());
        }
        if let Some(api) = &mut self.api {
            let has_id = !result.tool_use_id.as_str().starts_with(&self.made_ids);
            api.result(call.name, has_id, result.into());
            return Ok(());
        }
        let message = ResultMessage::new(result);
        let record = ToolResultRecord {
            message,
            parent_tool_use_id: None,
            tool_use_result: completed.structured,
            turnpipe,
            uuid: self.uuid(),
            session_id: self.session.clone(),
            timestamp: self.timestamp(),
        };
        self.write(record)?;
        if let Some((id, reason)) = stop {
            self.write(HookStoppedRecord {
                subtype: HookStoppedSubtype::Only,
                tool_use_id: Some(id),
                content: reason,
                uuid: self.uuid(),
                session_id: self.session.clone(),
            })?;
        }
        Ok(())
    }

    /// A call still runs.
    pub(super) fn heartbeat(&mut self, call: &Call, elapsed: Duration) -> Result<(), WriteError> {
        let record = ToolProgressRecord {
            tool_use_id: call.id.clone(),
            tool_name: call.name.clone(),
            parent_tool_use_id: None,
            elapsed_time_seconds: elapsed.as_secs_f64(),
            heartbeat: Some(true),
            note: None,
            uuid: Some(self.uuid()),
            session_id: Some(self.session.clone()),
        };
        self.write(record)
    }

    pub(super) fn content_replacement(
        &mut self,
        replacements: Vec<(ToolUseId, String)>,
    ) -> Result<(), WriteError> {
        let replacements = replacements
            .into_iter()
            .map(|(tool_use_id, replacement)| Replacement {
                tool_use_id,
                replacement,
            })
            .collect();
        let record = ContentReplacementRecord {
            session_id: self.session.clone(),
            replacements,
            uuid: self.uuid(),
            timestamp: self.timestamp(),
        };
        self.write(record)
    }

    pub(super) fn interrupt_received(&mut self, request_id: &str) -> Result<(), WriteError> {
        let request_id = request_id.to_owned();
        let response = ControlResponse::Success {
            request_id,
            response: None,
        };
        self.write(ControlResponseRecord { response })
    }

    /// A model was asked besides, at this cost.
    pub(super) fn spent(&mut self, cost: SideExtension) -> Result<(), WriteError> {
        let session = Some(self.session.clone());
        self.write(UsageRecord::new(self.uuid(), session, cost))
    }

    fn uuid(&self) -> String {
        self.ids.uuid().to_string()
    }

    fn timestamp(&self) -> String {
        format!("{:.3}", self.clock.now())
    }

    /// Writes an own record, or holds it until the line that is being echoed ends. For an API there
    /// are no such records.
    pub(super) fn write(&mut self, record: impl serde::Serialize) -> Result<(), WriteError> {
        if self.api.is_some() {
            return Ok(());
        }
        match self.boundary {
            Boundary::Line => self.writer.record(&record),
            Boundary::Inside => {
                self.held.push(serde_json::to_value(record)?);
                Ok(())
            }
        }
    }
}

fn sandbox_report(witnessed: Witnessed) -> SandboxReport {
    let confinement = witnessed.confinement;
    SandboxReport {
        enforced: confinement.is_complete(),
        by: confinement
            .missing
            .or_else(|| Some("landlock, seccomp".to_owned())),
        landlock_abi: confinement.landlock_abi,
        seccomp: confinement.seccomp,
        reclassify: witnessed.looks_denied.then_some(Lane::Serial),
    }
}
