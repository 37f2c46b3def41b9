//! The windows of a plan that sessions record.

use std::collections::BTreeMap;
use std::fs::OpenOptions;

use jiff::Timestamp;
use rustix::fs::OFlags;
use serde_json::Value;

use crate::files::discover::Candidate;
use turnpipe_core::io::open_regular;
use turnpipe_core::jsonl::{FixedFile, Mapping, SearchControl, search_backward};
use turnpipe_formats::agent::{Agent, parse_plan_limits, timestamp};
use turnpipe_formats::records::PlanLimitRecord;

/// Returns the latest windows of the plan in sessions of Codex, by length. Files that cannot be read have none.
pub fn read_codex_limits(candidates: &[Candidate], now: Timestamp) -> Vec<PlanLimitRecord> {
    let mut latest: BTreeMap<_, PlanLimitRecord> = BTreeMap::new();
    for candidate in candidates {
        let options = &mut OpenOptions::new();
        let file = open_regular(&candidate.path, options.read(true), OFlags::empty());
        let Ok(file) = file else {
            continue;
        };
        let mut bytes = FixedFile::new(file, candidate.size, Mapping::Allowed);
        // What was read until an error counts.
        let _ = search_backward(&mut bytes, &["\"rate_limits\""], &mut |hit| {
            let row: Value = serde_json::from_slice(hit.line).unwrap_or_default();
            let time = timestamp(row["timestamp"].as_str()).unwrap_or(Timestamp::MIN);
            let limits = &row["payload"]["rate_limits"];
            let found = parse_plan_limits(Agent::Codex, limits, time, now);
            if found.is_empty() {
                return SearchControl::Continue;
            }
            for limit in found {
                let key = (limit.name.clone(), limit.window_minutes);
                let known = latest.entry(key).or_insert_with(|| limit.clone());
                if known.read_at < limit.read_at {
                    *known = limit;
                }
            }
            SearchControl::Stop
        });
    }
    latest.into_values().collect()
}
