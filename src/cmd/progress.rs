//! Progress lines on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exec::{Observer, Progress, Unobserved};
use crate::io::TerminalFacts;
use crate::text::terminal_safe_line;

/// Whether a progress line can be seen, and does not get between records on the same terminal.
fn is_visible(quiet: bool, terminal: TerminalFacts) -> bool {
    terminal.stderr && !terminal.stdout && !quiet
}

/// A bar; it has no length if `length` is `None`.
fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Shows the progress of a run of tools.
pub(super) fn observer(quiet: bool, terminal: TerminalFacts) -> Box<dyn Observer> {
    if is_visible(quiet, terminal) {
        Box::new(ToolProgress { bar: None })
    } else {
        Box::new(Unobserved)
    }
}

struct ToolProgress {
    bar: Option<ProgressBar>,
}

impl Observer for ToolProgress {
    fn changed(&mut self, progress: &Progress<'_>) {
        let bar = self
            .bar
            .get_or_insert_with(|| bar(None, "{spinner} {wide_msg}"));
        let Progress {
            started,
            running,
            open,
            oldest,
        } = *progress;
        let oldest = oldest.map(terminal_safe_line).unwrap_or_default();
        bar.set_message(format!(
            "{started} started, {running} running, {open} open  {oldest}"
        ));
        bar.tick();
    }

    fn finished(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Shows how many sessions are done.
pub(super) struct SessionProgress {
    bar: Option<ProgressBar>,
}

impl SessionProgress {
    /// Nothing of `count` is done.
    pub(super) fn new(count: usize, quiet: bool, terminal: TerminalFacts) -> Self {
        let length = u64::try_from(count).unwrap_or(u64::MAX);
        let is_shown = count > 1 && is_visible(quiet, terminal);
        Self {
            bar: is_shown.then(|| bar(Some(length), "{bar:30} {pos}/{len} sessions, {eta} left")),
        }
    }

    /// One more is done.
    pub(super) fn advance(&mut self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// All are done.
    pub(super) fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
