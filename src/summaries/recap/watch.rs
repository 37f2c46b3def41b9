//! Recaps for a user who returns to the terminal.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::io::{CancelToken, Clock, FocusTerminal};
use crate::summaries::Excerpt;

/// Interval between reads of the session.
const TICK: Duration = Duration::from_millis(500);

/// The key that ends watching.
const QUIT: u8 = b'q';

/// Watches `terminal` until it is closed, `stop` fires, or the user types `q`. `look` reads the session,
/// `make` generates a recap and returns whether that succeeded, and `show` prints it.
///
/// # Errors
/// The terminal cannot be read, or `show` failed.
pub fn watch_terminal<Recap, Error: From<io::Error>>(
    terminal: &mut FocusTerminal,
    away: Duration,
    clock: &Arc<dyn Clock>,
    stop: &CancelToken,
    look: &mut dyn FnMut() -> Option<Excerpt>,
    make: &mut dyn FnMut() -> (Recap, bool),
    show: &mut dyn FnMut(Recap) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut state = Away::new(away);
    // Number of messages at the last recap.
    let mut recapped = None;
    while !stop.is_cancelled() {
        let Some(is_focused) = terminal.poll_focus(TICK, QUIT)? else {
            return Ok(());
        };
        let Some(excerpt) = look() else {
            continue;
        };
        let situation = Situation {
            now: clock.now(),
            is_focused,
            is_idle: excerpt.gate().is_idle(),
            has_enough_new: excerpt.gate().has_enough_new()
                && recapped != Some(excerpt.message_count()),
        };
        if state.observe(situation) {
            let (recap, is_made) = make();
            if is_made {
                recapped = Some(excerpt.message_count());
            }
            let is_idle = look().is_some_and(|after| after.gate().is_idle());
            if state.finish(is_idle) {
                show(recap)?;
            }
        }
    }
    Ok(())
}

/// The terminal and the session at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Situation {
    /// The time.
    now: Timestamp,
    /// Whether the terminal has the focus.
    is_focused: bool,
    /// Whether no prompt or call is unanswered.
    is_idle: bool,
    /// Whether there are enough prompts since the last recap.
    has_enough_new: bool,
}

/// Decides when a user who was away gets a recap.
#[derive(Debug)]
struct Away {
    threshold: Duration,
    /// The time at which the terminal lost the focus.
    since: Option<Timestamp>,
    /// Whether a recap is being written.
    pending: bool,
}

impl Away {
    /// Starts with the focus. Absences shorter than `threshold` are ignored.
    fn new(threshold: Duration) -> Self {
        Self {
            threshold,
            since: None,
            pending: false,
        }
    }

    /// Processes the current situation. Returns whether a recap is due.
    fn observe(&mut self, moment: Situation) -> bool {
        let Some(since) = self.since else {
            if !moment.is_focused {
                self.since = Some(moment.now);
            }
            return false;
        };
        if !moment.is_focused {
            return false;
        }
        if moment.now.duration_since(since).unsigned_abs() < self.threshold {
            self.since = None;
            return false;
        }
        // Wait for a running turn, and for the previous recap.
        if self.pending || !moment.is_idle {
            return false;
        }
        self.since = None;
        self.pending = moment.has_enough_new;
        self.pending
    }

    /// Ends the work on a recap. Returns whether the recap may be shown: not if a new turn has
    /// started.
    fn finish(&mut self, is_idle: bool) -> bool {
        self.pending = false;
        is_idle
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const THRESHOLD: Duration = Duration::from_mins(5);

    fn moment(second: i64, is_focused: bool) -> Situation {
        Situation {
            now: Timestamp::from_second(second).unwrap(),
            is_focused,
            is_idle: true,
            has_enough_new: true,
        }
    }

    #[test]
    fn a_recap_starts_on_return_after_a_long_absence() {
        let mut away = Away::new(THRESHOLD);
        // A terminal that starts with the focus is not a return.
        assert!(!away.observe(moment(0, true)));
        // A short absence.
        away.observe(moment(10, false));
        assert!(!away.observe(moment(20, true)));
        assert!(!away.observe(moment(900, true)));
        // A long one, counted from its beginning.
        away.observe(moment(1000, false));
        away.observe(moment(1290, false));
        assert!(away.observe(moment(1300, true)));
        // During a call, another absence waits.
        away.observe(moment(1310, false));
        assert!(!away.observe(moment(1700, true)));
        assert!(!away.finish(false));
        assert!(away.observe(moment(1701, true)));
    }

    #[test]
    fn a_recap_waits_for_a_running_turn() {
        let mut away = Away::new(THRESHOLD);
        away.observe(moment(0, false));
        let busy = Situation {
            is_idle: false,
            ..moment(400, true)
        };
        assert!(!away.observe(busy));
        assert!(away.observe(moment(401, true)));
    }

    #[test]
    fn too_few_new_prompts_end_the_absence() {
        let mut away = Away::new(THRESHOLD);
        away.observe(moment(0, false));
        let same = Situation {
            has_enough_new: false,
            ..moment(400, true)
        };
        assert!(!away.observe(same));
        assert!(!away.observe(moment(401, true)));
    }

    proptest! {
        #[test]
        fn one_recap_at_a_time_and_only_after_an_absence(
            steps in prop::collection::vec((1_i64..400, any::<bool>(), any::<bool>(), any::<bool>()), 0..60),
        ) {
            let mut away = Away::new(THRESHOLD);
            let (mut second, mut left, mut running) = (0, None, false);
            for (wait, is_focused, is_idle, ends) in steps {
                second += wait;
                if ends && running {
                    away.finish(is_idle);
                    running = false;
                }
                let moment = Situation { is_idle, ..moment(second, is_focused) };
                if !is_focused {
                    left = left.or(Some(second));
                }
                if away.observe(moment) {
                    prop_assert!(is_focused && is_idle && !running);
                    prop_assert!(left.is_some_and(|left| second - left >= 300));
                    running = true;
                    left = None;
                }
            }
        }
    }
}
