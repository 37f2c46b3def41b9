//! Decides how a child is ended: a state machine from observations to the next step, without I/O.
//!
//! A child gets SIGTERM when its time is up or its token fires, and SIGKILL after the grace period. If it
//! ends by itself, processes that it leaves in its group or that hold its pipes have the drain time to
//! finish, and are then ended in the same way.

use std::time::Duration;

use super::{Ended, Limits};
use turnpipe_core::io::Level;

/// Maximum time spent on killing the surviving processes of a call.
pub(super) const CLEANUP_TIMEOUT: Duration = Duration::from_secs(10);

/// The treatment of the orphans of a call.
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
    /// At least one has a writer.
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

/// The state of the escalation of one child.
#[derive(Debug)]
pub(super) struct Escalation {
    limits: Limits,
    phase: Phase,
    deadline: Duration,
    ended: Ended,
    has_leftovers: bool,
}

impl Escalation {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            phase: Phase::Running,
            deadline: limits.timeout,
            ended: Ended::Exited,
            has_leftovers: false,
        }
    }

    /// Returns the cause of the child's end.
    pub(super) fn end_cause(&self) -> Ended {
        self.ended
    }

    /// Whether the child ended by itself and left processes that had to be ended.
    pub(super) fn has_leftovers(&self) -> bool {
        self.has_leftovers
    }

    /// Returns the end of the current phase, as time after the start.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Returns the next step, `now` after the start. After `Terminate` and `Kill` the caller asks again.
    pub(super) fn step(&mut self, now: Duration, observation: Observation) -> Step {
        if self.is_over(observation) {
            return Step::Finish;
        }
        match self.phase {
            Phase::Running => self.step_running(now, observation),
            Phase::Draining => self.step_draining(now, observation),
            Phase::Terminating => self.step_terminating(now, observation),
            Phase::Killing { since } => self.step_killing(now, since, observation),
        }
    }

    /// Whether nothing is left to wait for.
    fn is_over(&self, observation: Observation) -> bool {
        let is_killing = matches!(self.phase, Phase::Killing { .. });
        observation.leader == Leader::Ended
            && observation.pipes == Pipes::AtEnd
            && (observation.descendants == Descendants::Gone || is_killing)
    }

    fn step_running(&mut self, now: Duration, observation: Observation) -> Step {
        // A child that ends at its deadline has exited by itself.
        if observation.leader == Leader::Ended {
            self.enter_phase(Phase::Draining, now, self.limits.drain);
            return self.step_draining(now, observation);
        }
        match observation.token {
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

    fn step_draining(&mut self, now: Duration, observation: Observation) -> Step {
        if observation.token == Level::Killed {
            self.has_leftovers = true;
            self.kill(now)
        } else if observation.token > Level::Running || now >= self.deadline {
            self.has_leftovers = true;
            self.terminate(now)
        } else {
            Step::Wait(self.deadline)
        }
    }

    fn step_terminating(&mut self, now: Duration, observation: Observation) -> Step {
        if observation.token == Level::Killed || now >= self.deadline {
            self.kill(now)
        } else {
            Step::Wait(self.deadline)
        }
    }

    fn step_killing(&mut self, now: Duration, since: Duration, observation: Observation) -> Step {
        if now < self.deadline {
            return Step::Wait(self.deadline);
        }
        let give_up = since.saturating_add(KILL_TIMEOUT);
        if observation.leader == Leader::Ended || now >= give_up {
            return Step::Finish;
        }
        self.deadline = give_up;
        Step::Wait(give_up)
    }

    fn terminate(&mut self, now: Duration) -> Step {
        self.enter_phase(Phase::Terminating, now, self.limits.grace);
        Step::Terminate
    }

    fn kill(&mut self, now: Duration) -> Step {
        // A process that still holds the pipes has left the group. It gets the drain time.
        self.enter_phase(Phase::Killing { since: now }, now, self.limits.drain);
        Step::Kill
    }

    fn enter_phase(&mut self, phase: Phase, now: Duration, lasting: Duration) {
        self.phase = phase;
        self.deadline = now.saturating_add(lasting);
    }
}

#[cfg(test)]
#[path = "escalation_tests.rs"]
mod tests;
