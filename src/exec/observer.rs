//! Showing people how far a run is.

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Calls started so far.
    pub started: u64,
    /// Calls that run now.
    pub running: usize,
    /// Calls whose result is not out yet.
    pub open: usize,
    /// The running call that came first.
    pub oldest: Option<&'a str>,
}

/// Called whenever a call has started or ended.
pub trait Observer: Send {
    /// The run is this far.
    fn changed(&mut self, progress: &Progress<'_>);
    /// The run is over.
    fn finished(&mut self);
}
