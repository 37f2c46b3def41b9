//! Types of the records that turnpipe writes. docs/records.md says when each is written.
//!
//! Members are written in field order. Optional members are omitted rather than `null`. Within a
//! major version, records only gain members.

#![allow(
    missing_docs,
    reason = "members with a constant and flattened ones need no description in the schema"
)]

mod archive;
mod constant;
mod plan_limit;
mod run;
mod session;
mod session_file;
mod session_message;
mod session_report;
mod side;
mod tool_result;

pub use archive::{
    ArchiveOutcome, RemovalOutcome, SessionArchiveRecord, SessionArchivedRecord,
    SessionRemovalRecord, SessionRemovedRecord,
};
pub use constant::{
    CursorSubtype, HookStoppedSubtype, InitSubtype, PermissionCheck, RetrySubtype, ShellCheck,
    StartSubtype, SwitchSubtype, TextCheck, TurnEndSubtype, add_type, serialize_name,
};
pub use plan_limit::PlanLimitRecord;
pub use run::{
    ApiRetryRecord, ContentReplacementRecord, ControlCancelRecord, ControlRequest,
    ControlRequestRecord, ControlResponse, ControlResponseRecord, ExecutorRecord,
    HookStoppedRecord, PlanRecord, PlannedCall, Replacement, StateCleanedRecord, StreamEventRecord,
    ToolProgressRecord, TurnEndRecord, TurnInitExtension, TurnInitRecord, TurnResult,
    TurnResultRecord,
};
pub use session::{
    Dimension, RunTotals, SessionActivity, SessionCostRecord, SessionCounts, SessionDescription,
    SessionErrorRecord, SessionPathRecord, SessionRecord, SessionRenamedRecord, SessionStartRecord,
    SessionStatsRecord, SessionToolRecord, Spending, ToolShare, UsageShare,
};
pub use session_file::{
    DamageKind, FileChange, HitBlock, SessionCallCountRecord, SessionCallRecord,
    SessionCheckRecord, SessionChecksRecord, SessionCursorRecord, SessionDamageRecord,
    SessionHitRecord, SessionRankedRecord, SessionSwitchRecord, SwitchReason,
};
pub use session_message::{
    DialogRecord, MessageContext, SessionMessageRecord, SessionNoteRecord, to_record,
};
pub use session_report::{GateResult, ReportedCall, ReportedSession, SessionReportRecord};
pub use side::{RecapRecord, SideExtension, TitleRecord, ToolUseSummaryRecord, UsageRecord};
pub use tool_result::{
    FileRulesReport, HookReport, ImageSource, Lane, Outcome, Permission, PersistedOutput,
    ResultBlock, ResultContent, ResultMessage, SandboxReport, ToolResultBlock, ToolResultExtension,
    ToolResultRecord, VerdictAccess, VerdictReport, Version, VersionOnly, WorkspaceReport,
};
