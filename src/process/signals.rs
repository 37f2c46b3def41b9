//! Signals that ask this process to end.

use std::io;

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, SIGHUP.
    Terminate,
}

/// Calls `report` for each signal from now on, on a thread of its own, instead of dying of it.
///
/// # Errors
/// The system does not let us.
#[cfg(unix)]
pub fn report_end_signals(report: impl Fn(EndSignal) + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in &mut signals {
                report(if signal == SIGINT {
                    EndSignal::Interrupt
                } else {
                    EndSignal::Terminate
                });
            }
        })?;
    Ok(())
}

/// Elsewhere the system's own handling stays.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn report_end_signals(report: impl Fn(EndSignal) + Send + 'static) -> io::Result<()> {
    drop(report);
    Ok(())
}
