//! The windows of a plan that sessions record.

use std::fs::OpenOptions;

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde_json::Value;

use crate::files::discover::Candidate;
use turnpipe_core::io::open_regular;
use turnpipe_core::jsonl::{FixedFile, Mapping, SearchControl, search_backward};
use turnpipe_formats::agent::{Agent, plan_limits, timestamp};
use turnpipe_formats::records::PlanLimitRecord;

/// Returns the latest windows of the plan, each by its length, in sessions of Codex. Files that cannot be read have none.
pub fn codex_limits(candidates: &[Candidate], now: Timestamp) -> Vec<PlanLimitRecord> {
    let mut latest: Vec<PlanLimitRecord> = Vec::new();
    for candidate in candidates {
        let options = &mut OpenOptions::new();
        let file = open_regular(&candidate.path, options.read(true), OFlags::empty());
        let Ok(file) = file else {
            continue;
        };
        let size = candidate.size;
        let mut bytes = FixedFile::new(file, size, Mapping::Allowed);
        let mut found = Vec::new();
        // What was read until an error counts.
        let _ = search_backward(&mut bytes, &["\"rate_limits\""], &mut |hit| {
            let row: Value = serde_json::from_slice(hit.line).unwrap_or_default();
            let limits = &row["payload"]["rate_limits"];
            if let Some(time) = timestamp(row["timestamp"].as_str()) {
                found = plan_limits(Agent::Codex, limits, time, now);
            }
            match found.is_empty() {
                true => SearchControl::Continue,
                false => SearchControl::Stop,
            }
        });
        for limit in found {
            let same = |one: &&mut PlanLimitRecord| one.window_minutes == limit.window_minutes;
            match latest.iter_mut().find(same) {
                Some(known) if known.read_at >= limit.read_at => {}
                Some(known) => *known = limit,
                None => latest.push(limit),
            }
        }
    }
    latest.sort_by_key(|limit| limit.window_minutes);
    latest
}
