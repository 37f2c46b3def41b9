//! How far the work on many sessions is, for people at a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Globals;
use crate::io::TerminalFacts;

/// A bar, where somebody can see it.
pub(super) struct SideProgress {
    bar: Option<ProgressBar>,
}

impl SideProgress {
    /// Nothing of `count` is done.
    pub(super) fn new(count: usize, globals: &Globals, terminal: TerminalFacts) -> Self {
        // With records on the same terminal the bar would only be in their way.
        if count < 2 || !terminal.stderr || terminal.stdout || globals.quiet {
            return Self { bar: None };
        }
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let bar = ProgressBar::with_draw_target(Some(count), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} sessions, {eta} left")
        {
            bar.set_style(style);
        }
        Self { bar: Some(bar) }
    }

    /// One more is done.
    pub(super) fn advance(&mut self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// All is done.
    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
