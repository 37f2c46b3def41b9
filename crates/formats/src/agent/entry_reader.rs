//! Reads the records of a file in order. In the streams of some agents the meaning of a row depends on
//! earlier ones.

use std::iter;

use super::content::{new_text, string, timestamp};
use super::counting::SideCost;
use super::entry::{Entry, ReportedEnd};
use super::facts::Facts;
use super::format::Format;
use super::reading::Detail;
use super::sign::{
    ATIF_FILE, CLAUDE_STREAM, CODEX_STREAM, GEMINI_STREAM, OPENCODE_STREAM, Opening, PI_STREAM,
    PRINTED_SESSION, QWEN_STREAM,
};
use super::stream_conversation::{StreamConversation, StreamItem};
use super::{atif, codex_stream, gemini, opencode, pi};
use turnpipe_core::json::object;
use turnpipe_core::message::{Message, Origin, Role, Usage};

object! {
    Row {
        kind = "type", id, session = "session_id", session_opencode = "sessionID", thread_id,
        time = "timestamp", cwd, model,
    }
}

/// The reason of a run whose stream has no end.
const INTERRUPTED: &str = "interrupted";

/// Reads records of one format.
#[derive(Debug)]
pub struct EntryReader {
    format: &'static Format,
    /// The state of a stream.
    stream: Option<Box<Run>>,
}

/// A run up to the last record.
#[derive(Debug, Default)]
struct Run {
    rows: StreamReader,
    /// The tokens of the messages before the last one.
    counted: Usage,
    /// The id of the last message with tokens.
    last_id: Option<String>,
    /// The tokens of that message.
    last_usage: Usage,
    has_ended: bool,
    is_trajectory: bool,
    /// The tokens of a whole trajectory, which may precede its steps.
    totals: Option<SideCost>,
}

impl EntryReader {
    /// Reads the first record next.
    pub fn new(format: &'static Format) -> Self {
        let run = format.stream.filter(|name| *name != PRINTED_SESSION);
        let stream = run.map(|name| {
            Box::new(Run {
                is_trajectory: name == ATIF_FILE,
                ..Run::default()
            })
        });
        Self { format, stream }
    }

    /// Returns the format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Reads the next record. Returns `None` if the text is not a JSON object.
    pub fn read(&mut self, record: &str, detail: Detail) -> Option<Entry> {
        let Some(run) = &mut self.stream else {
            return self.format.read(record, detail);
        };
        let mut entry = match self.format.stream {
            None | Some(ATIF_FILE | CLAUDE_STREAM | QWEN_STREAM) => {
                self.format.read(record, detail)?
            }
            Some(name) => run.read_entry(name, record)?,
        };
        run.subtract_message_tokens(&mut entry);
        entry.normalize_times();
        Some(entry)
    }

    /// Returns the messages that were incomplete at the end of a stream. A stream without an end was
    /// interrupted.
    pub fn finish(&mut self) -> Option<Entry> {
        let run = self.stream.as_mut()?;
        let mut messages: Vec<Message> = filter_messages(run.rows.finish()).collect();
        let is_cut = !run.has_ended;
        if is_cut {
            let notice = "the stream has no end: the run was interrupted, or it continues";
            messages.push(new_text(Role::System, Origin::Error, notice.to_owned()));
        }
        Some(Entry {
            is_known: true,
            messages,
            end: is_cut.then(|| ReportedEnd {
                reason: INTERRUPTED.to_owned(),
                ..ReportedEnd::default()
            }),
            ..Entry::default()
        })
    }
}

/// Reads a row without the rows before it.
pub(super) fn read_row(name: &'static str, record: &str) -> Option<Entry> {
    let mut run = Run::default();
    let mut entry = run.read_entry(name, record)?;
    entry.messages.extend(filter_messages(run.rows.finish()));
    Some(entry)
}

/// Returns the messages among `items`.
fn filter_messages(items: impl IntoIterator<Item = StreamItem>) -> impl Iterator<Item = Message> {
    items.into_iter().filter_map(|item| match item {
        StreamItem::Message { message, .. } => Some(*message),
        StreamItem::Start(_) | StreamItem::Text(_) => None,
    })
}

impl Run {
    /// Reads a row of a stream that is not stream-json.
    fn read_entry(&mut self, name: &'static str, record: &str) -> Option<Entry> {
        let row = Row::read(record)?;
        let kind = string(row.kind).unwrap_or_default();
        let items = self
            .rows
            .read_row(&kind, record, Some(&Opening::Foreign(name)))
            .items;
        let messages: Vec<Message> = filter_messages(items).collect();
        let time = string(row.time).or_else(|| messages.last()?.time.clone());
        let instant = timestamp(time.as_deref());
        let ids = [row.session, row.session_opencode, row.thread_id];
        let own_id = row.id.filter(|_| kind == "session");
        let model = messages.last().and_then(|message| message.model.clone());
        let facts = Facts {
            session_id: ids.into_iter().chain(iter::once(own_id)).find_map(string),
            model: string(row.model).or(model),
            started: instant,
            last_activity: instant,
            ..Facts::default()
        };
        Some(Entry {
            is_known: true,
            time,
            facts: facts.with_directory(string(row.cwd)),
            messages,
            end: self.rows.take_end(),
            kind,
            ..Entry::default()
        })
    }

    /// Subtracts the tokens of all messages from the tokens of the whole run.
    fn subtract_message_tokens(&mut self, entry: &mut Entry) {
        for message in &entry.messages {
            self.has_ended = false;
            let Some(usage) = message.usage else { continue };
            let repeats_last = self.last_id.is_some() && self.last_id == message.id;
            if repeats_last {
                let larger = Usage::larger(Some(self.last_usage), Some(usage));
                self.last_usage = larger.unwrap_or_default();
            } else {
                self.counted += self.last_usage;
                self.last_usage = usage;
                self.last_id.clone_from(&message.id);
            }
        }
        self.has_ended |= entry.end.is_some();
        if self.is_trajectory {
            self.totals = entry.side_cost.take().or(self.totals.take());
            self.has_ended |= entry.kind == atif::END;
            entry.side_cost = self.totals.take_if(|_| self.has_ended);
        }
        let Some(cost) = &mut entry.side_cost else {
            return;
        };
        let mut counted = self.counted;
        counted += self.last_usage;
        let mut rest = cost.usage.since(&counted);
        let more = cost.usage.total().checked_sub(counted.total());
        // Not every total states how much of the input was cached.
        rest.input = rest
            .input
            .saturating_sub(rest.total() - more.unwrap_or_default());
        if more.is_some() && rest.is_billable() {
            cost.usage = rest;
            self.counted += cost.usage;
        } else {
            entry.side_cost = None;
        }
    }
}

/// Reads rows in order.
#[derive(Debug, Default)]
pub(crate) struct StreamReader {
    conversation: StreamConversation,
    codex: codex_stream::Rows,
    gemini: gemini::StreamRows,
}

/// The content of a row.
#[derive(Debug, Default)]
pub(crate) struct StreamRow {
    /// Its items, and items of earlier rows that end here.
    pub(crate) items: Vec<StreamItem>,
    /// Whether the items are the whole content of the row.
    pub(crate) is_complete: bool,
}

impl StreamReader {
    /// Sets the prefix of generated message ids.
    pub(crate) fn set_message_ids(&mut self, prefix: String) {
        self.conversation.set_message_ids(prefix);
    }

    /// Reads a row of the type `kind` in a stream with this opening.
    pub(crate) fn read_row(
        &mut self,
        kind: &str,
        row: &str,
        opening: Option<&Opening>,
    ) -> StreamRow {
        let conversation = &mut self.conversation;
        if opening != Some(&Opening::Foreign(GEMINI_STREAM)) {
            self.gemini.end_text(conversation);
        }
        let translated = match opening {
            Some(Opening::Foreign(CODEX_STREAM)) => self.codex.read_row(kind, row, conversation),
            Some(Opening::Foreign(GEMINI_STREAM)) => self.gemini.read_row(kind, row, conversation),
            Some(Opening::Foreign(OPENCODE_STREAM)) => {
                opencode::read_stream_row(kind, row, conversation)
            }
            Some(Opening::Foreign(PI_STREAM)) => pi::read_stream_row(kind, row, conversation),
            _ => None,
        };
        StreamRow {
            items: conversation.take_items(),
            is_complete: translated.is_some(),
        }
    }

    /// Takes the end of the run, if the last row reports it.
    pub(super) fn take_end(&mut self) -> Option<ReportedEnd> {
        self.conversation.end.take()
    }

    /// Returns the text that was incomplete at the end of the input.
    pub(crate) fn finish(&mut self) -> Option<StreamItem> {
        self.gemini.end_text(&mut self.conversation);
        self.conversation.take_items().pop()
    }
}
