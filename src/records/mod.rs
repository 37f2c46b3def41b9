//! The records that turnpipe writes, with their schemas. `docs/records.md` describes when each is written.

mod catalogue;
mod check;

pub use catalogue::{record_names, schema};
pub(crate) use check::verdict_access;
pub use check::{
    CheckErrorRecord, CheckPermissionRecord, CheckShellRecord, CheckTextRecord, Condition,
    DoctorRecord, HookDecisionRecord, HookEffect, HookScope, HookStatusRecord, HookTestRecord,
    PermissionCountRecord, PermissionProposalRecord, Subject, TextKind, TextRejection,
};
pub use turnpipe_formats::records::*;

#[cfg(test)]
mod tests;
