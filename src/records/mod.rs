//! Types of the records that turnpipe writes. docs/records.md says when each is written.
//!
//! Members are written in field order. Optional members are omitted rather than `null`. Within a
//! major version, records only gain members.

mod archive;
mod catalogue;
mod check;
mod constant;
mod run;
mod session;
mod session_file;
mod session_message;
mod side;
mod tool_result;

pub use archive::{
    ArchiveOutcome, RemovalOutcome, SessionArchiveRecord, SessionArchivedRecord,
    SessionRemovalRecord, SessionRemovedRecord,
};
pub use catalogue::{record_names, schema};
pub use check::{
    CheckErrorRecord, CheckPermissionRecord, CheckShellRecord, CheckTextRecord, HookDecisionRecord,
    HookStatusRecord, PermissionCountRecord, PermissionProposalRecord, TextKind, TextRejection,
};
pub use check::{Condition, DoctorRecord, Subject};
pub(crate) use constant::{
    CursorSubtype, HookStoppedSubtype, InitSubtype, PermissionCheck, RetrySubtype, ShellCheck,
    StartSubtype, SwitchSubtype, TextCheck, TurnEndSubtype,
};
pub use run::{
    ApiRetryRecord, StreamEventRecord, TurnInitExtension, TurnInitRecord, TurnResult,
    TurnResultRecord,
};
pub use run::{
    ContentReplacementRecord, ControlCancelRecord, ControlRequest, ControlRequestRecord,
    ControlResponse, ControlResponseRecord, ExecutorRecord, HookStoppedRecord, PlanRecord,
    PlannedCall, Replacement, StateCleanedRecord, ToolProgressRecord, TurnEndRecord,
};
pub use session::{
    Dimension, RunTotals, SessionActivity, SessionCostRecord, SessionCounts, SessionDescription,
    SessionErrorRecord, SessionPathRecord, SessionRecord, SessionRenamedRecord, SessionStartRecord,
    SessionStatsRecord, SessionToolRecord, ToolShare, UsageShare,
};
pub use session_file::{
    DamageKind, FileChange, HitBlock, SessionCallCountRecord, SessionCallRecord,
    SessionCheckRecord, SessionCursorRecord, SessionDamageRecord, SessionHitRecord,
    SessionRankedRecord, SessionSwitchRecord, SwitchReason,
};
pub use session_file::{GateResult, ReportedCall, ReportedSession, SessionReportRecord};
pub use session_message::{
    AttachmentSource, MessageBlock, MessageBody, MessageResult, MessageRole,
    SessionMessageExtension, SessionMessageRecord, SessionNoteRecord,
};
pub use session_message::{DialogRecord, MessageContext, to_record};
pub use side::{RecapRecord, SideExtension, TitleRecord, ToolUseSummaryRecord, UsageRecord};
pub use tool_result::{
    HookReport, Lane, Outcome, Permission, PersistedOutput, SandboxReport, ToolResultExtension,
    VerdictAccess, VerdictReport, Version, VersionOnly,
};
pub use tool_result::{
    ImageSource, ResultBlock, ResultContent, ResultMessage, ToolResultBlock, ToolResultRecord,
};

#[cfg(test)]
mod tests;
