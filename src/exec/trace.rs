//! The run as a trace for Chrome's or Perfetto's viewer: one track a lane, one slice a phase.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::json;

use super::call::Call;
use super::completed::Completed;
use super::schedule::CallIndex;
use crate::records::Lane;

/// Track of the serial lane; the parallel lane's slots are the tracks after it.
const SERIAL_TRACK: usize = 0;

/// Writes trace events as calls end.
pub struct Trace {
    sink: Box<dyn Write + Send>,
    /// When each slot of the parallel lane is free again, on the run's clock.
    slots: Vec<Duration>,
    failure: Option<io::Error>,
}

impl Trace {
    /// Writes to `sink`.
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

    /// A call has its result; everything known about it becomes slices.
    pub(super) fn ended(
        &mut self,
        index: CallIndex,
        call: &Call,
        completed: &Completed,
        now: Duration,
    ) {
        let begin = call.started.unwrap_or(now);
        let track = match call.lane {
            Lane::Serial => SERIAL_TRACK,
            Lane::Parallel => self.slot(begin, now),
        };
        let arguments = json!({
            "tool_use_id": call.id, "outcome": completed.outcome,
        });
        let asked = call.asked.unwrap_or(begin);
        for (name, from, to) in [("queued", call.arrived, asked), ("asked", asked, begin)] {
            if name == "asked" && call.asked.is_none() {
                continue;
            }
            for (phase, time) in [("b", from), ("e", to)] {
                self.event(&json!({
                    "name": name, "cat": "wait", "ph": phase, "id": index.0, "pid": 1,
                    "tid": track, "ts": micros(time), "args": {"tool_use_id": call.id},
                }));
            }
        }
        self.event(&json!({
            "name": call.label, "cat": "call", "ph": "X", "pid": 1, "tid": track,
            "ts": micros(begin), "dur": micros(now.saturating_sub(begin)), "args": arguments,
        }));
        let phases = completed.phases;
        let mut start = begin;
        for (name, length) in [
            ("check", phases.check),
            ("run", phases.run),
            ("map", phases.map),
        ] {
            if length > Duration::ZERO {
                self.event(&json!({
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
    /// Something could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        self.sink.write_all(b"\n]\n")?;
        self.sink.flush()
    }

    fn slot(&mut self, begin: Duration, end: Duration) -> usize {
        let free = self.slots.iter().position(|until| *until <= begin);
        let position = free.unwrap_or_else(|| {
            self.slots.push(Duration::ZERO);
            let track = SERIAL_TRACK + self.slots.len();
            self.event(&json!({
                "name": "thread_name", "ph": "M", "pid": 1, "tid": track,
                "args": {"name": format!("parallel lane {}", self.slots.len())},
            }));
            self.slots.len() - 1
        });
        self.slots[position] = end;
        SERIAL_TRACK + 1 + position
    }

    fn event(&mut self, event: &serde_json::Value) {
        if self.failure.is_none() {
            self.failure = write!(self.sink, ",\n{event}").err();
        }
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
