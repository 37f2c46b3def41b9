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

/// A record that has a schema.
struct Entry {
    type_name: fn() -> &'static str,
    schema: fn() -> Schema,
}

const RECORDS: [Entry; 29] = [
    Entry::of::<AwaySummaryRecord>(),
    Entry::of::<CheckErrorRecord>(),
    Entry::of::<CheckShellRecord>(),
    Entry::of::<CheckTextRecord>(),
    Entry::of::<ContentReplacementRecord>(),
    Entry::of::<ControlResponseRecord>(),
    Entry::of::<ExecutorRecord>(),
    Entry::of::<PlanRecord>(),
    Entry::of::<RecapRecord>(),
    Entry::of::<SessionRecord>(),
    Entry::of::<SessionCheckRecord>(),
    Entry::of::<SessionCursorRecord>(),
    Entry::of::<SessionDamageRecord>(),
    Entry::of::<SessionErrorRecord>(),
    Entry::of::<SessionHitRecord>(),
    Entry::of::<SessionMessageRecord>(),
    Entry::of::<SessionNoteRecord>(),
    Entry::of::<SessionPathRecord>(),
    Entry::of::<SessionRenamedRecord>(),
    Entry::of::<SessionStartRecord>(),
    Entry::of::<SessionStatsRecord>(),
    Entry::of::<SessionSwitchRecord>(),
    Entry::of::<StateCleanedRecord>(),
    Entry::of::<TitleRecord>(),
    Entry::of::<ToolProgressRecord>(),
    Entry::of::<ToolResultRecord>(),
    Entry::of::<ToolUseSummaryRecord>(),
    Entry::of::<TurnEndRecord>(),
    Entry::of::<UsageRecord>(),
];

impl Entry {
    const fn of<Record: JsonSchema>() -> Self {
        Self {
            type_name: std::any::type_name::<Record>,
            schema: schema_of::<Record>,
        }
    }

    /// The name of the type in small letters, without its last word: `tool-result`.
    fn name(&self) -> String {
        let path = (self.type_name)();
        let name = path.rsplit("::").next().unwrap_or(path);
        let mut words = String::new();
        for letter in name.strip_suffix("Record").unwrap_or(name).chars() {
            if letter.is_ascii_uppercase() && !words.is_empty() {
                words.push('-');
            }
            words.push(letter.to_ascii_lowercase());
        }
        words
    }
}

/// The names that [`schema`] knows, sorted.
pub fn record_names() -> Vec<String> {
    let mut names: Vec<String> = RECORDS.iter().map(Entry::name).collect();
    names.sort_unstable();
    names
}

/// The JSON Schema (draft 2020-12) of the record with this name, as it is written; `None` for an
/// unknown name. Members may be added within a major version, so other members are allowed.
pub fn schema(name: &str) -> Option<Value> {
    let entry = RECORDS.iter().find(|entry| entry.name() == name)?;
    Some((entry.schema)().to_value())
}

fn schema_of<Record: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Record>()
}
