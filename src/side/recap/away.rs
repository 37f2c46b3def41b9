//! Decides when to show a recap to a user who was away. A state machine without I/O.

use std::time::Duration;

use jiff::Timestamp;

/// The terminal and the session at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// The time.
    pub now: Timestamp,
    /// The terminal has the focus.
    pub focused: bool,
    /// No prompt or call is unanswered.
    pub idle: bool,
    /// There are enough prompts since the last recap.
    pub enough_new: bool,
}

/// The action to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwayAction {
    /// None.
    Wait,
    /// Make a recap.
    Start,
}

/// Decides when a user who was away gets a recap.
#[derive(Debug)]
pub struct Away {
    threshold: Duration,
    /// When the terminal lost the focus.
    since: Option<Timestamp>,
    pending: bool,
}

impl Away {
    /// Starts with the focus. Absences shorter than `threshold` are ignored.
    pub fn new(threshold: Duration) -> Self {
        Self {
            threshold,
            since: None,
            pending: false,
        }
    }

    /// Processes the current situation.
    pub fn observe(&mut self, moment: Situation) -> AwayAction {
        let Some(since) = self.since else {
            if !moment.focused {
                self.since = Some(moment.now);
            }
            return AwayAction::Wait;
        };
        if !moment.focused {
            return AwayAction::Wait;
        }
        if moment.now.duration_since(since).unsigned_abs() < self.threshold {
            self.since = None;
            return AwayAction::Wait;
        }
        // Wait for a running turn, and for the previous recap.
        if self.pending || !moment.idle {
            return AwayAction::Wait;
        }
        self.since = None;
        if !moment.enough_new {
            return AwayAction::Wait;
        }
        self.pending = true;
        AwayAction::Start
    }

    /// Ends the work on a recap. Returns whether the recap may be shown: not if a new turn has
    /// started.
    pub fn finished(&mut self, idle: bool) -> bool {
        self.pending = false;
        idle
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const THRESHOLD: Duration = Duration::from_mins(5);

    fn moment(second: i64, focused: bool) -> Situation {
        Situation {
            now: Timestamp::from_second(second).unwrap(),
            focused,
            idle: true,
            enough_new: true,
        }
    }

    #[test]
    fn a_recap_starts_on_return_after_a_long_absence() {
        let mut away = Away::new(THRESHOLD);
        // A terminal that starts with the focus is not a return.
        assert_eq!(away.observe(moment(0, true)), AwayAction::Wait);
        // A short absence.
        away.observe(moment(10, false));
        assert_eq!(away.observe(moment(20, true)), AwayAction::Wait);
        assert_eq!(away.observe(moment(900, true)), AwayAction::Wait);
        // A long one, counted from its beginning.
        away.observe(moment(1000, false));
        away.observe(moment(1290, false));
        assert_eq!(away.observe(moment(1300, true)), AwayAction::Start);
        // While the call runs, another absence waits.
        away.observe(moment(1310, false));
        assert_eq!(away.observe(moment(1700, true)), AwayAction::Wait);
        assert!(!away.finished(false));
        assert_eq!(away.observe(moment(1701, true)), AwayAction::Start);
    }

    #[test]
    fn a_running_turn_is_waited_for() {
        let mut away = Away::new(THRESHOLD);
        away.observe(moment(0, false));
        let busy = Situation {
            idle: false,
            ..moment(400, true)
        };
        assert_eq!(away.observe(busy), AwayAction::Wait);
        assert_eq!(away.observe(moment(401, true)), AwayAction::Start);
    }

    #[test]
    fn too_little_new_ends_the_absence() {
        let mut away = Away::new(THRESHOLD);
        away.observe(moment(0, false));
        let same = Situation {
            enough_new: false,
            ..moment(400, true)
        };
        assert_eq!(away.observe(same), AwayAction::Wait);
        assert_eq!(away.observe(moment(401, true)), AwayAction::Wait);
    }

    proptest! {
        #[test]
        fn one_recap_at_a_time_and_only_after_an_absence(
            steps in prop::collection::vec((1_i64..400, any::<bool>(), any::<bool>(), any::<bool>()), 0..60),
        ) {
            let mut away = Away::new(THRESHOLD);
            let (mut second, mut left, mut running) = (0, None, false);
            for (wait, focused, idle, ends) in steps {
                second += wait;
                if ends && running {
                    away.finished(idle);
                    running = false;
                }
                let moment = Situation { idle, ..moment(second, focused) };
                if !focused {
                    left = left.or(Some(second));
                }
                if away.observe(moment) == AwayAction::Start {
                    prop_assert!(focused && idle && !running);
                    prop_assert!(left.is_some_and(|left| second - left >= 300));
                    running = true;
                    left = None;
                }
            }
        }
    }
}
