//! The JSON Schemas of all records, by name.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::{
    AwaySummaryRecord, CheckErrorRecord, CheckShellRecord, CheckTextRecord,
    ContentReplacementRecord, ControlResponseRecord, ExecutorRecord, PlanRecord, RecapRecord,
    SessionCheckRecord, SessionCursorRecord, SessionDamageRecord, SessionErrorRecord,
    SessionHitRecord, SessionMessageRecord, SessionNoteRecord, SessionPathRecord, SessionRecord,
    SessionRenamedRecord, SessionStartRecord, SessionStatsRecord, SessionSwitchRecord,
    StateCleanedRecord, TitleRecord, ToolProgressRecord, ToolResultRecord, ToolUseSummaryRecord,
    TurnEndRecord, UsageRecord,
};

/// Makes the schema of one record.
type MakeSchema = fn() -> Schema;

/// Sorted by name.
const RECORDS: [(&str, MakeSchema); 29] = [
    ("away-summary", of::<AwaySummaryRecord>),
    ("check-error", of::<CheckErrorRecord>),
    ("check-shell", of::<CheckShellRecord>),
    ("check-text", of::<CheckTextRecord>),
    ("content-replacement", of::<ContentReplacementRecord>),
    ("control-response", of::<ControlResponseRecord>),
    ("executor", of::<ExecutorRecord>),
    ("plan", of::<PlanRecord>),
    ("recap", of::<RecapRecord>),
    ("session", of::<SessionRecord>),
    ("session-check", of::<SessionCheckRecord>),
    ("session-cursor", of::<SessionCursorRecord>),
    ("session-damage", of::<SessionDamageRecord>),
    ("session-error", of::<SessionErrorRecord>),
    ("session-hit", of::<SessionHitRecord>),
    ("session-message", of::<SessionMessageRecord>),
    ("session-note", of::<SessionNoteRecord>),
    ("session-path", of::<SessionPathRecord>),
    ("session-renamed", of::<SessionRenamedRecord>),
    ("session-start", of::<SessionStartRecord>),
    ("session-stats", of::<SessionStatsRecord>),
    ("session-switch", of::<SessionSwitchRecord>),
    ("state-cleaned", of::<StateCleanedRecord>),
    ("title", of::<TitleRecord>),
    ("tool-progress", of::<ToolProgressRecord>),
    ("tool-result", of::<ToolResultRecord>),
    ("tool-use-summary", of::<ToolUseSummaryRecord>),
    ("turn-end", of::<TurnEndRecord>),
    ("usage", of::<UsageRecord>),
];

/// The names that [`schema`] knows, sorted.
pub fn record_names() -> impl Iterator<Item = &'static str> {
    RECORDS.iter().map(|(name, _)| *name)
}

/// The JSON Schema (draft 2020-12) of the record with this name, as it is written; `None` for an
/// unknown name. Members may be added within a major version, so other members are allowed.
pub fn schema(name: &str) -> Option<Value> {
    let (_, schema) = RECORDS.iter().find(|(known, _)| *known == name)?;
    Some(schema().to_value())
}

fn of<Record: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Record>()
}
