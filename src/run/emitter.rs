//! Writes a run's output: the copy of the input, and its own records between lines.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::call::{FinishedCall, RunCall};
use super::intake::Boundary;
use super::session::{Echo, Listener, Options};
use crate::assemble::VerbatimReply;
use crate::io::{Clock, Ids, to_millis};
use crate::jsonl::{Piece, RecordWriter, WriteResult};
use crate::message::{SessionId, ToolUseId};
use crate::process::ConfinementReport;
use crate::records::{
    ContentReplacementRecord, ControlResponse, ControlResponseRecord, FileRulesReport,
    HookStoppedRecord, HookStoppedSubtype, Lane, PersistedOutput, Replacement, ResultMessage,
    SandboxReport, SideExtension, ToolProgressRecord, ToolResultBlock, ToolResultExtension,
    ToolResultRecord, TurnEndRecord, TurnEndSubtype, UsageRecord, Version, WorkspaceReport,
};

/// Writes the output of a run.
pub(super) struct Emitter {
    writer: RecordWriter,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    pub(super) session: SessionId,
    echo: Echo,
    /// Records that wait for the end of an open line.
    pending: Vec<Value>,
    boundary: Boundary,
    /// The messages of the next request, if they are written instead of records.
    api: Option<VerbatimReply>,
    /// Prefix of the ids of calls that have none.
    call_ids: String,
    listener: Option<Listener>,
    /// The results of the turn. The listener gets them at the end of the turn, so that their order does not depend on
    /// the speed of calls.
    unsent_results: Vec<String>,
}

impl Emitter {
    pub(super) fn new(
        writer: RecordWriter,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        session: SessionId,
        listener: Option<Listener>,
        options: &Options,
    ) -> Self {
        Self {
            writer,
            clock,
            ids,
            session,
            echo: options.echo,
            pending: Vec::new(),
            boundary: Boundary::Line,
            api: options.results_api.map(VerbatimReply::new),
            call_ids: options.call_id_prefix.clone(),
            listener,
            unsent_results: Vec::new(),
        }
    }

    pub(super) fn echo(&mut self, piece: &Piece, boundary: Boundary) -> WriteResult {
        if let Some(listener) = &mut self.listener {
            for record in piece.records().0 {
                listener(record.text(piece.raw()));
            }
        }
        if let Some(api) = &mut self.api {
            piece.visit_records(|record| api.push_record(record));
            return Ok(());
        }
        if self.echo == Echo::Everything {
            self.writer.echo(piece.raw())?;
            self.boundary = boundary;
        }
        if self.boundary == Boundary::Line {
            for record in std::mem::take(&mut self.pending) {
                self.writer.record(&record)?;
            }
        }
        Ok(())
    }

    /// Notes a call of the reply.
    pub(super) fn record_call(&mut self, id: &ToolUseId) {
        if let Some(api) = &mut self.api {
            api.push_call_id(id.clone());
        }
    }

    /// Ends the reply of the model.
    pub(super) fn end_reply(&mut self) -> WriteResult {
        let reply = self.api.as_mut().map(VerbatimReply::take_reply);
        self.write_messages(reply.filter(|_| self.echo == Echo::Everything))
    }

    fn write_messages(&mut self, messages: Option<Vec<Value>>) -> WriteResult {
        let mut messages = messages.into_iter().flatten();
        messages.try_for_each(|message| self.writer.record(&message))
    }

    pub(super) fn flush(&mut self) -> WriteResult {
        self.writer.flush()
    }

    pub(super) fn end_turn(&mut self, ids: Vec<ToolUseId>) -> WriteResult {
        if let Some(listener) = &mut self.listener {
            self.unsent_results
                .drain(..)
                .for_each(|record| listener(&record));
        }
        let results = self.api.as_mut().map(VerbatimReply::take_results);
        self.write_messages(results)?;
        self.write(TurnEndRecord {
            subtype: TurnEndSubtype::Only,
            tool_use_ids: ids,
            uuid: Some(self.uuid()),
            session_id: Some(self.session.clone()),
        })
    }

    /// Writes the result of a call.
    pub(super) fn write_result(&mut self, call: FinishedCall) -> WriteResult {
        let result = call.result;
        let is_error = result.is_error();
        let turnpipe = ToolResultExtension {
            lane: Some(call.lane),
            batch: call.batch.map(|batch| batch.0),
            verdict: call.verdict,
            duration_ms: to_millis(result.phases.run),
            permission: result.permission,
            persisted: result.persisted.map(|persisted| PersistedOutput {
                path: persisted.path.display().to_string(),
                bytes: persisted.size,
            }),
            sandbox: result.confinement.map(sandbox_report),
            hooks: result.hooks,
            v: Version::default(),
            outcome: result.outcome,
        };
        let stop = result.stop.map(|reason| (call.id.clone(), reason));
        let block = ToolResultBlock {
            tool_use_id: call.id,
            content: result.content,
            is_error,
        };
        if self.listener.is_some() {
            let message = ResultMessage::new(block.clone());
            let record = json!({"type": "user", "message": message});
            self.unsent_results.push(record.to_string());
        }
        if let Some(api) = &mut self.api {
            let has_id = !block.tool_use_id.as_str().starts_with(&self.call_ids);
            api.push_result(call.name, has_id, block.into());
            return Ok(());
        }
        let message = ResultMessage::new(block);
        let record = ToolResultRecord {
            message,
            parent_tool_use_id: None,
            tool_use_result: result.structured,
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

    /// Reports that a call still runs, with its own description of its progress if it has one.
    pub(super) fn write_progress(
        &mut self,
        call: &RunCall,
        elapsed: Duration,
        note: Option<String>,
    ) -> WriteResult {
        let record = ToolProgressRecord {
            tool_use_id: call.id.clone(),
            tool_name: call.name.clone(),
            parent_tool_use_id: None,
            elapsed_time_seconds: elapsed.as_secs_f64(),
            heartbeat: note.is_none().then_some(true),
            note,
            uuid: Some(self.uuid()),
            session_id: Some(self.session.clone()),
        };
        self.write(record)
    }

    pub(super) fn write_replacements(&mut self, replacements: Vec<Replacement>) -> WriteResult {
        let record = ContentReplacementRecord {
            session_id: self.session.clone(),
            replacements,
            uuid: self.uuid(),
            timestamp: self.timestamp(),
        };
        self.write(record)
    }

    pub(super) fn acknowledge_interrupt(&mut self, request_id: &str) -> WriteResult {
        let request_id = request_id.to_owned();
        let response = ControlResponse::Success {
            request_id,
            response: None,
        };
        self.write(ControlResponseRecord { response })
    }

    /// Writes the cost of a request to another model.
    pub(super) fn write_model_cost(&mut self, cost: SideExtension) -> WriteResult {
        let session = Some(self.session.clone());
        self.write(UsageRecord::new(self.uuid(), session, cost))
    }

    fn uuid(&self) -> String {
        self.ids.uuid().to_string()
    }

    fn timestamp(&self) -> String {
        format!("{:.3}", self.clock.now())
    }

    /// Writes a record, after the open line if there is one. Does nothing if messages of an API are
    /// written.
    pub(super) fn write(&mut self, record: impl serde::Serialize) -> WriteResult {
        if self.api.is_some() {
            return Ok(());
        }
        match self.boundary {
            Boundary::Line => self.writer.record(&record),
            Boundary::Inside => {
                self.pending.push(serde_json::to_value(record)?);
                Ok(())
            }
        }
    }
}

fn sandbox_report(report: ConfinementReport) -> SandboxReport {
    let is_lane = report.confinement.is_some();
    let mut sandbox = SandboxReport {
        enforced: false,
        mechanism: None,
        landlock_abi: None,
        seccomp: false,
        file_rules: report.file_rules.map(|found| FileRulesReport {
            isolates_calls: found.isolates_calls,
            looks_denied: report.looks_denied,
        }),
        workspace: report.file_rules.and_then(|found| {
            found.workspace.map(|workspace| WorkspaceReport {
                network: workspace.network,
                isolates_processes: workspace.isolates_processes,
            })
        }),
        reclassify: (is_lane && report.looks_denied).then_some(Lane::Serial),
    };
    if let Some(confinement) = report.confinement {
        sandbox.enforced = confinement.is_complete();
        sandbox.landlock_abi = confinement.landlock_abi;
        sandbox.seccomp = confinement.seccomp;
        let complete = || Some("landlock, seccomp".to_owned());
        sandbox.mechanism = confinement.missing.or_else(complete);
    }
    sandbox
}
