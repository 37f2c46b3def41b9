//! A call between its arrival and its result record.

use std::sync::Arc;
use std::time::Duration;

use super::completed::{CancelReason, Completed};
use super::lifecycle::{Prepared, Ready};
use super::turns::{BatchNumber, TurnNumber};
use crate::io::CancelToken;
use crate::message::ToolUseId;
use crate::records::{Lane, Verdict};
use crate::tools::ToolKind;

/// A call that is ours to answer.
pub(super) struct Call {
    pub(super) id: ToolUseId,
    /// The tool's name as the model wrote it.
    pub(super) name: String,
    pub(super) turn: TurnNumber,
    /// Known when its result is due.
    pub(super) batch: Option<BatchNumber>,
    pub(super) lane: Lane,
    pub(super) children: Children,
    pub(super) stage: CallStage,
    /// What it touches, for its record.
    pub(super) verdict: Option<Verdict>,
    /// A short description for the results of its siblings, e.g. `Bash(npm test)`.
    pub(super) label: String,
    /// About how much memory it takes, in bytes.
    pub(super) weight: usize,
    pub(super) cancel: CancelToken,
    pub(super) cancel_reason: Option<CancelReason>,
    /// When it arrived, when hooks or somebody else were asked about it, and when it started, on the
    /// run's clock.
    pub(super) arrived: Duration,
    pub(super) asked: Option<Duration>,
    pub(super) started: Option<Duration>,
}

/// What the kernel lets the processes of a call do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Children {
    /// The call only reads, and so they can write nothing.
    Confined,
    /// Whatever the user may do.
    Free,
}

/// How far a call is.
pub(super) enum CallStage {
    /// Waits for its start.
    Waiting(Prepared),
    /// Whoever has its tool is asked for it.
    Resolving,
    /// Hooks or a person are asked whether it may run.
    Checking(Arc<Ready>),
    /// A worker has it.
    Running(Arc<Ready>),
    /// It has its result.
    Done(Box<Completed>),
}

impl Call {
    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage, CallStage::Running(_))
    }

    /// Whether somebody is being asked about it, before it can run.
    pub(super) fn is_asked_about(&self) -> bool {
        matches!(self.stage, CallStage::Resolving | CallStage::Checking(_))
    }

    /// Tells it to end. The first reason counts.
    pub(super) fn cancel(&mut self, reason: &CancelReason) {
        self.cancel_reason.get_or_insert_with(|| reason.clone());
        self.cancel.cancel();
    }

    /// The kind of its tool, if it has one.
    pub(super) fn kind(&self) -> Option<ToolKind> {
        match &self.stage {
            CallStage::Waiting(Prepared::Ready(ready))
            | CallStage::Checking(ready)
            | CallStage::Running(ready) => Some(ready.tool.kind()),
            CallStage::Waiting(Prepared::Unresolved(_) | Prepared::Refused(_))
            | CallStage::Resolving
            | CallStage::Done(_) => None,
        }
    }
}
