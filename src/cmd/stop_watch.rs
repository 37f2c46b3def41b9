//! Cancels model requests on a signal, or when the output is closed.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::cmd::Status;
use crate::io::CancelToken;
use crate::process::{EndSignal, report_departure, report_end_signals};

const INTERRUPTED: u8 = 1;
const TERMINATED: u8 = 2;

/// Cancels requests and records the signal.
#[derive(Clone, Default)]
pub(super) struct StopWatch {
    pub(super) stop: CancelToken,
    signal: Arc<AtomicU8>,
}

impl StopWatch {
    /// Listens for signals, and for the other end of `output` to close.
    pub(super) fn listen(output: Option<OwnedFd>) -> Self {
        let watch = Self::default();
        let by_signal = watch.clone();
        let _ = report_end_signals(move |signal| {
            let code = match signal {
                EndSignal::Interrupt => INTERRUPTED,
                EndSignal::Terminate => TERMINATED,
            };
            by_signal.signal.store(code, Ordering::SeqCst);
            by_signal.stop.cancel();
        });
        if let Some(output) = output {
            let by_reader = watch.stop.clone();
            let _ = report_departure(output, move || by_reader.cancel());
        }
        watch
    }

    /// Returns the outcome of a run, or `outcome` if there was no signal.
    pub(super) fn or(&self, outcome: Status) -> Status {
        match self.signal.load(Ordering::SeqCst) {
            INTERRUPTED => Status::Interrupted,
            TERMINATED => Status::Terminated,
            _ => outcome,
        }
    }
}
