//! The progress line on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Globals;
use crate::exec::{Observer, Progress, Unobserved};
use crate::io::TerminalFacts;
use crate::text::terminal_safe_line;

/// Shows the progress of a run where somebody can see it.
pub(super) fn observer(globals: &Globals, terminal: TerminalFacts) -> Box<dyn Observer> {
    // With records on the same terminal the line would only be in their way.
    if !terminal.stderr || terminal.stdout || globals.quiet {
        return Box::new(Unobserved);
    }
    Box::new(ProgressLine { bar: None })
}

struct ProgressLine {
    bar: Option<ProgressBar>,
}

impl Observer for ProgressLine {
    fn changed(&mut self, progress: &Progress<'_>) {
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
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
