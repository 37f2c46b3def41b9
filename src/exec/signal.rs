//! What reaches a run from outside of its streams.

/// Something that wants the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM or SIGHUP.
    Terminate,
    /// The reader of our output went away.
    OutputGone,
}
