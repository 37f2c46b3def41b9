//! A progress line on a terminal.

use std::borrow::Cow;
use std::fmt;
use std::fs::Metadata;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::io::{Footer, InputStream, Io, Lock, MessageLevel, Screen};
use crate::text::{format_byte_size, terminal_safe_line};

/// Delay before progress is shown.
const DELAY: Duration = Duration::from_millis(500);

/// Interval between redraws.
const TICK: Duration = Duration::from_millis(100);

/// Maximum number of rows below the line.
const MAX_ROWS: usize = 8;

/// A row below the line.
#[derive(Debug)]
pub(crate) struct ProgressRow {
    /// The first column.
    pub(crate) name: &'static str,
    /// The second column.
    pub(crate) text: String,
    /// The time since it began.
    pub(crate) elapsed: Duration,
}

/// A line at the bottom of the terminal during long work. Messages and output appear above it. Dropping it
/// removes the line.
pub(crate) struct ProgressLine {
    screen: Screen,
    /// `None` if nothing is shown.
    lines: Option<Arc<Lines>>,
    /// The amount of work done; shared with other threads.
    done: Arc<AtomicU64>,
    timer: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The line and the rows below it.
struct Lines {
    all: MultiProgress,
    line: ProgressBar,
    rows: Mutex<Vec<ProgressBar>>,
    done: Arc<AtomicU64>,
    /// Whether the work has lasted long enough to be shown.
    is_due: AtomicBool,
}

impl ProgressLine {
    /// Creates a line for work without a known end, e.g. `searching`.
    pub(crate) fn new_spinner(activity: &'static str, io: &Io) -> Self {
        Self::begin(activity, None, "{spinner} {msg} {elapsed}", io)
    }

    /// Creates a line for work on `count` sessions, e.g. `reading`.
    pub(crate) fn for_sessions(activity: &'static str, count: usize, io: &Io) -> Self {
        if count < 2 {
            return Self::new_spinner(activity, io);
        }
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        let template = "{msg} {bar:20} {pos}/{len} sessions, {rate}, {eta} left";
        Self::begin(activity, Some(count), template, io)
    }

    /// Creates a line for work on input read through [`Self::count_bytes`]: these files, or standard input. Nothing is
    /// shown for a pipe, because the command that writes to it may draw its own progress.
    pub(crate) fn for_input(activity: &'static str, files: &[PathBuf], io: &Io) -> Self {
        let Some(total) = input_length(files, &io.stdin) else {
            return Self::new_hidden(io);
        };
        let template = "{msg} {bar:20} {bytes}, {eta} left";
        Self::begin(activity, Some(total), template, io)
    }

    fn begin(activity: &'static str, length: Option<u64>, template: &str, io: &Io) -> Self {
        let mut line = Self::new(length, template, io);
        line.show(activity, Vec::new());
        line
    }

    /// Creates a line for concurrent calls; see [`Self::show`].
    pub(crate) fn for_calls(io: &Io) -> Self {
        Self::new(None, "{spinner} {wide_msg}", io)
    }

    fn new_hidden(io: &Io) -> Self {
        Self {
            screen: io.screen.clone(),
            lines: None,
            done: Arc::default(),
            timer: None,
        }
    }

    /// Creates a line, which is hidden if only errors are printed or if standard error is not a terminal.
    fn new(length: Option<u64>, template: &str, io: &Io) -> Self {
        let mut line = Self::new_hidden(io);
        let is_quiet = !io.messages.is_printed(MessageLevel::Warnings);
        let is_dumb = io.environment.text("TERM") == Some("dumb");
        if is_quiet || is_dumb || !io.terminal.stderr {
            return line;
        }
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let hidden = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden());
        let bar = all.add(hidden);
        let line_bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(
                style
                    .with_key("bytes", format_bytes)
                    .with_key("rate", format_rate),
            ),
            Err(_) => bar,
        };
        let lines = Arc::new(Lines {
            all,
            line: line_bar,
            rows: Mutex::default(),
            done: line.counter(),
            is_due: AtomicBool::new(false),
        });
        line.lines = Some(Arc::clone(&lines));
        line.screen.update(|footer| *footer = Some(lines));
        line
    }

    /// Counts the bytes that `source` reads as done.
    pub(crate) fn count_bytes<Source: Read>(&self, source: Source) -> CountingReader<Source> {
        CountingReader {
            source,
            done: self.counter(),
        }
    }

    /// Returns the shared number of sessions or bytes done.
    pub(crate) fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.done)
    }

    /// Shows the line with this message, and these rows below it, unless it is dropped soon.
    pub(crate) fn show(&mut self, message: impl Into<Cow<'static, str>>, rows: Vec<ProgressRow>) {
        let Some(lines) = self.lines.clone() else {
            return;
        };
        self.screen.update(|_| lines.set(message.into(), rows));
        let screen = self.screen.clone();
        self.timer.get_or_insert_with(|| {
            let (sender, dropped) = channel();
            let timer = std::thread::spawn(move || {
                let mut wait = DELAY;
                while dropped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    lines.is_due.store(true, Ordering::Relaxed);
                    screen.update(|_| ());
                    wait = TICK;
                }
            });
            (sender, timer)
        });
    }

    /// Counts one session as done.
    pub(crate) fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((sender, timer)) = self.timer.take() {
            drop(sender);
            // A panic of the timer does not concern the work.
            let _ = timer.join();
        }
        if self.lines.is_some() {
            self.screen.update(|footer| *footer = None);
        }
    }
}

impl Lines {
    /// Replaces the message and the rows. The lines must not be drawn.
    fn set(&self, message: Cow<'static, str>, rows: Vec<ProgressRow>) {
        self.line.set_message(message);
        let mut bars = self.rows.lock_anyway();
        bars.drain(..).for_each(|row| self.all.remove(&row));
        let Ok(style) = ProgressStyle::with_template("  {prefix:8} {wide_msg} {elapsed:>4}") else {
            return;
        };
        bars.extend(rows.into_iter().take(MAX_ROWS).map(|row| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden())
                .with_style(style.clone())
                .with_prefix(row.name)
                .with_message(terminal_safe_line(&row.text))
                .with_elapsed(row.elapsed);
            self.all.add(bar)
        }));
    }
}

impl Footer for Lines {
    fn draw(&self) {
        if self.is_due.load(Ordering::Relaxed) {
            self.all.set_draw_target(ProgressDrawTarget::stderr());
            self.line.set_position(self.done.load(Ordering::Relaxed));
            self.line.tick();
            self.rows.lock_anyway().iter().for_each(ProgressBar::tick);
        }
    }

    fn clear(&self) {
        // Fails on a closed terminal.
        let _ = self.all.clear();
        self.forget();
    }

    fn forget(&self) {
        self.all.set_draw_target(ProgressDrawTarget::hidden());
    }
}

/// Returns the total number of bytes to read, if all inputs are files.
fn input_length(files: &[PathBuf], stdin: &InputStream) -> Option<u64> {
    let file_length = |metadata: io::Result<Metadata>| {
        let metadata = metadata.ok()?;
        metadata.is_file().then_some(metadata.len())
    };
    match (files, stdin) {
        ([], InputStream::Descriptor(file)) => file_length(file.metadata()),
        ([], InputStream::Closed) => None,
        (files, _) => files.iter().map(|path| file_length(path.metadata())).sum(),
    }
}

/// A reader that counts its bytes.
pub(crate) struct CountingReader<Source> {
    source: Source,
    done: Arc<AtomicU64>,
}

impl<Source: Read> Read for CountingReader<Source> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        self.done.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// Formats the bytes done, the total, and the rate.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn format_bytes(state: &ProgressState, text: &mut dyn fmt::Write) {
    let [done, all, rate] = [
        state.pos(),
        state.len().unwrap_or_default(),
        state.per_sec() as u64,
    ]
    .map(format_byte_size);
    let _ = write!(text, "{done}/{all}, {rate}/s");
}

/// Formats the number of sessions per second.
fn format_rate(state: &ProgressState, text: &mut dyn fmt::Write) {
    let _ = write!(text, "{:.0}/s", state.per_sec());
}
