//! The end of a child: a state machine from observations to the next step, without I/O.
//!
//! A child gets SIGTERM when its time is up or its token fires, and SIGKILL after the grace period. If it
//! ends by itself, processes that it leaves in its group or that hold its pipes have the drain time to
//! finish, and are then ended in the same way.

use std::time::Duration;

use super::{Ended, Limits};
use turnpipe_core::io::Level;

/// Maximum time spent on killing the surviving processes of a call.
pub(super) const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The treatment of a call's orphans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OrphanAction {
    Keep,
    Kill,
}

/// Maximum time to wait for a killed child.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// The observed state of a child.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    /// The process that was started.
    pub(super) leader: Leader,
    /// Its output pipes.
    pub(super) pipes: Pipes,
    /// The processes that it started.
    pub(super) descendants: Descendants,
    /// Its cancellation token.
    pub(super) token: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    Alive,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipes {
    /// One of them has a writer.
    Open,
    AtEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Descendants {
    Gone,
    Alive,
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait for a change, at most until this time after the start.
    Wait(Duration),
    /// Send SIGTERM to the group, then call `step` again.
    Terminate,
    /// Send SIGKILL to the group, then call `step` again.
    Kill,
    /// The child and its descendants have ended, or are abandoned.
    Finish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    Draining,
    Terminating,
    Killing { since: Duration },
}

/// The state of one child.
#[derive(Debug)]
pub(super) struct Escalation {
    limits: Limits,
    phase: Phase,
    deadline: Duration,
    ended: Ended,
    left_something: bool,
}

impl Escalation {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            phase: Phase::Running,
            deadline: limits.timeout,
            ended: Ended::Exited,
            left_something: false,
        }
    }

    /// Returns the cause of the child's end.
    pub(super) fn end_cause(&self) -> Ended {
        self.ended
    }

    /// Whether the child ended by itself and left processes that had to be ended.
    pub(super) fn left_something(&self) -> bool {
        self.left_something
    }

    /// Returns the end of the current phase, as time after the start.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Returns the next step, `now` after the start. After `Terminate` and `Kill` the caller asks again.
    pub(super) fn step(&mut self, now: Duration, seen: Observation) -> Step {
        if self.is_over(seen) {
            return Step::Finish;
        }
        match self.phase {
            Phase::Running => self.step_running(now, seen),
            Phase::Draining => self.step_draining(now, seen),
            Phase::Terminating => self.step_terminating(now, seen),
            Phase::Killing { since } => self.step_killing(now, since, seen),
        }
    }

    fn is_over(&self, seen: Observation) -> bool {
        let killed = matches!(self.phase, Phase::Killing { .. });
        seen.leader == Leader::Ended
            && seen.pipes == Pipes::AtEnd
            && (seen.descendants == Descendants::Gone || killed)
    }

    fn step_running(&mut self, now: Duration, seen: Observation) -> Step {
        // A child that ends at its deadline has exited by itself.
        if seen.leader == Leader::Ended {
            self.enter(Phase::Draining, now, self.limits.drain);
            return self.step_draining(now, seen);
        }
        match seen.token {
            Level::Killed => {
                self.ended = Ended::Cancelled;
                self.kill(now)
            }
            Level::Cancelled => {
                self.ended = Ended::Cancelled;
                self.terminate(now)
            }
            Level::Running if now >= self.deadline => {
                self.ended = Ended::TimedOut;
                self.terminate(now)
            }
            Level::Running => Step::Wait(self.deadline),
        }
    }

    fn step_draining(&mut self, now: Duration, seen: Observation) -> Step {
        let hurry = seen.token > Level::Running;
        if seen.token == Level::Killed {
            self.left_something = true;
            self.kill(now)
        } else if hurry || now >= self.deadline {
            self.left_something = true;
            self.terminate(now)
        } else {
            Step::Wait(self.deadline)
        }
    }

    fn step_terminating(&mut self, now: Duration, seen: Observation) -> Step {
        if seen.token == Level::Killed || now >= self.deadline {
            self.kill(now)
        } else {
            Step::Wait(self.deadline)
        }
    }

    fn step_killing(&mut self, now: Duration, since: Duration, seen: Observation) -> Step {
        if now < self.deadline {
            return Step::Wait(self.deadline);
        }
        let give_up = since.saturating_add(KILL_TIMEOUT);
        if seen.leader == Leader::Ended || now >= give_up {
            return Step::Finish;
        }
        self.deadline = give_up;
        Step::Wait(give_up)
    }

    fn terminate(&mut self, now: Duration) -> Step {
        self.enter(Phase::Terminating, now, self.limits.grace);
        Step::Terminate
    }

    fn kill(&mut self, now: Duration) -> Step {
        // A process that holds the pipes after this has left the group; it gets the drain time.
        self.enter(Phase::Killing { since: now }, now, self.limits.drain);
        Step::Kill
    }

    fn enter(&mut self, phase: Phase, now: Duration, lasting: Duration) {
        self.phase = phase;
        self.deadline = now.saturating_add(lasting);
    }
}

#[cfg(test)]
#[path = "escalation_tests.rs"]
mod tests;
