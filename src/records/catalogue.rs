//! The JSON Schemas of all records, by name.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::{
    ApiRetryRecord, CheckErrorRecord, CheckPermissionRecord, CheckShellRecord, CheckTextRecord,
    ContentReplacementRecord, ControlCancelRecord, ControlRequestRecord, ControlResponseRecord,
    DoctorRecord, ExecutorRecord, HookDecisionRecord, HookStatusRecord, HookStoppedRecord,
    PlanRecord, RecapRecord, SessionCallCountRecord, SessionCallRecord, SessionCheckRecord,
    SessionCostRecord, SessionCursorRecord, SessionDamageRecord, SessionErrorRecord,
    SessionHitRecord, SessionMessageRecord, SessionNoteRecord, SessionPathRecord, SessionRecord,
    SessionRenamedRecord, SessionReportRecord, SessionStartRecord, SessionStatsRecord,
    SessionSwitchRecord, SessionToolRecord, StateCleanedRecord, StreamEventRecord, TitleRecord,
    ToolProgressRecord, ToolResultRecord, ToolUseSummaryRecord, TurnEndRecord, TurnInitRecord,
    TurnResultRecord, UsageRecord,
};

/// Name and schema generator of a record.
type Entry = (&'static str, fn() -> Schema);

/// Sorted by name: the `type` of a record, or the `subtype` of a `system` record. Records that share
/// both have a longer name.
const RECORDS: [Entry; 44] = [
    ("api_retry", schema_of::<ApiRetryRecord>),
    ("check_error", schema_of::<CheckErrorRecord>),
    ("check_permission", schema_of::<CheckPermissionRecord>),
    ("check_shell", schema_of::<CheckShellRecord>),
    ("check_text", schema_of::<CheckTextRecord>),
    ("content_replacement", schema_of::<ContentReplacementRecord>),
    ("control_cancel_request", schema_of::<ControlCancelRecord>),
    ("control_request", schema_of::<ControlRequestRecord>),
    ("control_response", schema_of::<ControlResponseRecord>),
    ("doctor", schema_of::<DoctorRecord>),
    ("executor", schema_of::<ExecutorRecord>),
    ("hook_decision", schema_of::<HookDecisionRecord>),
    ("hook_status", schema_of::<HookStatusRecord>),
    ("hook_stopped_continuation", schema_of::<HookStoppedRecord>),
    ("init", schema_of::<TurnInitRecord>),
    ("plan", schema_of::<PlanRecord>),
    ("recap", schema_of::<RecapRecord>),
    ("result", schema_of::<TurnResultRecord>),
    ("session", schema_of::<SessionRecord>),
    ("session_call", schema_of::<SessionCallRecord>),
    ("session_call_count", schema_of::<SessionCallCountRecord>),
    ("session_check", schema_of::<SessionCheckRecord>),
    ("session_cost", schema_of::<SessionCostRecord>),
    ("session_cursor", schema_of::<SessionCursorRecord>),
    ("session_damage", schema_of::<SessionDamageRecord>),
    ("session_error", schema_of::<SessionErrorRecord>),
    ("session_hit", schema_of::<SessionHitRecord>),
    ("session_message", schema_of::<SessionMessageRecord>),
    ("session_note", schema_of::<SessionNoteRecord>),
    ("session_path", schema_of::<SessionPathRecord>),
    ("session_renamed", schema_of::<SessionRenamedRecord>),
    ("session_report", schema_of::<SessionReportRecord>),
    ("session_start", schema_of::<SessionStartRecord>),
    ("session_stats", schema_of::<SessionStatsRecord>),
    ("session_switch", schema_of::<SessionSwitchRecord>),
    ("session_tool", schema_of::<SessionToolRecord>),
    ("state_cleaned", schema_of::<StateCleanedRecord>),
    ("stream_event", schema_of::<StreamEventRecord>),
    ("title", schema_of::<TitleRecord>),
    ("tool_progress", schema_of::<ToolProgressRecord>),
    ("tool_result", schema_of::<ToolResultRecord>),
    ("tool_use_summary", schema_of::<ToolUseSummaryRecord>),
    ("turn_end", schema_of::<TurnEndRecord>),
    ("usage", schema_of::<UsageRecord>),
];

/// Returns the sorted names accepted by [`schema`].
pub fn record_names() -> Vec<&'static str> {
    RECORDS.iter().map(|(name, _)| *name).collect()
}

/// Former names that [`schema`] still accepts, and their records.
const OLD_NAMES: [(&str, &str); 3] = [
    ("away_summary", "recap"),
    ("turn_init", "init"),
    ("turn_result", "result"),
];

/// Returns the JSON Schema (draft 2020-12) of the named record, or `None` for an unknown name.
/// Accepts old names, and `-` for `_`.
/// Other members are allowed, because records may gain members within a major version.
pub fn schema(name: &str) -> Option<Value> {
    let name = name.replace('-', "_");
    let old = OLD_NAMES.iter().find(|(old, _)| *old == name);
    let name = old.map_or(&*name, |(_, name)| *name);
    let (_, schema) = RECORDS.iter().find(|(known, _)| *known == name)?;
    Some(schema().to_value())
}

fn schema_of<Record: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Record>()
}
