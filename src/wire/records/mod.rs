//! The records turnpipe writes, as types: what a field holds is said here, when a record is
//! written is not.
//!
//! Members stand in the order of the fields. A member that is not always there is left out, not
//! `null`; within a major version records only gain members.

mod always_true;
mod catalogue;
mod check;
mod constant;
mod content_replacement;
mod control_response;
mod executor;
mod extension;
mod housekeeping;
mod permission;
mod plan;
mod session;
mod session_check;
mod session_hit;
mod session_message;
mod session_stats;
mod session_tail;
mod session_usage;
mod side;
mod tagged;
mod tool_progress;
mod tool_result;
mod turn_end;

pub use always_true::True;
pub use catalogue::{record_names, schema};
pub use check::{CheckErrorRecord, CheckShellRecord, CheckTextRecord, TextKind, TextRejection};
pub use content_replacement::{ContentReplacementRecord, Replacement};
pub use control_response::{ControlResponse, ControlResponseRecord};
pub use executor::ExecutorRecord;
pub use extension::{
    HookRun, Lane, Outcome, Persisted, SandboxReport, ToolResultExtension, Verdict, VerdictAccess,
    Version, VersionOnly,
};
pub use housekeeping::{SessionRenamedRecord, StateCleanedRecord};
pub use permission::{DecidedBy, Decision, Permission};
pub use plan::{PlanRecord, PlannedCall};
pub use session::{
    AboutSession, SessionCounts, SessionErrorRecord, SessionPathRecord, SessionRecord,
    SessionStartRecord,
};
pub use session_check::{DamageKind, SessionCheckRecord, SessionDamageRecord};
pub use session_hit::{HitPlace, HitRole, SessionHitRecord};
pub use session_message::{
    MessageOrigin, SessionMessageExtension, SessionMessageRecord, SessionNoteRecord, Speaker,
    SpokenBlock, SpokenImage, SpokenImageSource, SpokenMessage, SpokenResult,
};
pub use session_stats::{SessionStatsRecord, ToolShare, UsageShare};
pub use session_tail::{SessionCursorRecord, SessionSwitchRecord, SwitchReason};
pub use session_usage::TokenUsage;
pub use side::{
    AwaySummaryRecord, RecapRecord, SideExtension, TitleRecord, ToolUseSummaryRecord, UsageRecord,
};
pub use tool_progress::ToolProgressRecord;
pub use tool_result::{
    ImageSource, ResultBlock, ResultContent, ResultMessage, ToolResultBlock, ToolResultRecord,
};
pub use turn_end::TurnEndRecord;

#[cfg(test)]
mod tests;
