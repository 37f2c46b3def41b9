//! Signals that ask this process to end.

use std::io;

/// The signals that [`report_end_signals`] takes.
#[cfg(unix)]
pub(super) const END_SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

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
    let mut signals = signal_hook::iterator::Signals::new(END_SIGNALS)?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in &mut signals {
                report(if signal == libc::SIGINT {
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
