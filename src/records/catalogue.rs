//! The JSON Schemas of all records, by name.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::add_type;

/// Name and schema generator of a record.
type CatalogueEntry = (&'static str, fn() -> Schema);

/// Declares the records by name. The `type` of a record is its name, or the text after `=`; empty if the
/// struct has that member.
macro_rules! records {
    (@type $name:ident) => { stringify!($name) };
    (@type $name:ident $kind:literal) => { $kind };
    ($($name:ident: $record:ident $(= $kind:literal)?,)+) => {
        const RECORDS: &[CatalogueEntry] = &[$((stringify!($name), || {
            schema_of::<super::$record>(records!(@type $name $($kind)?))
        }),)+];
    };
}

// Sorted by name: the `type` of a record, or the `subtype` of a `system` record. Records that share
// both have a longer name.
records! {
    api_retry: ApiRetryRecord = "system",
    check_error: CheckErrorRecord = "check",
    check_permission: CheckPermissionRecord = "check",
    check_shell: CheckShellRecord = "check",
    check_text: CheckTextRecord = "check",
    content_replacement: ContentReplacementRecord,
    control_cancel_request: ControlCancelRecord,
    control_request: ControlRequestRecord,
    control_response: ControlResponseRecord,
    doctor: DoctorRecord,
    executor: ExecutorRecord = "system",
    hook_decision: HookDecisionRecord,
    hook_status: HookStatusRecord,
    hook_stopped_continuation: HookStoppedRecord = "system",
    hook_test: HookTestRecord,
    init: TurnInitRecord = "system",
    permission_count: PermissionCountRecord,
    permission_proposal: PermissionProposalRecord,
    plan: PlanRecord = "system",
    plan_limit: PlanLimitRecord,
    recap: RecapRecord,
    result: TurnResultRecord,
    session: SessionRecord,
    session_archive: SessionArchiveRecord,
    session_archived: SessionArchivedRecord,
    session_call: SessionCallRecord,
    session_call_count: SessionCallCountRecord,
    session_check: SessionCheckRecord,
    session_checks: SessionChecksRecord,
    session_cost: SessionCostRecord,
    session_cursor: SessionCursorRecord = "system",
    session_damage: SessionDamageRecord,
    session_error: SessionErrorRecord,
    session_hit: SessionHitRecord,
    session_message: SessionMessageRecord = "",
    session_note: SessionNoteRecord = "system",
    session_path: SessionPathRecord,
    session_ranked: SessionRankedRecord,
    session_removal: SessionRemovalRecord,
    session_removed: SessionRemovedRecord,
    session_renamed: SessionRenamedRecord,
    session_report: SessionReportRecord,
    session_start: SessionStartRecord = "system",
    session_stats: SessionStatsRecord,
    session_switch: SessionSwitchRecord = "system",
    session_tool: SessionToolRecord,
    state_cleaned: StateCleanedRecord,
    stream_event: StreamEventRecord,
    title: TitleRecord,
    tool_progress: ToolProgressRecord,
    tool_result: ToolResultRecord = "user",
    tool_use_summary: ToolUseSummaryRecord,
    turn_end: TurnEndRecord = "system",
    usage: UsageRecord = "system",
}

/// Returns the sorted names accepted by [`schema`].
pub fn record_names() -> Vec<&'static str> {
    RECORDS.iter().map(|(name, _)| *name).collect()
}

/// Returns the JSON Schema (draft 2020-12) of the named record, or `None` for an unknown name.
/// Accepts `-` for `_`.
/// Other members are allowed, because records may gain members within a major version.
pub fn schema(name: &str) -> Option<Value> {
    let name = name.replace('-', "_");
    let (_, schema) = RECORDS.iter().find(|(known, _)| *known == name)?;
    Some(schema().to_value())
}

fn schema_of<Record: JsonSchema>(kind: &'static str) -> Schema {
    let mut schema = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<Record>();
    if !kind.is_empty() {
        add_type(kind)(&mut schema);
    }
    schema
}
