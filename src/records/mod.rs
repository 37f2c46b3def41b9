//! Types of the records that turnpipe writes. docs/records.md says when each is written.
//!
//! Members are written in field order. Optional members are omitted rather than `null`. Within a
//! major version, records only gain members.

mod catalogue;
mod check;
mod constant;
mod doctor;
mod extension;
mod run;
mod session;
mod session_call;
mod session_file;
mod session_message;
mod side;
mod to_record;
mod tool_result;
mod turn;

pub use catalogue::{record_names, schema};
pub use check::{
    CheckErrorRecord, CheckPermissionRecord, CheckShellRecord, CheckTextRecord, CheckedPart,
    HookStatusRecord, TextKind, TextRejection,
};
pub(crate) use constant::{
    AwaySummary, CursorSubtype, HookStoppedSubtype, InitSubtype, NoteSubtype, PermissionCheck,
    RetrySubtype, ShellCheck, StartSubtype, SwitchSubtype, TextCheck, TurnEndSubtype,
};
pub use doctor::{Condition, DoctorRecord, Subject};
pub use extension::{
    HookReport, Lane, Outcome, Permission, PersistedOutput, SandboxReport, ToolResultExtension,
    VerdictAccess, VerdictReport, Version, VersionOnly,
};
pub use run::{
    ContentReplacementRecord, ControlCancelRecord, ControlRequest, ControlRequestRecord,
    ControlResponse, ControlResponseRecord, ExecutorRecord, HookStoppedRecord, PlanRecord,
    PlannedCall, Replacement, StateCleanedRecord, ToolProgressRecord, TurnEndRecord,
};
pub use session::{
    Dimension, SessionCostRecord, SessionCounts, SessionDescription, SessionErrorRecord,
    SessionPathRecord, SessionRecord, SessionRenamedRecord, SessionStartRecord, SessionStatsRecord,
    SessionToolRecord, ToolShare, UsageShare,
};
pub use session_call::{FileChange, SessionCallCountRecord, SessionCallRecord};
pub use session_file::{
    DamageKind, HitBlock, SessionCheckRecord, SessionCursorRecord, SessionDamageRecord,
    SessionHitRecord, SessionSwitchRecord, SwitchReason,
};
pub use session_message::{
    AttachmentSource, MessageBlock, MessageBody, MessageResult, MessageRole,
    SessionMessageExtension, SessionMessageRecord, SessionNoteRecord,
};
pub use side::{
    AwaySummaryRecord, RecapRecord, SideExtension, TitleRecord, ToolUseSummaryRecord, UsageRecord,
};
pub use to_record::{DialogRecord, MessageContext, to_record};
pub use tool_result::{
    ImageSource, ResultBlock, ResultContent, ResultMessage, ToolResultBlock, ToolResultRecord,
};
pub use turn::{
    ApiRetryRecord, StreamEventRecord, TurnInitExtension, TurnInitRecord, TurnResult,
    TurnResultRecord,
};

#[cfg(test)]
mod tests;
