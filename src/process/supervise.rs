//! The calling thread's loop while a child runs: reads its output, feeds its input, watches its
//! end, its deadlines and its token, and does what the escalation says.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::capture_buffer::CaptureBuffer;
use super::escalation::{
    Escalation, Leader, Observation, PERSISTENCE, Pipes, Rest, Step, Treatment,
};
use super::live_calls::{self, Registration};
use super::pipes::OurEnds;
use super::process_tree::ProcessTree;
use super::{Command, ExitStatus, Finished, Leftovers, Stdin};
use crate::io::CancelToken;
use crate::io::Level;

/// What a pipe holds by default, so what one read can bring.
const READ_BYTES: usize = 64 * 1024;

/// How long the output of a call is left in its pipes, unless the call ends before. A child that
/// fills them sooner has to wait that long, once.
const PATIENCE: Duration = Duration::from_millis(2);

/// How often a pipe is read at the very end, when it still has a writer.
const LAST_READS: usize = 32;

/// How long to wait at most for what no descriptor reports. The first check comes soon: a dying
/// process is mostly gone at once.
const BLIND_WAIT: Duration = Duration::from_millis(20);
const FIRST_BLIND_WAIT: Duration = Duration::from_millis(1);

/// How often ended orphans are waited for while a call runs, since it may make many.
#[cfg(target_os = "linux")]
const REAPING: Duration = Duration::from_millis(100);

/// One of the child's output pipes and what came out of it.
struct Output<'a> {
    /// `None` once it is at its end.
    pipe: Option<OwnedFd>,
    buffer: CaptureBuffer<'a>,
}

/// One child under supervision.
struct Supervision<'a> {
    began: Instant,
    registration: Registration,
    tree: ProcessTree,
    escalation: Escalation,
    cancel: &'a CancelToken,
    survivors: bool,
    stdin: Option<OwnedFd>,
    unread: &'a [u8],
    outputs: [Output<'a>; 2],
    report: Option<OwnedFd>,
    scratch: Vec<u8>,
    blind_wait: Duration,
    #[cfg(target_os = "linux")]
    next_reaping: Duration,
}

/// Stays with a child that was just started until it and what it started are gone.
pub(super) fn supervise(
    mut tree: ProcessTree,
    registration: Registration,
    ends: OurEnds,
    command: &Command,
    cancel: &CancelToken,
    spill_directory: &Path,
) -> Finished {
    registration.started(&mut tree);
    let output = |pipe| Output {
        pipe: Some(pipe),
        buffer: CaptureBuffer::new(command.capture, spill_directory),
    };
    let mut supervision = Supervision {
        began: Instant::now(),
        registration,
        tree,
        escalation: Escalation::new(command.limits),
        cancel,
        survivors: false,
        stdin: ends.stdin,
        unread: match &command.stdin {
            Stdin::Null => &[],
            Stdin::Bytes(bytes) => bytes,
        },
        outputs: [output(ends.stdout), output(ends.stderr)],
        report: ends.report,
        scratch: Vec::new(),
        blind_wait: FIRST_BLIND_WAIT,
        #[cfg(target_os = "linux")]
        next_reaping: REAPING,
    };
    supervision.run();
    supervision.finish()
}

impl Supervision<'_> {
    fn run(&mut self) {
        let mut leader_may_have_ended = self.tree.descriptor().is_none();
        let mut was_killed = false;
        loop {
            let now = self.began.elapsed();
            let token = self.cancel.level();
            // An exit counts before a deadline or a cancel that came at the same time.
            let decisive = now >= self.escalation.deadline() || token > Level::Running;
            if leader_may_have_ended || decisive {
                self.tree.look_for_end();
            }
            let seen = self.observe(token);
            match self.escalation.step(now, seen) {
                Step::Wait(until) => {
                    leader_may_have_ended = self.wait(until.saturating_sub(now), seen);
                }
                Step::Terminate => {
                    self.orphans(Treatment::Spared);
                    self.tree.terminate();
                }
                Step::Kill => {
                    self.orphans(Treatment::Spared);
                    self.tree.kill();
                    was_killed = true;
                }
                Step::Finish => break,
            }
        }
        self.survivors = was_killed && !self.kill_rest();
    }

    /// Kills what is left after a kill: what has become an orphan only since, and what was forked
    /// meanwhile. Returns whether nothing is left: an orphan that starts the next one and ends is
    /// seen alive or ended, since nobody else waits for it.
    fn kill_rest(&mut self) -> bool {
        let until = Instant::now() + PERSISTENCE;
        while Instant::now() < until {
            if self.orphans(Treatment::Killed) {
                continue;
            }
            if self.tree.rest() == Rest::Gone {
                return true;
            }
            self.tree.kill();
            thread::sleep(FIRST_BLIND_WAIT);
        }
        false
    }

    /// Returns when it is to be done again.
    #[cfg(target_os = "linux")]
    fn reap_orphans(&mut self) -> Duration {
        if !super::orphans::are_adopted() {
            return Duration::MAX;
        }
        let now = self.began.elapsed();
        if now >= self.next_reaping {
            let pause = if super::orphans::reap() {
                BLIND_WAIT
            } else {
                REAPING
            };
            self.next_reaping = self.began.elapsed() + pause;
        }
        self.next_reaping.saturating_sub(self.began.elapsed())
    }

    /// Takes in the orphans that live, and returns whether anything of them may be left.
    #[cfg(target_os = "linux")]
    fn orphans(&mut self, treatment: Treatment) -> bool {
        if !super::orphans::are_adopted() {
            return false;
        }
        let pipes = self.open_pipes();
        let leader = self.tree.leader();
        let found = self.registration.orphans(leader, &pipes, treatment);
        let any = found.any();
        self.tree.adopt(found.living);
        any
    }

    /// The output pipes that are not at their end, by inode.
    #[cfg(target_os = "linux")]
    fn open_pipes(&self) -> Vec<u64> {
        let pipes = self.outputs.iter().filter_map(Output::descriptor);
        pipes
            .filter_map(|pipe| Some(rustix::fs::fstat(pipe).ok()?.st_ino))
            .collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn orphans(&mut self, _: Treatment) -> bool {
        false
    }

    fn observe(&mut self, token: Level) -> Observation {
        let leader = match self.tree.status() {
            Some(_) => Leader::Ended,
            None => Leader::Alive,
        };
        let pipes = if self.outputs.iter().all(|output| output.pipe.is_none()) {
            Pipes::AtEnd
        } else {
            Pipes::Open
        };
        let rest = match (leader, pipes) {
            // One that has ended may have started the next.
            (Leader::Ended, Pipes::AtEnd) if self.orphans(Treatment::Spared) => Rest::Alive,
            (Leader::Ended, Pipes::AtEnd) => self.tree.rest(),
            // Only the end of all depends on it.
            _ => Rest::Alive,
        };
        Observation {
            leader,
            pipes,
            rest,
            token,
        }
    }

    /// Waits for at most `timeout` and moves what can be moved. Returns whether the leader may
    /// have ended.
    fn wait(&mut self, timeout: Duration, seen: Observation) -> bool {
        #[cfg(target_os = "linux")]
        let timeout = timeout.min(self.reap_orphans());
        let leader = self
            .tree
            .descriptor()
            .filter(|_| seen.leader == Leader::Alive);
        let token = self.cancel.beyond(seen.token);
        let blind = (seen.leader == Leader::Alive && leader.is_none())
            || (seen.token < Level::Killed && token.is_none())
            || (seen.leader == Leader::Ended && seen.pipes == Pipes::AtEnd);
        let timeout = if blind {
            let capped = timeout.min(self.blind_wait);
            self.blind_wait = (2 * self.blind_wait).min(BLIND_WAIT);
            capped
        } else {
            timeout
        };
        let (timeout, outputs) = match self.patience(leader) {
            Some(patience) => (timeout.min(patience), [None, None]),
            None => (timeout, self.outputs.each_ref().map(Output::descriptor)),
        };
        let watched = [
            (outputs[0], PollFlags::IN),
            (outputs[1], PollFlags::IN),
            (self.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (leader, PollFlags::IN),
            (token, PollFlags::IN),
        ];
        let [stdout, stderr, stdin, leader, _] = poll_those(watched, timeout);
        for (output, ready) in self.outputs.iter_mut().zip([stdout, stderr]) {
            output.read_ready(ready, &mut self.scratch);
        }
        if !stdin.is_empty() {
            self.feed();
        }
        !leader.is_empty() || self.tree.descriptor().is_none()
    }

    /// How long the output can stay in its pipes, if it can: a short call then wakes us once, by its
    /// end, and not with each pipe that it closes on its way out.
    fn patience(&self, leader: Option<BorrowedFd<'_>>) -> Option<Duration> {
        if leader.is_none() || self.stdin.is_some() {
            return None;
        }
        let left = PATIENCE.checked_sub(self.began.elapsed())?;
        (!left.is_zero()).then_some(left)
    }

    /// Writes what the child's input takes. A child that reads no further is not an error.
    fn feed(&mut self) {
        let Some(pipe) = &self.stdin else { return };
        match rustix::io::write(pipe, self.unread) {
            Ok(count) => self.unread = &self.unread[count..],
            Err(Errno::AGAIN | Errno::INTR) => return,
            Err(_) => self.unread = &[],
        }
        if self.unread.is_empty() {
            self.stdin = None;
        }
    }

    fn finish(mut self) -> Finished {
        let is_held = self.outputs.iter().any(|output| output.pipe.is_some());
        let leftovers = if self.survivors || is_held {
            Leftovers::Running
        } else if self.escalation.left_something() {
            Leftovers::Ended
        } else {
            Leftovers::None
        };
        for output in &mut self.outputs {
            output.read_rest(&mut self.scratch);
        }
        let mut report = Vec::new();
        if let Some(pipe) = &self.report {
            report.reserve_exact(READ_BYTES);
            // It fails if nothing was reported and something that was left behind holds the pipe.
            let _ = rustix::io::read(pipe, rustix::buffer::spare_capacity(&mut report));
        }
        drop(self.registration);
        let status = self.tree.status();
        if status.is_none() {
            live_calls::abandon(self.tree);
        }
        let [stdout, stderr] = self.outputs.map(|output| output.buffer.finish());
        Finished {
            status: status.unwrap_or(ExitStatus::Signal(rustix::process::Signal::KILL.as_raw())),
            ended: self.escalation.ended(),
            stdout,
            stderr,
            report,
            leftovers,
        }
    }
}

impl Output<'_> {
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    fn read_ready(&mut self, ready: PollFlags, scratch: &mut Vec<u8>) {
        if ready.contains(PollFlags::IN) {
            self.read(scratch);
        } else if !ready.is_empty() {
            // No writer is left, and all is read.
            self.pipe = None;
        }
    }

    /// Reads once, which does not block if the pipe is ready.
    fn read(&mut self, scratch: &mut Vec<u8>) {
        let Some(pipe) = &self.pipe else { return };
        scratch.clear();
        scratch.reserve_exact(READ_BYTES);
        match rustix::io::read(pipe, rustix::buffer::spare_capacity(scratch)) {
            Ok(0) => self.pipe = None,
            Ok(_) => self.buffer.push(scratch),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(_) => self.pipe = None,
        }
    }

    /// Takes what is in a pipe that another process keeps open.
    fn read_rest(&mut self, scratch: &mut Vec<u8>) {
        for _ in 0..LAST_READS {
            let Some(pipe) = &self.pipe else { return };
            let [ready] = poll_those([(Some(pipe.as_fd()), PollFlags::IN)], Duration::ZERO);
            if ready.is_empty() {
                return;
            }
            self.read_ready(ready, scratch);
        }
    }
}

/// What is ready of the given descriptors, in their order, after at most `timeout`.
fn poll_those<const N: usize>(
    watched: [(Option<BorrowedFd<'_>>, PollFlags); N],
    timeout: Duration,
) -> [PollFlags; N] {
    let mut set: Vec<PollFd<'_>> = watched
        .iter()
        .filter_map(|(descriptor, events)| Some(PollFd::from_borrowed_fd((*descriptor)?, *events)))
        .collect();
    // What does not fit into the type is as good as for ever.
    let timeout = Timespec::try_from(timeout).ok();
    match poll(&mut set, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        // The kernel lacks memory for the call: the deadlines still hold.
        Err(_) => thread::sleep(BLIND_WAIT),
    }
    let mut results = set.iter().map(PollFd::revents);
    watched.map(|(descriptor, _)| match descriptor {
        Some(_) => results.next().unwrap_or(PollFlags::empty()),
        None => PollFlags::empty(),
    })
}
