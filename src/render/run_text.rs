//! The records of a run as text: the text of the model, a line per call, and a summary.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use aho_corasick::BuildError;

use super::columns::wrap_text;
use super::outline::{media_placeholder, result_text};
use super::run_summary::{Tally, format_seconds, lane_name, outcome_name, parse_value};
use super::selection::fold_line;
use super::text::{Style, TerminalText, prefix_lines};
use super::{Density, ToolDetail};
use crate::assemble::DialogStream;
use crate::json::{object, text};
use crate::jsonl::{Piece, Prefilter, Reader};
use crate::message::{Block, Message, Origin, Role, ToolResult};
use crate::records::Outcome;
use crate::session::{MAX_WAITING, describe_call};
use crate::text::{display_width, fit_columns, terminal_safe_line, truncate_utf16};

/// Maximum number of bytes of the input that are buffered.
const CHUNK_BYTES: usize = 64 * 1024;

/// Limits on the width of lines about calls, in columns.
const COLUMNS: [usize; 2] = [40, 120];

/// Width if the terminal's is unknown, in columns.
const DEFAULT_COLUMNS: usize = 80;

/// Indentation of the reason below a call that failed, in columns.
const REASON_INDENT: usize = 6;

/// Maximum number of lines of the reason below a failed call.
const MAX_REASON_LINES: usize = 3;

/// Maximum width of the name of a tool, in columns.
const NAME_COLUMNS: usize = 24;

/// The fields of server-sent events, which are not shown.
const EVENT_FIELDS: [&str; 5] = ["event:", "data:", "id:", "retry:", ":"];

object! {
    /// A record that a run writes apart from messages, and the extension of a result.
    RunRecord { kind = "type", subtype, content, lane, calls, total_cost_usd, usage, turnpipe }
}
object! {
    /// The extension of a result.
    Extension { outcome, lane, duration_ms }
}
object! {
    /// A call of a plan.
    PlannedCall { tool_use_id, outcome }
}
/// Writes records to `Sink` as text, as they arrive. The summary is written when it is dropped.
pub struct RunText<Sink: Write> {
    reader: Reader<BufferedBytes>,
    dialog: DialogStream,
    look: RunLook,
    /// Calls without a result.
    waiting: VecDeque<PendingCall>,
    tally: Tally,
    /// The text so far that the model is writing.
    live: String,
    /// The number of its bytes that are shown: whole lines.
    live_shown: usize,
    /// The kind of the last line.
    last: Option<Kind>,
    /// Text that has not been written yet.
    page: String,
    has_failed: bool,
    sink: Sink,
}

/// The form of the text of a run.
#[derive(Clone)]
pub struct RunLook {
    pub style: Style,
    /// Returns the width of the terminal, in columns, if known.
    pub columns: Arc<dyn Fn() -> Option<usize> + Send + Sync>,
    /// Whether to show messages; calls are shown in any case.
    pub shows_messages: bool,
}

/// A call without a result.
struct PendingCall {
    id: String,
    name: String,
    gist: String,
}

/// The kind of a line. Lines of different kinds have a blank line between them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Call,
    Summary,
}

impl<Sink: Write> RunText<Sink> {
    /// Writes text to `sink`.
    ///
    /// # Errors
    /// Never in practice: the search for braces cannot be built.
    pub fn new(sink: Sink, look: RunLook) -> Result<Self, BuildError> {
        // Text without a brace has no record.
        let prefilter = Prefilter::new(&["{"])?;
        Ok(Self {
            reader: Reader::new(BufferedBytes::default(), prefilter),
            dialog: DialogStream::without_joining(),
            look,
            waiting: VecDeque::new(),
            tally: Tally::default(),
            live: String::new(),
            live_shown: 0,
            last: None,
            page: String::new(),
            has_failed: false,
            sink,
        })
    }

    fn columns(&self) -> usize {
        (self.look.columns)().unwrap_or(DEFAULT_COLUMNS)
    }

    fn terminal_text(&self) -> TerminalText<'static> {
        TerminalText {
            style: self.look.style,
            density: Density::Compact,
            tools: ToolDetail::Summary,
            cwd: None,
        }
    }

    /// Processes the complete pieces.
    fn take_pieces(&mut self) -> io::Result<()> {
        loop {
            match self.reader.next_piece() {
                Ok(Some(piece)) => self.process_piece(&piece),
                Ok(None) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            if self.page.len() > CHUNK_BYTES {
                self.write_page()?;
            }
        }
        self.write_page()
    }

    fn write_page(&mut self) -> io::Result<()> {
        let page = std::mem::take(&mut self.page);
        let result = self.sink.write_all(page.as_bytes());
        self.has_failed |= result.is_err();
        result
    }

    fn process_piece(&mut self, piece: &Piece) {
        let (records, damage) = piece.records();
        for record in &records {
            self.process_record(record.text(piece.raw()));
        }
        match piece {
            Piece::LongLine { .. } => {
                for damage in damage {
                    self.write_paragraph(&format!("[{}]", damage.reason));
                }
            }
            Piece::Plain { raw } | Piece::Line { raw, .. } if records.is_empty() => {
                for line in String::from_utf8_lossy(raw).lines() {
                    let line = terminal_safe_line(line.trim());
                    if !(line.is_empty() || EVENT_FIELDS.iter().any(|name| line.starts_with(name)))
                    {
                        self.write_paragraph(&fit_columns(&line, self.columns()));
                    }
                }
            }
            Piece::Plain { .. } | Piece::Line { .. } => {}
        }
    }

    fn process_record(&mut self, line: &str) {
        let record = RunRecord::read(line).unwrap_or_default();
        let mut messages = Vec::new();
        let (mut parts, shows_messages) = (String::new(), self.look.shows_messages);
        let mut append = |part: &str| parts.push_str(part);
        let listener = shows_messages.then_some(&mut append as &mut dyn FnMut(&str));
        self.dialog
            .read_live_record(line, listener, &mut |message| messages.push(message));
        self.write_live_text(&parts);
        for message in messages {
            self.process_message(message, &record);
        }
        match (
            text(record.kind).as_deref(),
            text(record.subtype).as_deref(),
        ) {
            (Some("result"), _) => {
                self.write_unanswered();
                self.tally.add_reply(record.usage, record.total_cost_usd);
            }
            (_, Some("plan")) => self.write_plan(&record),
            (_, Some("hook_stopped_continuation")) => {
                let reason = text(record.content).unwrap_or_default();
                self.write_paragraph(&format!(
                    "stopped by a hook: {}",
                    terminal_safe_line(&reason)
                ));
            }
            _ => {}
        }
    }

    fn process_message(&mut self, message: Message, record: &RunRecord<'_>) {
        let (role, origin) = (message.role, message.origin);
        for block in message.blocks {
            match block {
                Block::Call(call) => {
                    if self.waiting.len() == MAX_WAITING {
                        self.drop_oldest();
                    }
                    let topic = terminal_safe_line(&describe_call(&call, None));
                    self.waiting.push_back(PendingCall {
                        id: call.id,
                        name: fit_columns(&terminal_safe_line(&call.name), NAME_COLUMNS),
                        gist: fit_columns(&topic, COLUMNS[1]),
                    });
                }
                Block::Result(result) => self.write_result(&result, record),
                _ if !self.look.shows_messages => {}
                Block::Text(text) => self.write_message(role, origin, &text),
                Block::Thinking(thought) => {
                    let thought = prefix_lines(&fold_line(thought.text()), "∴ ", "  ");
                    let line = fit_columns(&thought, self.columns());
                    let line = self.terminal_text().dim(&line);
                    self.write_line(Kind::Text, &line);
                }
                Block::Media(media) => {
                    self.write_paragraph(&terminal_safe_line(&media_placeholder(&media)));
                }
            }
        }
    }

    /// Shows the lines of a text that is still being written, as soon as they are whole.
    fn write_live_text(&mut self, part: &str) {
        self.live.push_str(part);
        let Some(last_break) = part.contains('\n').then(|| self.live.rfind('\n')) else {
            return;
        };
        // Blank lines at the end may be the end of the text.
        let end = self.live[..last_break.unwrap_or_default()]
            .trim_end_matches('\n')
            .len();
        if end > self.live_shown {
            let text = self.live[self.live_shown..end].to_owned();
            self.write_reply(&text);
            self.live_shown = end + 1;
        }
    }

    /// Shows a text of the model, or a part of it.
    fn write_reply(&mut self, text: &str) {
        let text = self.terminal_text().clean_block(text.trim_end());
        let text = wrap_text(&text, self.columns(), 0);
        if self.live_shown > 0 {
            self.page.push_str(&text);
            self.page.push('\n');
        } else {
            self.write_line(Kind::Text, &text);
        }
    }

    /// Shows the text of a message.
    fn write_message(&mut self, role: Role, origin: Origin, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        if role == Role::Assistant && origin == Origin::Reply {
            let live = std::mem::take(&mut self.live);
            let rest = text
                .strip_prefix(&live[..self.live_shown])
                .unwrap_or_else(|| {
                    self.live_shown = 0;
                    text
                });
            if !rest.trim().is_empty() {
                self.write_reply(rest);
            }
            self.live_shown = 0;
            return;
        }
        let text_format = self.terminal_text();
        let (mark, is_dim) = match (role, origin) {
            (_, Origin::Label) => ("● ", true),
            (Role::User, Origin::Prompt) => ("> ", false),
            (Role::Assistant, _) => ("", false),
            _ => ("  ", true),
        };
        let safe = if is_dim {
            fold_line(text)
        } else {
            text_format.clean_block(text.trim_end())
        };
        let wrapped = wrap_text(&safe, self.columns().saturating_sub(mark.len()), 0);
        let lines = prefix_lines(&wrapped, mark, if mark.is_empty() { "" } else { "  " });
        let text = match (is_dim, mark) {
            (true, _) => text_format.dim(&lines),
            (false, "> ") => text_format.bold(&lines),
            (false, _) => lines,
        };
        self.write_line(Kind::Text, &text);
    }

    /// Shows a line that is not a call.
    fn write_paragraph(&mut self, line: &str) {
        if self.look.shows_messages {
            let line = wrap_text(line, self.columns(), 0);
            self.write_line(Kind::Text, &line);
        }
    }

    /// Shows the result of a call.
    fn write_result(&mut self, result: &ToolResult, record: &RunRecord<'_>) {
        let extension = Extension::from_raw(record.turnpipe).unwrap_or_default();
        let fallback = if result.failed {
            Outcome::Error
        } else {
            Outcome::Ok
        };
        let outcome = parse_value(extension.outcome).unwrap_or(fallback);
        let lane = lane_name(parse_value(extension.lane));
        let call = self.take_waiting(&result.id);
        let duration: u64 = parse_value(extension.duration_ms).unwrap_or_default();
        let has_run = matches!(outcome, Outcome::Ok | Outcome::Error | Outcome::Timeout);
        let end = match (outcome_name(outcome), format_seconds(duration)) {
            (word, seconds) if has_run && !lane.is_empty() => format!("{word} {seconds}")
                .trim_start_matches("ok ")
                .to_owned(),
            _ if outcome == Outcome::Ok => String::new(),
            (word, _) => word.to_owned(),
        };
        let mark = if outcome == Outcome::Ok { "✓" } else { "✗" };
        self.write_call_line(mark, lane, &call, &end);
        self.tally.count(outcome_name(outcome));
        if outcome != Outcome::Ok {
            let reason = fold_reason(&result_text(result), self.columns());
            let reason = self.terminal_text().dim(&reason);
            self.write_line(Kind::Call, &reason);
        }
    }

    fn take_waiting(&mut self, id: &str) -> PendingCall {
        let at = self.waiting.iter().position(|call| call.id == id);
        at.and_then(|at| self.waiting.remove(at))
            .unwrap_or_else(|| PendingCall {
                id: String::new(),
                name: "call".to_owned(),
                gist: terminal_safe_line(id),
            })
    }

    /// Shows the calls of a plan.
    fn write_plan(&mut self, record: &RunRecord<'_>) {
        let lane = lane_name(parse_value(record.lane));
        for planned in PlannedCall::read_list(record.calls) {
            let outcome: Option<Outcome> = parse_value(planned.outcome);
            let call = self.take_waiting(&text(planned.tool_use_id).unwrap_or_default());
            let end = outcome.map_or("", outcome_name);
            let mark = if outcome.is_some() { "✗" } else { "→" };
            self.write_call_line(mark, lane, &call, end);
            self.tally
                .count(if outcome.is_some() { end } else { "planned" });
        }
    }

    /// Shows calls that get no result in this run.
    fn write_unanswered(&mut self) {
        while !self.waiting.is_empty() {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        if let Some(call) = self.waiting.pop_front() {
            self.write_call_line("→", "", &call, "");
            self.tally.count("not run here");
        }
    }

    /// Shows a call on one line: with its lane, tool, topic and end.
    fn write_call_line(&mut self, mark: &str, lane: &str, call: &PendingCall, end: &str) {
        let columns = self.columns().clamp(COLUMNS[0], COLUMNS[1]);
        let lane = format!("{lane:8}");
        let start = format!("{mark} {lane}  {}  ", call.name);
        let room = columns.saturating_sub(display_width(&start) + display_width(end) + 2);
        let topic = fit_columns(&call.gist, room);
        let gap = " ".repeat(room.saturating_sub(display_width(&topic)) + 2);
        let look = self.terminal_text();
        let (lane, name) = (look.dim(&lane), look.bold(&call.name));
        let shown = format!("{mark} {lane}  {name}  {topic}{gap}{end}");
        self.write_line(Kind::Call, shown.trim_end());
    }

    fn write_line(&mut self, kind: Kind, line: &str) {
        let is_apart = kind != Kind::Call || self.last != Some(kind);
        if self.last.is_some() && is_apart {
            self.page.push('\n');
        }
        self.last = Some(kind);
        self.page.push_str(line.trim_end_matches('\n'));
        self.page.push('\n');
    }

    /// Writes the messages and the summary.
    fn finish(&mut self) -> io::Result<()> {
        self.reader.source_mut().is_over = true;
        self.take_pieces()?;
        let mut messages = Vec::new();
        self.dialog.finish(&mut |message| messages.push(message));
        for message in messages {
            self.process_message(message, &RunRecord::default());
        }
        self.write_unanswered();
        if let Some(summary) = self.tally.summary() {
            let summary = wrap_text(&summary, self.columns(), 0);
            self.write_line(Kind::Summary, &summary);
        }
        self.write_page()?;
        self.sink.flush()
    }
}

impl<Sink: Write> Write for RunText<Sink> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let chunk = &bytes[..bytes.len().min(CHUNK_BYTES)];
        self.reader.source_mut().bytes.extend(chunk);
        self.take_pieces()?;
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<Sink: Write> Drop for RunText<Sink> {
    fn drop(&mut self) {
        if !self.has_failed {
            // A drop cannot report a failure.
            let _ = self.finish();
        }
    }
}

/// Bytes that were written but not read. Reading fails with [`ErrorKind::WouldBlock`] if there are none.
#[derive(Default)]
struct BufferedBytes {
    bytes: VecDeque<u8>,
    is_over: bool,
}

impl Read for BufferedBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.bytes.read(buffer)? {
            0 if !self.is_over => Err(ErrorKind::WouldBlock.into()),
            length => Ok(length),
        }
    }
}

/// Returns the reason for a failure on a few indented lines.
fn fold_reason(text: &str, columns: usize) -> String {
    let beginning = terminal_safe_line(truncate_utf16(text.trim(), MAX_REASON_LINES * columns));
    let reason = wrap_text(&beginning, columns, REASON_INDENT);
    let lines: Vec<&str> = reason.lines().collect();
    match lines.get(..MAX_REASON_LINES) {
        Some(kept) if lines.len() > kept.len() => kept.join("\n") + "…",
        _ => reason,
    }
}

#[cfg(test)]
#[path = "run_text_tests.rs"]
mod tests;
