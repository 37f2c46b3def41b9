//! The run as a trace for the viewers of Chrome and Perfetto: one track for each lane, one slice for each
//! phase.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::json;

use super::call::{CallTimes, Profile};
use super::call_result::CallResult;
use super::turn_tracker::CallIndex;
use crate::message::ToolUseId;
use crate::records::Lane;

/// The track of the serial lane. The slots of the parallel lane are the tracks after it.
const SERIAL_TRACK: usize = 0;

/// Writes trace events as calls end.
pub struct Trace {
    sink: Box<dyn Write + Send>,
    /// The end of the last call in each slot of the parallel lane, on the run's clock.
    slots: Vec<Duration>,
    failure: Option<io::Error>,
}

impl Trace {
    /// Writes the header to `sink`.
    ///
    /// # Errors
    /// Writing failed.
    pub fn new(mut sink: Box<dyn Write + Send>) -> io::Result<Self> {
        let first = json!({
            "name": "thread_name", "ph": "M", "pid": 1, "tid": SERIAL_TRACK,
            "args": {"name": "serial lane"},
        });
        write!(sink, "[\n{first}")?;
        Ok(Self {
            sink,
            slots: Vec::new(),
            failure: None,
        })
    }

    /// Writes the slices of a call that has its result.
    pub(super) fn record_call(
        &mut self,
        index: CallIndex,
        id: &ToolUseId,
        profile: &Profile,
        times: CallTimes,
        result: &CallResult,
        now: Duration,
    ) {
        let begin = times.start.unwrap_or(now);
        let track = match profile.lane {
            Lane::Serial => SERIAL_TRACK,
            Lane::Parallel => self.take_slot(begin, now),
        };
        let arguments = json!({
            "tool_use_id": id, "outcome": result.outcome,
        });
        let checked = times.check_start.unwrap_or(begin);
        for (name, from, to) in [
            ("queued", times.arrival, checked),
            ("asked", checked, begin),
        ] {
            if name == "asked" && times.check_start.is_none() {
                continue;
            }
            for (phase, time) in [("b", from), ("e", to)] {
                self.write_event(&json!({
                    "name": name, "cat": "wait", "ph": phase, "id": index.0, "pid": 1,
                    "tid": track, "ts": micros(time), "args": {"tool_use_id": id},
                }));
            }
        }
        self.write_event(&json!({
            "name": profile.label, "cat": "call", "ph": "X", "pid": 1, "tid": track,
            "ts": micros(begin), "dur": micros(now.saturating_sub(begin)), "args": arguments,
        }));
        let phases = result.phases;
        let mut start = begin;
        for (name, length) in [
            ("check", phases.check),
            ("run", phases.run),
            ("map", phases.map),
        ] {
            if length > Duration::ZERO {
                self.write_event(&json!({
                    "name": name, "cat": "phase", "ph": "X", "pid": 1, "tid": track,
                    "ts": micros(start), "dur": micros(length),
                }));
            }
            start += length;
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// A write failed.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        self.sink.write_all(b"\n]\n")?;
        self.sink.flush()
    }

    fn take_slot(&mut self, begin: Duration, end: Duration) -> usize {
        let free = self.slots.iter().position(|until| *until <= begin);
        let position = free.unwrap_or_else(|| {
            self.slots.push(Duration::ZERO);
            let track = SERIAL_TRACK + self.slots.len();
            self.write_event(&json!({
                "name": "thread_name", "ph": "M", "pid": 1, "tid": track,
                "args": {"name": format!("parallel lane {}", self.slots.len())},
            }));
            self.slots.len() - 1
        });
        self.slots[position] = end;
        SERIAL_TRACK + 1 + position
    }

    fn write_event(&mut self, event: &serde_json::Value) {
        if self.failure.is_none() {
            self.failure = write!(self.sink, ",\n{event}").err();
        }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
