//! A progress line on a terminal.

use std::borrow::Cow;
use std::fs::Metadata;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fmt, mem};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::io::{InputStream, Io, Lock, MessageLevel, OutputStream};
use crate::text::{byte_size, terminal_safe_line};

/// Delay before progress is shown.
const DELAY: Duration = Duration::from_millis(500);

/// Interval between redraws.
const TICK: Duration = Duration::from_millis(100);

/// Maximum number of rows below the line.
const MAX_ROWS: usize = 8;

/// A row below the line.
#[derive(Debug)]
pub(crate) struct ProgressRow<'a> {
    /// A number that no other row has.
    pub(crate) number: u64,
    /// The first column.
    pub(crate) name: &'static str,
    /// The second column.
    pub(crate) text: Cow<'a, str>,
    /// The time since it began.
    pub(crate) elapsed: Duration,
}

/// A line at the bottom of the terminal during long work. Messages and output appear above it. Dropping it
/// removes the line.
pub(crate) struct ProgressLine {
    bar: Option<ProgressBar>,
    /// The line and the rows below it.
    screen: MultiProgress,
    /// The rows, with their numbers.
    rows: Arc<Mutex<Vec<(u64, ProgressBar)>>>,
    /// The amount of work done; shared with other threads.
    done: Arc<AtomicU64>,
    timer: Option<(Sender<()>, JoinHandle<()>)>,
}

impl ProgressLine {
    /// Creates a line for work without a known end, e.g. `searching`.
    pub(crate) fn spinner(what: &'static str, io: &mut Io) -> Self {
        Self::begun(what, None, "{spinner} {msg} {elapsed}", io)
    }

    /// Creates a line for work on `count` sessions, e.g. `reading`.
    pub(crate) fn of_sessions(what: &'static str, count: usize, io: &mut Io) -> Self {
        if count < 2 {
            return Self::spinner(what, io);
        }
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let template = "{msg} {bar:20} {pos}/{len} sessions, {rate}, {eta} left";
        Self::begun(what, Some(count), template, io)
    }

    /// Creates a line for work on input read through [`counting`](Self::counting): these files, or standard input. Nothing is
    /// shown for a pipe, because the command that writes to it may draw its own progress.
    pub(crate) fn of_input(what: &'static str, files: &[PathBuf], io: &mut Io) -> Self {
        let Some(length) = length(files, &io.stdin) else {
            return Self::hidden();
        };
        let template = "{msg} {bar:20} {bytes}, {eta} left";
        Self::begun(what, Some(length), template, io)
    }

    fn begun(what: &'static str, length: Option<u64>, template: &str, io: &mut Io) -> Self {
        let mut line = Self::new(length, template, io);
        if let Some(bar) = &line.bar {
            bar.set_message(what);
        }
        line.begin();
        line
    }

    /// Creates a line for concurrent calls; see [`Self::show`].
    pub(crate) fn of_calls(io: &mut Io) -> Self {
        Self::new(None, "{spinner} {wide_msg}", io)
    }

    fn hidden() -> Self {
        Self {
            bar: None,
            screen: MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
            rows: Arc::default(),
            done: Arc::default(),
            timer: None,
        }
    }

    /// Creates a line, which is hidden if only errors are printed or if standard error is not a terminal.
    fn new(length: Option<u64>, template: &str, io: &mut Io) -> Self {
        let mut line = Self::hidden();
        let is_quiet = !io.messages.prints(MessageLevel::Warnings);
        let is_dumb = io.environment.text("TERM") == Some("dumb");
        if is_quiet || is_dumb || !io.terminal.stderr {
            return line;
        }
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        let bar = line.screen.add(bar);
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style.with_key("bytes", bytes).with_key("rate", rate)),
            Err(_) => bar,
        };
        let above = bar.clone();
        io.messages
            .wrap(|sink| Box::new(AboveLine::new(sink, above)));
        if io.terminal.stdout
            && let OutputStream::Sink(sink) = mem::replace(&mut io.stdout, OutputStream::Closed)
        {
            io.stdout = OutputStream::Sink(Box::new(AboveLine::new(sink, bar.clone())));
        }
        line.bar = Some(bar);
        line
    }

    /// Shows the line, unless it is dropped soon.
    fn begin(&mut self) {
        let Some(bar) = self.bar.clone().filter(|_| self.timer.is_none()) else {
            return;
        };
        let (sender, dropped) = channel();
        let (done, screen, rows) = (self.done(), self.screen.clone(), Arc::clone(&self.rows));
        let timer = std::thread::spawn(move || {
            if dropped.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                screen.set_draw_target(ProgressDrawTarget::stderr());
            }
            while dropped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.set_position(done.load(Ordering::Relaxed));
                bar.tick();
                let rows = rows.locked();
                rows.iter().for_each(|(_, row)| row.tick());
            }
        });
        self.timer = Some((sender, timer));
    }

    /// Counts the bytes that `source` reads as done.
    pub(crate) fn counting<Source: Read>(&self, source: Source) -> Counting<Source> {
        Counting {
            source,
            done: self.done(),
        }
    }

    /// Returns the shared number of sessions or bytes done.
    pub(crate) fn done(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.done)
    }

    /// Shows the line with this message, and these rows below it, unless it is dropped soon.
    pub(crate) fn show(&mut self, message: String, rows: &[ProgressRow<'_>]) {
        let Some(bar) = &self.bar else {
            return;
        };
        bar.set_message(message);
        let mut shown = self.rows.locked();
        shown.retain(|(number, row)| {
            let stays = rows.iter().any(|row| row.number == *number);
            if !stays {
                row.finish_and_clear();
                self.screen.remove(row);
            }
            stays
        });
        let Ok(style) = ProgressStyle::with_template("  {prefix:8} {wide_msg} {elapsed:>4}") else {
            return;
        };
        for row in rows {
            let text = terminal_safe_line(&row.text);
            if let Some((_, known)) = shown.iter().find(|(number, _)| *number == row.number) {
                known.set_message(text);
            } else if shown.len() < MAX_ROWS {
                let added = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
                    .with_style(style.clone())
                    .with_prefix(row.name)
                    .with_message(text)
                    .with_elapsed(row.elapsed);
                shown.push((row.number, self.screen.add(added)));
            }
        }
        drop(shown);
        self.begin();
    }

    /// Counts one session as done.
    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns the total number of bytes to read, if all inputs are files.
fn length(files: &[PathBuf], stdin: &InputStream) -> Option<u64> {
    let of_file = |metadata: io::Result<Metadata>| {
        let metadata = metadata.ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    match (files, stdin) {
        ([], InputStream::Descriptor(file)) => of_file(file.metadata()),
        ([], InputStream::Closed) => None,
        (files, _) => files.iter().map(|path| of_file(path.metadata())).sum(),
    }
}

/// A reader that counts its bytes.
pub(crate) struct Counting<Source> {
    source: Source,
    done: Arc<AtomicU64>,
}

impl<Source: Read> Read for Counting<Source> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Formats the bytes done, the total, and the rate.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn bytes(state: &ProgressState, text: &mut dyn fmt::Write) {
    let [done, all, rate] = [
        state.pos(),
        state.len().unwrap_or_default(),
        state.per_sec() as u64,
    ]
    .map(byte_size);
    let _ = write!(text, "{done}/{all}, {rate}/s");
}

/// Formats the number of sessions per second.
fn rate(state: &ProgressState, text: &mut dyn fmt::Write) {
    let _ = write!(text, "{:.0}/s", state.per_sec());
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((sender, timer)) = self.timer.take() {
            drop(sender);
            let _ = timer.join();
        }
        let rows = self.rows.locked();
        let rows = rows.iter().map(|(_, row)| row);
        rows.chain(&self.bar)
            .for_each(ProgressBar::finish_and_clear);
    }
}

/// Writes whole lines above the progress line.
struct AboveLine<Sink: Write> {
    sink: Sink,
    bar: ProgressBar,
    /// An incomplete line.
    pending: Vec<u8>,
}

impl<Sink: Write> AboveLine<Sink> {
    fn new(sink: Sink, bar: ProgressBar) -> Self {
        Self {
            sink,
            bar,
            pending: Vec::new(),
        }
    }
}

impl<Sink: Write> Write for AboveLine<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let lines = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let (whole, rest) = bytes.split_at(lines);
        if !whole.is_empty() {
            let (sink, pending) = (&mut self.sink, &self.pending);
            self.bar.suspend(|| {
                sink.write_all(pending)?;
                sink.write_all(whole)?;
                sink.flush()
            })?;
            self.pending.clear();
        }
        self.pending.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<Sink: Write> Drop for AboveLine<Sink> {
    fn drop(&mut self) {
        let (sink, pending) = (&mut self.sink, &self.pending);
        let _ = self
            .bar
            .suspend(|| sink.write_all(pending).and_then(|()| sink.flush()));
    }
}
