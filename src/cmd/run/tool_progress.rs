//! The progress and the trace of a run of tools.

use std::fs::File;
use std::io::BufWriter;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use anyhow::Context;

use crate::exec::{Observer, Progress, Trace};
use crate::io::Io;
use crate::view::{ProgressLine, ProgressRow, lane_word};

/// Shows the calls that run, with their lanes.
pub(crate) struct ToolProgress {
    line: Option<ProgressLine>,
}

impl ToolProgress {
    /// Creates a display, which is empty if `quiet` or if standard error is not a terminal.
    pub(crate) fn new(quiet: bool, io: &mut Io) -> Self {
        Self {
            line: Some(ProgressLine::of_calls(quiet, io)),
        }
    }
}

impl Observer for ToolProgress {
    fn changed(&mut self, progress: &Progress<'_>) {
        let Some(line) = &mut self.line else {
            return;
        };
        let Progress {
            started,
            open,
            running,
        } = progress;
        let rows = running.iter().map(|call| ProgressRow {
            number: call.number,
            name: lane_word(Some(call.lane)),
            text: call.label,
            elapsed: call.elapsed,
        });
        let rows: Vec<ProgressRow<'_>> = rows.collect();
        let running = rows.len();
        line.show(
            format!("{started} started, {running} running, {open} open"),
            &rows,
        );
    }

    fn finished(&mut self) {
        self.line = None;
    }
}

/// Opens the file of a trace.
///
/// # Errors
/// It cannot be written.
pub(crate) fn open_trace(path: &PathBuf) -> anyhow::Result<Trace> {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        // The trace contains commands and their input.
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Trace::new(Box::new(BufWriter::new(file)))
        .with_context(|| format!("cannot write {}", path.display()))
}
