use proptest::prelude::*;

use super::*;

const ALIVE: Observation = Observation {
    leader: Leader::Alive,
    pipes: Pipes::Open,
    descendants: Descendants::Alive,
    token: Level::Running,
};

const OVER: Observation = Observation {
    leader: Leader::Ended,
    pipes: Pipes::AtEnd,
    descendants: Descendants::Gone,
    token: Level::Running,
};

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn escalation() -> Escalation {
    Escalation::new(Limits {
        timeout: ms(1000),
        grace: ms(200),
        drain: ms(25),
    })
}

#[test]
fn a_child_that_ends_by_itself_is_not_signalled() {
    let mut escalation = escalation();
    assert_eq!(escalation.step(ms(0), ALIVE), Step::Wait(ms(1000)));
    assert_eq!(escalation.step(ms(5), OVER), Step::Finish);
    assert_eq!(escalation.end_cause(), Ended::Exited);
    assert!(!escalation.has_leftovers());
}

#[test]
fn the_exit_beats_the_deadline_and_the_token() {
    for token in [Level::Running, Level::Cancelled, Level::Killed] {
        let mut escalation = escalation();
        let seen = Observation { token, ..OVER };
        assert_eq!(escalation.step(ms(5000), seen), Step::Finish);
        assert_eq!(escalation.end_cause(), Ended::Exited);
    }
}

#[test]
fn a_timeout_sends_term_and_after_the_grace_kill() {
    let mut escalation = escalation();
    assert_eq!(escalation.step(ms(1000), ALIVE), Step::Terminate);
    assert_eq!(escalation.step(ms(1000), ALIVE), Step::Wait(ms(1200)));
    assert_eq!(escalation.step(ms(1200), ALIVE), Step::Kill);
    assert_eq!(escalation.step(ms(1200), ALIVE), Step::Wait(ms(1225)));
    assert_eq!(escalation.step(ms(1201), OVER), Step::Finish);
    assert_eq!(escalation.end_cause(), Ended::TimedOut);
}

#[test]
fn a_cancel_after_the_timeout_does_not_change_the_cause() {
    let mut escalation = escalation();
    assert_eq!(escalation.step(ms(1000), ALIVE), Step::Terminate);
    let cancelled = Observation {
        token: Level::Cancelled,
        ..ALIVE
    };
    assert_eq!(escalation.step(ms(1001), cancelled), Step::Wait(ms(1200)));
    let killed = Observation {
        token: Level::Killed,
        ..ALIVE
    };
    assert_eq!(escalation.step(ms(1002), killed), Step::Kill);
    assert_eq!(escalation.end_cause(), Ended::TimedOut);
}

#[test]
fn a_kill_skips_the_grace() {
    let mut escalation = escalation();
    let seen = Observation {
        token: Level::Killed,
        ..ALIVE
    };
    assert_eq!(escalation.step(ms(1), seen), Step::Kill);
    assert_eq!(escalation.end_cause(), Ended::Cancelled);
}

#[test]
fn survivors_have_the_drain_time_and_are_then_ended() {
    for pipes in [Pipes::Open, Pipes::AtEnd] {
        let mut escalation = escalation();
        let left = Observation {
            leader: Leader::Ended,
            pipes,
            ..ALIVE
        };
        assert_eq!(escalation.step(ms(5), left), Step::Wait(ms(30)));
        assert_eq!(escalation.step(ms(30), left), Step::Terminate);
        assert_eq!(escalation.step(ms(230), left), Step::Kill);
        assert_eq!(escalation.step(ms(231), OVER), Step::Finish);
        assert_eq!(escalation.end_cause(), Ended::Exited);
        assert!(escalation.has_leftovers());
    }
}

#[test]
fn a_process_that_left_the_group_and_holds_a_pipe_is_not_awaited() {
    let mut escalation = escalation();
    let held = Observation {
        pipes: Pipes::Open,
        ..OVER
    };
    assert_eq!(escalation.step(ms(5), held), Step::Wait(ms(30)));
    assert_eq!(escalation.step(ms(30), held), Step::Terminate);
    assert_eq!(escalation.step(ms(230), held), Step::Kill);
    assert_eq!(escalation.step(ms(255), held), Step::Finish);
    assert!(escalation.has_leftovers());
}

#[test]
fn a_child_that_survives_kill_is_abandoned() {
    let mut escalation = escalation();
    assert_eq!(escalation.step(ms(1000), ALIVE), Step::Terminate);
    assert_eq!(escalation.step(ms(1200), ALIVE), Step::Kill);
    assert_eq!(escalation.step(ms(1300), ALIVE), Step::Wait(ms(11_200)));
    assert_eq!(escalation.step(ms(11_200), ALIVE), Step::Finish);
}

prop_compose! {
    fn observation()(
        leader in prop::sample::select(vec![Leader::Alive, Leader::Ended]),
        pipes in prop::sample::select(vec![Pipes::Open, Pipes::AtEnd]),
        descendants in prop::sample::select(vec![Descendants::Gone, Descendants::Alive]),
        token in prop::sample::select(vec![Level::Running, Level::Cancelled, Level::Killed]),
    ) -> Observation {
        Observation { leader, pipes, descendants, token }
    }
}

proptest! {
    /// For all observations, waiting for the requested time at each step leads to the end. A living child gets
    /// SIGTERM before SIGKILL, unless the token demands SIGKILL.
    #[test]
    fn supervision_always_ends(seen in prop::collection::vec(observation(), 1..40)) {
        let mut escalation = escalation();
        let mut now = Duration::ZERO;
        let mut terminated = false;
        let mut finished = false;
        for seen in seen.iter().cycle().take(200) {
            match escalation.step(now, *seen) {
                Step::Wait(until) => {
                    prop_assert!(until > now);
                    now = until;
                }
                Step::Terminate => {
                    prop_assert!(!terminated);
                    terminated = true;
                }
                Step::Kill => prop_assert!(terminated || seen.token == Level::Killed),
                Step::Finish => {
                    finished = true;
                    break;
                }
            }
        }
        prop_assert!(finished);
        prop_assert!(now <= ms(1000 + 25 + 200) + KILL_TIMEOUT);
    }
}
