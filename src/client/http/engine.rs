//! The thread for requests. The first request starts it, and it ends with the last handle. Because it is
//! separate, a cancelled call can return at once while its connection is closed properly.

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::{io, thread};

use tokio::runtime::{Builder, Handle};
use tokio::sync::{mpsc, oneshot};

use crate::io::{CancelToken, Lock};

/// Maximum number of queued messages of a task.
const MAX_QUEUED_MESSAGES: usize = 64;

/// Returns the output of `work`, or `None` if `cancel` fires first.
pub async fn run_unless_cancelled<T>(
    cancel: CancelToken,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        () = cancel.wait() => None,
        output = work => Some(output),
    }
}

/// Runs tasks on a thread while their callers wait. Clones share the thread.
#[derive(Debug, Clone, Default)]
pub struct Engine {
    running: Arc<Mutex<Option<Running>>>,
}

#[derive(Debug)]
struct Running {
    handle: Handle,
    /// Dropped to end the thread.
    _alive: oneshot::Sender<()>,
}

/// The sender of messages from a task to its caller.
pub type MessageSender<Message> = mpsc::Sender<Message>;

impl Engine {
    /// Runs a task to completion. Calls `sink` with its sender on the calling thread.
    ///
    /// # Errors
    /// The thread cannot be started, or the task panicked.
    pub fn run<Message, Output, Work>(
        &self,
        task: impl FnOnce(MessageSender<Message>) -> Work,
        mut sink: impl FnMut(Message),
    ) -> io::Result<Output>
    where
        Message: Send + 'static,
        Output: Send + 'static,
        Work: Future<Output = Output> + Send + 'static,
    {
        let (sender, mut receiver) = mpsc::channel(MAX_QUEUED_MESSAGES);
        let (output_sender, output) = oneshot::channel();
        let work = task(sender);
        self.start()?.spawn(async move {
            // The caller may have stopped waiting.
            let _ = output_sender.send(work.await);
        });
        while let Some(message) = receiver.blocking_recv() {
            sink(message);
        }
        output
            .blocking_recv()
            .map_err(|_| io::Error::other("the request thread died"))
    }

    /// Returns the handle of the thread, which is started if necessary.
    fn start(&self) -> io::Result<Handle> {
        let mut running = self.running.lock_anyway();
        if let Some(running) = &*running {
            return Ok(running.handle.clone());
        }
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (alive, ended) = oneshot::channel::<()>();
        thread::Builder::new()
            .name("requests".to_owned())
            .spawn(move || {
                // The sender is dropped at the end.
                let _ = runtime.block_on(ended);
            })?;
        *running = Some(Running {
            handle: handle.clone(),
            _alive: alive,
        });
        Ok(handle)
    }
}

#[cfg(test)]
mod tests {
    use crate::client::http::{Engine, MessageSender};

    #[test]
    fn messages_arrive_in_order_and_then_the_output() {
        let engine = Engine::default();
        let mut seen = Vec::new();
        let output = engine.run(
            |task| async move {
                for number in 0..200 {
                    let _ = task.send(number).await;
                }
                "done"
            },
            |number| seen.push(number),
        );
        assert_eq!(output.unwrap(), "done");
        assert_eq!(seen, (0..200).collect::<Vec<_>>());
    }

    #[test]
    fn several_threads_share_it() {
        let engine = Engine::default();
        let sums: Vec<i32> = std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..8)
                .map(|number| {
                    let engine = engine.clone();
                    scope.spawn(move || {
                        let task = |_: MessageSender<()>| async move { number * 2 };
                        engine.run(task, |()| ()).unwrap()
                    })
                })
                .collect();
            waiters
                .into_iter()
                .map(|waiter| waiter.join().unwrap())
                .collect()
        });
        assert_eq!(sums, (0..8).map(|number| number * 2).collect::<Vec<_>>());
    }

    #[test]
    fn a_task_that_panics_is_an_error() {
        let engine = Engine::default();
        let task = |_: MessageSender<()>| async { assert!(std::hint::black_box(false)) };
        assert!(engine.run(task, |()| ()).is_err());
    }
}
