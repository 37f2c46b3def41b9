//! In which batches the calls of a turn would run.

use super::Prepared;
use crate::wire::records::{PlanRecord, PlannedCall};
use crate::wire::{Lane, ToolUseId};

/// Batches of the turn that is being read.
#[derive(Debug, Default)]
pub(super) struct Plan {
    batches: Vec<(Lane, Vec<PlannedCall>)>,
}

impl Plan {
    /// The next call of the turn: with its neighbours if all of them only read, else alone.
    pub(super) fn add(&mut self, id: &ToolUseId, name: &str, prepared: &Prepared) {
        let lane = match prepared {
            Prepared::Ready(ready) if ready.assessment.access.is_unnoticed() => Lane::Parallel,
            Prepared::Ready(_) | Prepared::Refused(_) => Lane::Serial,
        };
        let call = PlannedCall {
            tool_use_id: id.clone(),
            tool_name: name.to_owned(),
            verdict: prepared.verdict(),
        };
        match self.batches.last_mut() {
            Some((Lane::Parallel, calls)) if lane == Lane::Parallel => calls.push(call),
            _ => self.batches.push((lane, vec![call])),
        }
    }

    /// The turn is over: its batches.
    pub(super) fn take_turn(&mut self) -> impl Iterator<Item = PlanRecord> + use<> {
        let batches = std::mem::take(&mut self.batches);
        (0..)
            .zip(batches)
            .map(|(number, (lane, calls))| PlanRecord::new(number, lane, calls))
    }
}
