//! The loop of the calling thread while a child runs: it reads output, writes input, waits for the end, for deadlines
//! and the cancellation token, and takes the steps of the escalation.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::capture_buffer::CaptureBuffer;
use super::command::OurEnds;
use super::escalation::{
    CLEANUP_TIMEOUT, Descendants, Escalation, Leader, Observation, OrphanAction, Pipes, Step,
};
use super::process_tree::ProcessTree;
use super::supervisor::Registration;
use super::{Command, ExitStatus, Finished, Leftovers, Stdin};
use turnpipe_core::io::{CancelToken, Level};

/// Default capacity of a pipe, in bytes, and therefore the maximum size of a read.
const READ_BYTES: usize = 64 * 1024;

/// Time before the first read of the pipes of a new child. A short call then wakes this thread once. A child that fills
/// the pipes sooner waits that long, once.
const FIRST_READ_DELAY: Duration = Duration::from_millis(2);

/// Maximum number of reads of a pipe at the end, if it still has a writer.
const MAX_LAST_READS: usize = 32;

/// Maximum time between checks for events without a descriptor.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time before the first check for events without a descriptor, since most processes end at once.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Interval at which ended orphans are waited for while a call runs, since the call may create many.
#[cfg(target_os = "linux")]
const REAP_INTERVAL: Duration = Duration::from_millis(100);

/// One of the child's output pipes, and the captured output.
struct Output<'a> {
    /// `None` once it is at its end.
    pipe: Option<OwnedFd>,
    buffer: CaptureBuffer<'a>,
}

/// One child under supervision.
struct Supervision<'a> {
    start_time: Instant,
    registration: Registration,
    tree: ProcessTree,
    escalation: Escalation,
    cancel: &'a CancelToken,
    /// Whether processes survived SIGKILL.
    has_survivors: bool,
    stdin: Option<OwnedFd>,
    /// The rest of the input.
    unwritten: &'a [u8],
    outputs: [Output<'a>; 2],
    report: Option<OwnedFd>,
    /// The buffer of reads.
    scratch: Vec<u8>,
    poll_interval: Duration,
    /// Time after the start at which ended orphans are waited for.
    #[cfg(target_os = "linux")]
    next_reaping: Duration,
}

/// Supervises a child that was just started, until it and its descendants have ended.
pub(super) fn supervise(
    mut tree: ProcessTree,
    registration: Registration,
    ends: OurEnds,
    command: &Command,
    cancel: &CancelToken,
    spill_directory: &Path,
) -> Finished {
    registration.set_leader(&mut tree);
    let output = |pipe| Output {
        pipe: Some(pipe),
        buffer: CaptureBuffer::new(command.capture, spill_directory),
    };
    let mut supervision = Supervision {
        start_time: Instant::now(),
        registration,
        tree,
        escalation: Escalation::new(command.limits),
        cancel,
        has_survivors: false,
        stdin: ends.stdin,
        unwritten: match &command.stdin {
            Stdin::Null => &[],
            Stdin::Bytes(bytes) => bytes,
        },
        outputs: [output(ends.stdout), output(ends.stderr)],
        report: ends.report,
        scratch: Vec::new(),
        poll_interval: FIRST_POLL_INTERVAL,
        #[cfg(target_os = "linux")]
        next_reaping: REAP_INTERVAL,
    };
    supervision.run();
    supervision.finish()
}

impl Supervision<'_> {
    /// Runs until the child and its descendants have ended or are abandoned.
    fn run(&mut self) {
        let mut leader_may_have_ended = self.tree.descriptor().is_none();
        let mut was_killed = false;
        loop {
            let now = self.start_time.elapsed();
            let token = self.cancel.level();
            // An exit takes precedence over a deadline or a cancellation at the same time.
            let is_due = now >= self.escalation.deadline() || token > Level::Running;
            if leader_may_have_ended || is_due {
                self.tree.poll_end();
            }
            let observation = self.observe(token);
            match self.escalation.step(now, observation) {
                Step::Wait(until) => {
                    leader_may_have_ended = self.wait(until.saturating_sub(now), observation);
                }
                Step::Terminate => {
                    self.find_orphans(OrphanAction::Keep);
                    self.tree.terminate();
                }
                Step::Kill => {
                    self.find_orphans(OrphanAction::Keep);
                    self.tree.kill();
                    was_killed = true;
                }
                Step::Finish => break,
            }
        }
        self.has_survivors = was_killed && !self.kill_descendants();
    }

    /// Kills the processes that were forked or orphaned during a kill. Returns whether none is left. An orphan that
    /// starts another one and ends is found either alive or ended, since no other thread waits for it.
    fn kill_descendants(&mut self) -> bool {
        let until = Instant::now() + CLEANUP_TIMEOUT;
        while Instant::now() < until {
            if self.find_orphans(OrphanAction::Kill) {
                continue;
            }
            if self.tree.descendants() == Descendants::Gone {
                return true;
            }
            self.tree.kill();
            thread::sleep(FIRST_POLL_INTERVAL);
        }
        false
    }

    /// Waits for ended orphans if that is due. Returns the time until it is due again.
    #[cfg(target_os = "linux")]
    fn reap_orphans(&mut self) -> Duration {
        let supervisor = &self.registration.supervisor;
        if !supervisor.adopts_orphans() {
            return Duration::MAX;
        }
        let now = self.start_time.elapsed();
        if now >= self.next_reaping {
            let pause = if supervisor.reap_orphans() {
                MAX_POLL_INTERVAL
            } else {
                REAP_INTERVAL
            };
            self.next_reaping = self.start_time.elapsed() + pause;
        }
        self.next_reaping.saturating_sub(self.start_time.elapsed())
    }

    /// Adds the living orphans to the tree. Returns whether orphans may remain.
    #[cfg(target_os = "linux")]
    fn find_orphans(&mut self, action: OrphanAction) -> bool {
        if !self.registration.supervisor.adopts_orphans() {
            return false;
        }
        let pipes = self.open_pipes();
        let leader = self.tree.leader();
        let found = self.registration.orphans(leader, &pipes, action);
        let may_remain = found.may_remain();
        self.tree.adopt(found.living);
        may_remain
    }

    /// Returns the output pipes that are still open, by inode.
    #[cfg(target_os = "linux")]
    fn open_pipes(&self) -> Vec<u64> {
        let pipes = self.outputs.iter().filter_map(Output::descriptor);
        let inodes = pipes.filter_map(|pipe| Some(rustix::fs::fstat(pipe).ok()?.st_ino));
        inodes.collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn find_orphans(&mut self, _: OrphanAction) -> bool {
        false
    }

    /// Observes the state of the child.
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
        let descendants = match (leader, pipes) {
            // An orphan that has ended may have started another.
            (Leader::Ended, Pipes::AtEnd) if self.find_orphans(OrphanAction::Keep) => {
                Descendants::Alive
            }
            (Leader::Ended, Pipes::AtEnd) => self.tree.descendants(),
            // Orphans do not matter while the leader is alive or a pipe is open.
            _ => Descendants::Alive,
        };
        Observation {
            leader,
            pipes,
            descendants,
            token,
        }
    }

    /// Waits for at most `timeout`, then reads and writes what is ready. Returns whether the leader may have
    /// ended.
    fn wait(&mut self, timeout: Duration, seen: Observation) -> bool {
        #[cfg(target_os = "linux")]
        let timeout = timeout.min(self.reap_orphans());
        let is_alive = seen.leader == Leader::Alive;
        let leader = self.tree.descriptor().filter(|_| is_alive);
        let token = self.cancel.descriptor_above(seen.token);
        let must_poll = (is_alive && leader.is_none())
            || (seen.token < Level::Killed && token.is_none())
            || (!is_alive && seen.pipes == Pipes::AtEnd);
        let interval = self.poll_interval;
        let mut max_wait = timeout;
        if must_poll {
            self.poll_interval = (2 * interval).min(MAX_POLL_INTERVAL);
            max_wait = max_wait.min(interval);
        }
        let read_delay = self.first_read_delay(leader);
        let outputs = match read_delay {
            Some(_) => [None, None],
            None => self.outputs.each_ref().map(Output::descriptor),
        };
        max_wait = max_wait.min(read_delay.unwrap_or(Duration::MAX));
        let watched = [
            (outputs[0], PollFlags::IN),
            (outputs[1], PollFlags::IN),
            (self.stdin.as_ref().map(AsFd::as_fd), PollFlags::OUT),
            (leader, PollFlags::IN),
            (token, PollFlags::IN),
        ];
        let [stdout, stderr, stdin, leader, _] = poll_some(watched, max_wait);
        for (output, ready) in self.outputs.iter_mut().zip([stdout, stderr]) {
            output.read_ready(ready, &mut self.scratch);
        }
        if !stdin.is_empty() {
            self.write_input();
        }
        !leader.is_empty() || self.tree.descriptor().is_none()
    }

    /// Returns the time until the first read of the pipes. A short call then wakes this thread once, by its end, and
    /// not by each pipe that it closes.
    fn first_read_delay(&self, leader: Option<BorrowedFd<'_>>) -> Option<Duration> {
        if leader.is_none() || self.stdin.is_some() {
            return None;
        }
        let left = FIRST_READ_DELAY.checked_sub(self.start_time.elapsed())?;
        (!left.is_zero()).then_some(left)
    }

    /// Writes as much input as the pipe takes. A child that closes its input is not an error.
    fn write_input(&mut self) {
        let Some(pipe) = &self.stdin else { return };
        match rustix::io::write(pipe, self.unwritten) {
            Ok(count) => self.unwritten = &self.unwritten[count..],
            Err(Errno::AGAIN | Errno::INTR) => return,
            Err(_) => self.unwritten = &[],
        }
        if self.unwritten.is_empty() {
            self.stdin = None;
        }
    }

    /// Returns the result of the child.
    fn finish(mut self) -> Finished {
        // Killed processes may have closed the pipes since the last read.
        for output in &mut self.outputs {
            output.read_rest(&mut self.scratch);
        }
        let is_held = self.outputs.iter().any(|output| output.pipe.is_some());
        let leftovers = if self.has_survivors || is_held {
            Leftovers::Running
        } else if self.escalation.has_leftovers() {
            Leftovers::Ended
        } else {
            Leftovers::None
        };
        let mut report = Vec::new();
        if let Some(pipe) = &self.report {
            report.reserve_exact(READ_BYTES);
            // Fails if the report is missing and a surviving process holds the pipe.
            let _ = rustix::io::read(pipe, rustix::buffer::spare_capacity(&mut report));
        }
        let supervisor = self.registration.supervisor.clone();
        drop(self.registration);
        let status = self.tree.status();
        if status.is_none() {
            supervisor.abandon(self.tree);
        }
        let [stdout, stderr] = self.outputs.map(|output| output.buffer.finish());
        Finished {
            status: status.unwrap_or(ExitStatus::Signal(rustix::process::Signal::KILL.as_raw())),
            ended: self.escalation.end_cause(),
            stdout,
            stderr,
            report,
            leftovers,
        }
    }
}

impl Output<'_> {
    /// Returns the descriptor of the pipe, unless it is at its end.
    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads once, or closes the pipe, as the events of a poll say.
    fn read_ready(&mut self, ready: PollFlags, scratch: &mut Vec<u8>) {
        if ready.contains(PollFlags::IN) {
            self.read(scratch);
        } else if !ready.is_empty() {
            // All writers are closed, and everything is read.
            self.pipe = None;
        }
    }

    /// Reads once. Does not block if the pipe is ready.
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

    /// Reads the rest of a pipe that another process keeps open.
    fn read_rest(&mut self, scratch: &mut Vec<u8>) {
        for _ in 0..MAX_LAST_READS {
            let Some(pipe) = &self.pipe else { return };
            let [ready] = poll_some([(Some(pipe.as_fd()), PollFlags::IN)], Duration::ZERO);
            if ready.is_empty() {
                return;
            }
            self.read_ready(ready, scratch);
        }
    }
}

/// Returns the events of the given descriptors, in their order, after at most `timeout`.
fn poll_some<const N: usize>(
    watched: [(Option<BorrowedFd<'_>>, PollFlags); N],
    timeout: Duration,
) -> [PollFlags; N] {
    let present = watched
        .iter()
        .filter_map(|(descriptor, events)| Some(((*descriptor)?, *events)));
    let polled = present.map(|(descriptor, events)| PollFd::from_borrowed_fd(descriptor, events));
    let mut set: Vec<PollFd<'_>> = polled.collect();
    // Values that overflow mean "no timeout".
    let timeout = Timespec::try_from(timeout).ok();
    match poll(&mut set, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        // The kernel lacks memory for the call. Deadlines still hold.
        Err(_) => thread::sleep(MAX_POLL_INTERVAL),
    }
    let mut results = set.iter().map(PollFd::revents);
    watched.map(|(descriptor, _)| match descriptor {
        Some(_) => results.next().unwrap_or(PollFlags::empty()),
        None => PollFlags::empty(),
    })
}
