//! In which batches the calls of a turn would run.

use super::Prepared;
use super::calls::access_name;
use crate::wire::{Lane, ToolUseId};

/// Batches of the turn that is being read.
#[derive(Debug, Default)]
pub(super) struct Plan {
    batches: Vec<PlannedBatch>,
}

/// Calls that would run together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedBatch {
    pub(super) number: u64,
    pub(super) lane: Lane,
    pub(super) calls: Vec<PlannedCall>,
}

/// A call and why it stands in its batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedCall {
    pub(super) id: ToolUseId,
    pub(super) name: String,
    pub(super) access: &'static str,
    pub(super) why: String,
}

impl Plan {
    /// The next call of the turn: with its neighbours if all of them only read, else alone.
    pub(super) fn add(&mut self, id: &ToolUseId, name: &str, prepared: &Prepared) {
        let (lane, access, why) = match prepared {
            Prepared::Ready(ready) if ready.access.is_read_only() => (
                Lane::Parallel,
                access_name(&ready.access),
                ready.why.clone(),
            ),
            Prepared::Ready(ready) => (Lane::Serial, access_name(&ready.access), ready.why.clone()),
            Prepared::Refused(completed) => {
                let why = match &completed.content {
                    crate::tools::Content::Text(text) => text.clone(),
                    crate::tools::Content::Image { .. } => String::new(),
                };
                (Lane::Serial, "world", why)
            }
        };
        let call = PlannedCall {
            id: id.clone(),
            name: name.to_owned(),
            access,
            why,
        };
        match self.batches.last_mut() {
            Some(batch) if lane == Lane::Parallel && batch.lane == Lane::Parallel => {
                batch.calls.push(call);
            }
            _ => {
                let number = self.batches.len() as u64;
                self.batches.push(PlannedBatch {
                    number,
                    lane,
                    calls: vec![call],
                });
            }
        }
    }

    /// The turn is over: its batches.
    pub(super) fn take_turn(&mut self) -> Vec<PlannedBatch> {
        std::mem::take(&mut self.batches)
    }
}
