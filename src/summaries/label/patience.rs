//! Decides whether lines wait for labels, and how many labels are requested at once. Pure.

use std::time::Duration;

/// Number of consecutive late labels after which lines stop waiting.
const MAX_LATE: usize = 3;

/// Maximum number of labels that are requested and not ready.
pub(super) const MAX_REQUESTED: usize = 256;

/// The observed speed of a model.
#[derive(Debug)]
pub(super) struct Patience {
    /// The time that lines may wait for a label.
    hold: Duration,
    /// Number of consecutive labels that were not ready in time.
    late: usize,
    is_lost: bool,
}

impl Patience {
    /// Creates the state of a model that is fast enough so far.
    pub(super) fn new(hold: Duration) -> Self {
        Self {
            hold,
            late: 0,
            is_lost: false,
        }
    }

    /// Whether another label may be requested while `requested` labels are not ready. After three late labels, one label
    /// at a time is requested.
    pub(super) fn may_request(&self, requested: usize) -> bool {
        requested < if self.is_lost { 1 } else { MAX_REQUESTED }
    }

    /// Whether lines may wait for labels.
    pub(super) fn may_wait(&self) -> bool {
        !self.is_lost
    }

    /// Whether the last label was late.
    pub(super) fn was_late(&self) -> bool {
        self.late > 0
    }

    /// Notes a label that was not ready in time. Returns whether lines stop waiting because of it.
    pub(super) fn note_late(&mut self) -> bool {
        self.late += 1;
        // Without a wait, late labels do not indicate a slow model.
        let is_too_late = self.late == MAX_LATE && !self.hold.is_zero();
        self.is_lost |= is_too_late;
        is_too_late
    }

    /// Notes a label that became ready, and the time since its request.
    pub(super) fn note_label(&mut self, is_in_time: bool, after: Duration) {
        if is_in_time || self.is_lost && after <= self.hold {
            self.late = 0;
            self.is_lost = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Duration = Duration::from_secs(5);

    #[test]
    fn a_slow_model_is_asked_for_one_label_at_a_time_until_it_is_fast() {
        let mut patience = Patience::new(HOLD);
        for is_lost in [false, false, true] {
            assert!(patience.may_wait() && patience.may_request(8));
            assert_eq!(patience.note_late(), is_lost);
        }
        patience.note_label(false, 2 * HOLD);
        assert!(!patience.may_wait() && patience.may_request(0) && !patience.may_request(1));
        assert!(!patience.note_late());
        patience.note_label(false, HOLD);
        assert!(patience.may_wait() && patience.may_request(8) && !patience.was_late());
    }

    #[test]
    fn late_labels_are_no_sign_if_no_line_waits() {
        let mut patience = Patience::new(Duration::ZERO);
        for _ in 0..9 {
            assert!(!patience.note_late());
        }
        assert!(patience.may_request(8) && !patience.may_request(MAX_REQUESTED));
    }
}
