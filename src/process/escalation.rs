//! Decides how to end a child: maps observations to the next step, without any I/O.
//!
//! A running child is asked to end (TERM) when its time is up or its token fires, and killed after
//! the grace period. If it ended by itself, the processes that it left behind (in its group, or
//! holding its pipes) have the drain time to finish. Then they are ended in the same way.

use std::time::Duration;

use super::{Ended, Limits};
use crate::io::Level;

/// How long to keep killing what a call leaves behind, on a machine that this may keep busy.
pub(super) const PERSISTENCE: Duration = Duration::from_secs(10);

/// What becomes of a call's orphans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Treatment {
    Spared,
    Killed,
}

/// How long the kernel gets to end a killed child before we stop waiting for it.
const UNKILLABLE: Duration = Duration::from_secs(10);

/// What is seen of a child. Times are durations since it started.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation {
    /// The process that was started.
    pub(super) leader: Leader,
    /// Its output pipes.
    pub(super) pipes: Pipes,
    /// What it started in its turn.
    pub(super) rest: Rest,
    /// The token it runs under.
    pub(super) token: Level,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leader {
    Alive,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipes {
    /// One of them still has a writer.
    Open,
    AtEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Gone,
    Alive,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait until something changes, at most to this time.
    Wait(Duration),
    /// Tell the group to end, and ask again.
    Terminate,
    /// Kill the group, and ask again.
    Kill,
    /// It is over.
    Finish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Draining,
    Terminating,
    Killing { since: Duration },
}

/// Where one child is on its way to the end.
#[derive(Debug)]
pub(super) struct Escalation {
    limits: Limits,
    stage: Stage,
    deadline: Duration,
    ended: Ended,
    left_something: bool,
}

impl Escalation {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            stage: Stage::Running,
            deadline: limits.timeout,
            ended: Ended::Exited,
            left_something: false,
        }
    }

    /// Who ended the child, if known.
    pub(super) fn ended(&self) -> Ended {
        self.ended
    }

    /// Whether the child ended by itself and left something behind that had to be ended.
    pub(super) fn left_something(&self) -> bool {
        self.left_something
    }

    /// When the present stage is over.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// The next thing to do. After `Terminate` and `Kill` the stage has moved on: ask again.
    pub(super) fn step(&mut self, now: Duration, seen: Observation) -> Step {
        if self.is_over(seen) {
            return Step::Finish;
        }
        match self.stage {
            Stage::Running => self.step_running(now, seen),
            Stage::Draining => self.step_draining(now, seen),
            Stage::Terminating => self.step_terminating(now, seen),
            Stage::Killing { since } => self.step_killing(now, since, seen),
        }
    }

    fn is_over(&self, seen: Observation) -> bool {
        let killed = matches!(self.stage, Stage::Killing { .. });
        seen.leader == Leader::Ended
            && seen.pipes == Pipes::AtEnd
            && (seen.rest == Rest::Gone || killed)
    }

    fn step_running(&mut self, now: Duration, seen: Observation) -> Step {
        // The exit comes first: a child that made it to its end by the deadline has exited.
        if seen.leader == Leader::Ended {
            self.enter(Stage::Draining, now, self.limits.drain);
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
        let give_up = since.saturating_add(UNKILLABLE);
        if seen.leader == Leader::Ended || now >= give_up {
            return Step::Finish;
        }
        self.deadline = give_up;
        Step::Wait(give_up)
    }

    fn terminate(&mut self, now: Duration) -> Step {
        self.enter(Stage::Terminating, now, self.limits.grace);
        Step::Terminate
    }

    fn kill(&mut self, now: Duration) -> Step {
        // What holds the pipes after this escaped from the group: it gets the drain time.
        self.enter(Stage::Killing { since: now }, now, self.limits.drain);
        Step::Kill
    }

    fn enter(&mut self, stage: Stage, now: Duration, lasting: Duration) {
        self.stage = stage;
        self.deadline = now.saturating_add(lasting);
    }
}

#[cfg(test)]
#[path = "escalation_tests.rs"]
mod tests;
