//! The end of a run by signals and deadlines: a pure state machine. See `docs/records.md`, Interrupts.

use std::time::{Duration, Instant};

use super::call_result::CancelReason;
use super::session::EndCause;
use crate::process::EndSignal;

/// Time for a cancelled call to end. After it, a result is written without the call.
const CANCEL_GRACE: Duration = Duration::from_millis(400);

/// Time that an interrupted run without calls waits for more input.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);

/// The requests to end so far, and the deadlines.
#[derive(Debug)]
pub(super) struct Interruption {
    run_deadline: Option<Instant>,
    is_past_deadline: bool,
    signal: Option<EndSignal>,
    /// Whether a second signal arrived.
    has_second_signal: bool,
    /// The end of the grace period of cancelled calls.
    grace_deadline: Option<Instant>,
    idle_since: Instant,
}

/// The effect of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Demand {
    /// Start no more calls, and cancel the running ones.
    Stop,
    /// Kill the running calls.
    StopAtOnce,
}

impl Interruption {
    pub(super) fn new(timeout: Option<Duration>) -> Self {
        let now = Instant::now();
        Self {
            run_deadline: timeout.map(|timeout| now + timeout),
            is_past_deadline: false,
            signal: None,
            has_second_signal: false,
            grace_deadline: None,
            idle_since: now,
        }
    }

    /// Handles a signal.
    pub(super) fn record_signal(&mut self, signal: EndSignal, now: Instant) -> Demand {
        if self.signal.is_none() {
            self.signal = Some(signal);
            self.idle_since = now;
            return Demand::Stop;
        }
        self.has_second_signal = true;
        if signal == EndSignal::Terminate {
            self.signal = Some(signal);
        }
        Demand::StopAtOnce
    }

    /// Returns the reason to refuse calls that arrive now; `None` if they may start.
    pub(super) fn refusal(&self) -> Option<CancelReason> {
        match (self.signal, self.is_past_deadline) {
            (Some(_), _) => Some(CancelReason::Interrupt),
            (None, true) => Some(CancelReason::TimeUp),
            (None, false) => None,
        }
    }

    /// Starts the grace period of cancelled calls.
    pub(super) fn note_cancelled_calls(&mut self, now: Instant) {
        self.grace_deadline.get_or_insert(now + CANCEL_GRACE);
    }

    /// Returns whether the grace period of cancelled calls is over: `true` only once for each cancellation.
    pub(super) fn take_end_of_grace(&mut self, now: Instant) -> bool {
        self.grace_deadline.take_if(|end| *end <= now).is_some()
    }

    /// Returns whether the run has reached its time limit: `true` only once.
    pub(super) fn take_time_up(&mut self, now: Instant) -> bool {
        let up = !self.is_past_deadline && self.run_deadline.is_some_and(|end| end <= now);
        self.is_past_deadline |= up;
        up
    }

    /// Notes that input arrived, so the producer is still running.
    pub(super) fn note_input(&mut self, now: Instant) {
        self.idle_since = now;
    }

    /// Returns the next time at which to check without an event.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let run_deadline = self.run_deadline.filter(|_| !self.is_past_deadline);
        let idle_ends = self.signal.map(|_| self.idle_since + IDLE_TIMEOUT);
        run_deadline
            .into_iter()
            .chain(self.grace_deadline)
            .chain(idle_ends)
            .min()
    }

    /// Returns the cause of an end before the end of the input; `None` if the run continues. Called while no call
    /// is open.
    pub(super) fn end_of_run(&self, stage: StageKind, now: Instant) -> Option<EndCause> {
        let Some(signal) = self.signal else {
            return self.is_past_deadline.then_some(EndCause::TimeUp);
        };
        let is_over = match stage {
            StageKind::Active => true,
            StageKind::History => self.has_second_signal,
            StageKind::Untouched => self.has_second_signal || now >= self.idle_since + IDLE_TIMEOUT,
        };
        is_over.then_some(match signal {
            EndSignal::Interrupt => EndCause::Interrupted,
            EndSignal::Terminate => EndCause::Terminated,
        })
    }

    /// Returns the cause of an end with the end of the input.
    pub(super) fn final_cause(&self, stage: StageKind) -> EndCause {
        match (self.signal, stage) {
            (Some(EndSignal::Terminate), _) => EndCause::Terminated,
            (Some(_), StageKind::Active | StageKind::Untouched) => EndCause::Interrupted,
            (None, _) if self.is_past_deadline => EndCause::TimeUp,
            (Some(_), StageKind::History) | (None, _) => EndCause::EndOfInput,
        }
    }
}

/// The role of this process in its pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StageKind {
    /// It has started calls.
    Active,
    /// It copies a recording.
    History,
    /// It has done neither so far.
    Untouched,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record_signal(signal: EndSignal, now: Instant) -> Interruption {
        let mut state = Interruption::new(None);
        assert_eq!(state.record_signal(signal, now), Demand::Stop);
        state
    }

    fn interrupt(now: Instant) -> Interruption {
        record_signal(EndSignal::Interrupt, now)
    }

    #[test]
    fn the_time_limit_is_a_deadline_until_it_is_reached() {
        let mut state = Interruption::new(Some(Duration::ZERO));
        let deadline = state.next_deadline().unwrap();
        assert!(state.take_time_up(deadline));
        assert_eq!(state.next_deadline(), None);
    }

    #[test]
    fn a_later_stage_ignores_the_first_request_to_terminate() {
        let now = Instant::now();
        let state = record_signal(EndSignal::Terminate, now);
        let of = |stage| state.end_of_run(stage, now);
        assert_eq!(of(StageKind::Active), Some(EndCause::Terminated));
        assert_eq!(of(StageKind::History), None);
        assert_eq!(of(StageKind::Untouched), None);
    }

    #[test]
    fn an_active_stage_ends_when_its_calls_have_results() {
        let now = Instant::now();
        let state = interrupt(now);
        let end = state.end_of_run(StageKind::Active, now);
        assert_eq!(end, Some(EndCause::Interrupted));
    }

    #[test]
    fn a_later_stage_ignores_the_first_interrupt_and_obeys_the_second() {
        let now = Instant::now();
        let mut state = interrupt(now);
        let later = now + Duration::from_hours(1);
        assert_eq!(state.end_of_run(StageKind::History, later), None);
        assert_eq!(state.final_cause(StageKind::History), EndCause::EndOfInput);
        assert_eq!(
            state.record_signal(EndSignal::Interrupt, now),
            Demand::StopAtOnce
        );
        let end = state.end_of_run(StageKind::History, now);
        assert_eq!(end, Some(EndCause::Interrupted));
    }

    #[test]
    fn an_untouched_stage_waits_for_its_producer_for_a_limited_time() {
        let now = Instant::now();
        let mut state = interrupt(now);
        assert_eq!(state.end_of_run(StageKind::Untouched, now), None);
        state.note_input(now + IDLE_TIMEOUT);
        assert_eq!(
            state.end_of_run(StageKind::Untouched, now + IDLE_TIMEOUT),
            None
        );
        let end = state.end_of_run(StageKind::Untouched, now + 2 * IDLE_TIMEOUT);
        assert_eq!(end, Some(EndCause::Interrupted));
    }

    #[test]
    fn time_is_up_once() {
        let mut state = Interruption::new(Some(Duration::ZERO));
        let now = Instant::now();
        assert!(state.take_time_up(now));
        assert!(!state.take_time_up(now));
        assert_eq!(state.refusal(), Some(CancelReason::TimeUp));
        let end = state.end_of_run(StageKind::Active, now);
        assert_eq!(end, Some(EndCause::TimeUp));
        // The input ended meanwhile.
        assert_eq!(state.final_cause(StageKind::Active), EndCause::TimeUp);
    }

    /// The grace period starts with the first cancelled call and is reported once.
    #[test]
    fn cancelled_calls_have_one_grace_period() {
        let now = Instant::now();
        let mut state = Interruption::new(None);
        assert!(!state.take_end_of_grace(now + 2 * CANCEL_GRACE));
        state.note_cancelled_calls(now);
        state.note_cancelled_calls(now + CANCEL_GRACE);
        assert_eq!(state.next_deadline(), Some(now + CANCEL_GRACE));
        let almost = now + CANCEL_GRACE.mul_f64(0.9);
        assert!(!state.take_end_of_grace(almost));
        assert!(state.take_end_of_grace(now + CANCEL_GRACE));
        assert!(!state.take_end_of_grace(now + CANCEL_GRACE));
        assert_eq!(state.next_deadline(), None);
    }
}
