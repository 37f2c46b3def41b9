//! The JSON Schemas of all records, by name.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::{
    ApiRetryRecord, AwaySummaryRecord, CheckErrorRecord, CheckPermissionRecord, CheckShellRecord,
    CheckTextRecord, ContentReplacementRecord, ControlCancelRecord, ControlRequestRecord,
    ControlResponseRecord, DoctorRecord, ExecutorRecord, HookStatusRecord, HookStoppedRecord,
    PlanRecord, RecapRecord, SessionCallCountRecord, SessionCallRecord, SessionCheckRecord,
    SessionCostRecord, SessionCursorRecord, SessionDamageRecord, SessionErrorRecord,
    SessionHitRecord, SessionMessageRecord, SessionNoteRecord, SessionPathRecord, SessionRecord,
    SessionRenamedRecord, SessionStartRecord, SessionStatsRecord, SessionSwitchRecord,
    SessionToolRecord, StateCleanedRecord, StreamEventRecord, TitleRecord, ToolProgressRecord,
    ToolResultRecord, ToolUseSummaryRecord, TurnEndRecord, TurnInitRecord, TurnResultRecord,
    UsageRecord,
};

/// Name and schema generator of a record.
type Entry = (&'static str, fn() -> Schema);

/// Sorted by name.
const RECORDS: [Entry; 43] = [
    ("api-retry", schema_of::<ApiRetryRecord>),
    ("away-summary", schema_of::<AwaySummaryRecord>),
    ("check-error", schema_of::<CheckErrorRecord>),
    ("check-permission", schema_of::<CheckPermissionRecord>),
    ("check-shell", schema_of::<CheckShellRecord>),
    ("check-text", schema_of::<CheckTextRecord>),
    ("content-replacement", schema_of::<ContentReplacementRecord>),
    ("control-cancel-request", schema_of::<ControlCancelRecord>),
    ("control-request", schema_of::<ControlRequestRecord>),
    ("control-response", schema_of::<ControlResponseRecord>),
    ("doctor", schema_of::<DoctorRecord>),
    ("executor", schema_of::<ExecutorRecord>),
    ("hook-status", schema_of::<HookStatusRecord>),
    ("hook-stopped-continuation", schema_of::<HookStoppedRecord>),
    ("plan", schema_of::<PlanRecord>),
    ("recap", schema_of::<RecapRecord>),
    ("session", schema_of::<SessionRecord>),
    ("session-call", schema_of::<SessionCallRecord>),
    ("session-call-count", schema_of::<SessionCallCountRecord>),
    ("session-check", schema_of::<SessionCheckRecord>),
    ("session-cost", schema_of::<SessionCostRecord>),
    ("session-cursor", schema_of::<SessionCursorRecord>),
    ("session-damage", schema_of::<SessionDamageRecord>),
    ("session-error", schema_of::<SessionErrorRecord>),
    ("session-hit", schema_of::<SessionHitRecord>),
    ("session-message", schema_of::<SessionMessageRecord>),
    ("session-note", schema_of::<SessionNoteRecord>),
    ("session-path", schema_of::<SessionPathRecord>),
    ("session-renamed", schema_of::<SessionRenamedRecord>),
    ("session-start", schema_of::<SessionStartRecord>),
    ("session-stats", schema_of::<SessionStatsRecord>),
    ("session-switch", schema_of::<SessionSwitchRecord>),
    ("session-tool", schema_of::<SessionToolRecord>),
    ("state-cleaned", schema_of::<StateCleanedRecord>),
    ("stream-event", schema_of::<StreamEventRecord>),
    ("title", schema_of::<TitleRecord>),
    ("tool-progress", schema_of::<ToolProgressRecord>),
    ("tool-result", schema_of::<ToolResultRecord>),
    ("tool-use-summary", schema_of::<ToolUseSummaryRecord>),
    ("turn-end", schema_of::<TurnEndRecord>),
    ("turn-init", schema_of::<TurnInitRecord>),
    ("turn-result", schema_of::<TurnResultRecord>),
    ("usage", schema_of::<UsageRecord>),
];

/// Returns the sorted names accepted by [`schema`].
pub fn record_names() -> Vec<&'static str> {
    RECORDS.iter().map(|(name, _)| *name).collect()
}

/// Returns the JSON Schema (draft 2020-12) of the named record, or `None` for an unknown name.
/// Other members are allowed, because records may gain members within a major version.
pub fn schema(name: &str) -> Option<Value> {
    let (_, schema) = RECORDS.iter().find(|(known, _)| *known == name)?;
    Some(schema().to_value())
}

fn schema_of<Record: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Record>()
}
