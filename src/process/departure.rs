//! Notices that nobody reads our output any more, without having to write something.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};

/// Calls `report` once when the reader of the pipe, socket or terminal behind `output` is gone;
/// never for a file. Waits on a thread of its own.
///
/// # Errors
/// The system grants no thread.
pub fn report_departure(output: OwnedFd, report: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new()
        .name("output".to_owned())
        .spawn(move || {
            // No event is asked for: errors and hang-ups are reported without being asked for.
            let mut watched = [PollFd::new(&output, PollFlags::empty())];
            loop {
                match poll(&mut watched, None) {
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                    Ok(_) => break,
                }
            }
            report();
        })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_closed_pipe_is_noticed() {
        let (reader, writer) = rustix::pipe::pipe().unwrap();
        let (sender, noticed) = channel();
        report_departure(writer, move || sender.send(()).unwrap()).unwrap();
        let early = noticed.recv_timeout(Duration::from_millis(20));
        assert_eq!(early, Err(RecvTimeoutError::Timeout));
        drop(reader);
        noticed.recv_timeout(Duration::from_secs(10)).unwrap();
    }
}
