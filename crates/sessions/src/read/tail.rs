//! The end of a session file: finds where its last records or messages start, and converts lines to
//! messages as they arrive.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fs::File;
use std::io;

use crate::files::open::{Head, SessionFile};
use crate::files::recover::visit_records_on;
use crate::read::session::Session;
use turnpipe_core::jsonl::{FixedFile, Mapping, visit_lines_backward};
use turnpipe_core::message::{Message, Origin};
use turnpipe_formats::agent::{Detail, Entry, EntryReader, Format, Shape, detect_format};

/// Maximum size of the lines held in memory as messages, in bytes.
const MAX_HELD_SIZE: usize = 1024 * 1024;

/// Returns the offset at which the last `count` items start. `count_items` returns the number of items that start
/// on a line. It is called from the last line backwards. Lines that are too long to parse are
/// skipped and count as one item.
///
/// # Errors
/// Reading failed.
pub(crate) fn find_start_of_last<Source: Borrow<File>>(
    bytes: &mut FixedFile<Source>,
    count: u64,
    count_items: &mut dyn FnMut(&[u8]) -> u64,
) -> io::Result<u64> {
    let mut start = bytes.length();
    let mut seen = 0;
    visit_lines_backward(bytes, &mut |place, line| {
        seen += line.map_or(1, &mut *count_items);
        if seen > count {
            return false;
        }
        start = place.start;
        true
    })?;
    Ok(start)
}

/// Returns the number of records on a line. A line that has none but is not blank counts as one.
pub(crate) fn count_records(line: &[u8]) -> u64 {
    match visit_records_on(line, &mut |_| {}) {
        0 => u64::from(!line.trim_ascii().is_empty()),
        count => count as u64,
    }
}

impl Session {
    /// Whether messages are only in records that other files of the agent repeat, as far as the first lines show.
    pub fn has_only_repeats(&self) -> bool {
        has_only_repeats(&self.head, self.format())
    }

    /// Returns the offset at which the last `count` messages of the file start.
    ///
    /// # Errors
    /// Reading failed.
    pub fn find_last_messages(&self, count: u64, mapping: Mapping) -> io::Result<u64> {
        let mut messages = BackwardMessages::new(self.format());
        messages.includes_repeats = self.has_only_repeats();
        find_start_of_last(&mut self.bytes(mapping), count, &mut |line| {
            messages.count_line(line)
        })
    }
}

/// Whether the first lines have messages only in records that other files repeat.
pub(crate) fn has_only_repeats(head: &Head, format: &Format) -> bool {
    let mut has_repeats = false;
    let has_messages = head.lines().any(|(_, line)| {
        let mut has_messages = false;
        visit_records_on(line, &mut |record| {
            let entry = format.read(record, Detail::Full).unwrap_or_default();
            has_repeats |= !entry.repeats.is_empty();
            has_messages |= entry
                .messages
                .iter()
                .any(|message| message.origin != Origin::Meter);
        });
        has_messages
    });
    has_repeats && !has_messages
}

/// Returns the offset at which the last `count` records of a file start.
///
/// # Errors
/// Reading failed.
pub fn find_last_records(file: &SessionFile, count: u64, mapping: Mapping) -> io::Result<u64> {
    let mut bytes = FixedFile::new(&file.file, file.size, mapping);
    find_start_of_last(&mut bytes, count, &mut count_records)
}

/// Converts lines to messages one by one.
#[derive(Debug, Default)]
pub(crate) struct MessageLines {
    entries: Option<EntryReader>,
    /// The number of blocks already returned for each message, for formats that write rows again.
    returned_counts: HashMap<String, usize>,
    /// Whether messages are only in records that other files repeat.
    pub(crate) includes_repeats: bool,
}

impl MessageLines {
    /// Converts lines of this format. If it is `None`, the first record that identifies an agent
    /// decides.
    pub(crate) fn new(format: Option<&'static Format>) -> Self {
        Self {
            entries: format.map(EntryReader::new),
            returned_counts: HashMap::new(),
            includes_repeats: false,
        }
    }

    /// Starts over: the file may be a session of another agent.
    pub(crate) fn restart(&mut self) {
        self.entries = None;
    }

    /// Returns the messages on a line, without meter readings.
    pub(crate) fn parse_line(&mut self, line: &[u8]) -> Vec<Message> {
        let mut messages = Vec::new();
        visit_records_on(line, &mut |record| {
            let known = self.entries.take();
            self.entries = known.or_else(|| detect_format(record).map(EntryReader::new));
            let entries = self.entries.as_mut();
            if let Some(entry) = entries.and_then(|entries| entries.read(record, Detail::Full)) {
                messages.extend(self.convert_entry(entry));
            }
        });
        messages
    }

    /// Returns the messages in a record, without meter readings.
    pub(crate) fn convert_entry(&mut self, entry: Entry) -> Vec<Message> {
        let mut messages = take_messages(entry, self.includes_repeats);
        messages.retain(|message| message.origin != Origin::Meter);
        let entries = self.entries.as_ref();
        let is_log = entries.is_some_and(|entries| entries.format().reading.shape == Shape::Replay);
        if is_log {
            messages = messages
                .into_iter()
                .filter_map(|message| self.take_new_part(message))
                .collect();
        }
        messages
    }

    /// Returns the part of a message that was not returned yet.
    fn take_new_part(&mut self, mut message: Message) -> Option<Message> {
        let Some(row) = &message.uuid else {
            return Some(message);
        };
        let key = format!("{:?} {row}", message.origin);
        let known = self.returned_counts.entry(key).or_insert(0);
        let all = message.blocks.len();
        let is_new = *known == 0;
        message.blocks.drain(..(*known).min(all));
        *known = all.max(*known);
        (is_new || !message.blocks.is_empty()).then_some(message)
    }
}

/// Returns the messages of a record, with messages that other records of most files repeat if these are wanted.
fn take_messages(mut entry: Entry, includes_repeats: bool) -> Vec<Message> {
    let repeats = std::mem::take(&mut entry.repeats);
    let mut messages = entry.into_messages();
    messages.extend(repeats.into_iter().filter(|_| includes_repeats));
    messages
}

/// Counts the messages that start on each line, from the end of a file backwards.
#[derive(Debug)]
pub(crate) struct BackwardMessages {
    format: &'static Format,
    last: Option<String>,
    includes_repeats: bool,
}

impl BackwardMessages {
    /// Starts with no messages seen.
    pub(crate) fn new(format: &'static Format) -> Self {
        Self {
            format,
            last: None,
            includes_repeats: false,
        }
    }

    /// Returns the number of messages on the line that were not counted yet.
    pub(crate) fn count_line(&mut self, line: &[u8]) -> u64 {
        let messages = self.read_line(line);
        self.count_messages(&messages)
    }

    /// Returns the messages on the line, without meter readings.
    fn read_line(&self, line: &[u8]) -> Vec<Message> {
        let mut messages = Vec::new();
        visit_records_on(line, &mut |record| {
            let entry = self.format.read(record, Detail::Full);
            messages.extend(
                entry
                    .into_iter()
                    .flat_map(|entry| take_messages(entry, self.includes_repeats)),
            );
        });
        messages.retain(|message| message.origin != Origin::Meter);
        messages
    }

    fn count_messages(&mut self, messages: &[Message]) -> u64 {
        let mut count = 0;
        for message in messages.iter().rev() {
            let is_continuation = message.id.is_some() && message.id == self.last;
            count += u64::from(!is_continuation);
            self.last.clone_from(&message.id);
        }
        count
    }
}

/// Returns the last `count` messages, with the parts of each message joined, and with messages that other files repeat
/// if these are wanted. `None` if their lines are too long to be held in memory.
///
/// # Errors
/// Reading failed.
pub fn read_last_messages<Source: Borrow<File>>(
    bytes: &mut FixedFile<Source>,
    count: u64,
    format: &'static Format,
    includes_repeats: bool,
) -> io::Result<Option<Vec<Message>>> {
    let mut counted = BackwardMessages::new(format);
    counted.includes_repeats = includes_repeats;
    let (mut seen, mut size) = (0, 0);
    let mut lines = Some(Vec::new());
    visit_lines_backward(bytes, &mut |_, line| {
        size += line.map_or(usize::MAX, <[u8]>::len).min(MAX_HELD_SIZE + 1);
        let Some(line) = line.filter(|_| size <= MAX_HELD_SIZE) else {
            lines = None;
            return false;
        };
        let messages = counted.read_line(line);
        seen += counted.count_messages(&messages);
        if seen > count {
            return false;
        }
        if let Some(lines) = &mut lines {
            lines.push(messages);
        }
        true
    })?;
    Ok(lines.map(|lines| lines.into_iter().rev().flatten().collect()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use turnpipe_formats::agent::Agent;

    fn fixed(text: &str) -> FixedFile {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        FixedFile::new(file, text.len() as u64, Mapping::Allowed)
    }

    #[test]
    fn records_are_counted_from_the_end() {
        let text = "{\"a\":1}\n{\"b\":1}{\"c\":1}\n\n{\"d\":1}\n{\"torn\":";
        let starts =
            |count| find_start_of_last(&mut fixed(text), count, &mut count_records).unwrap();
        // Torn lines count, blank ones do not. Two records on a line stay together.
        assert_eq!(starts(0), text.len() as u64);
        assert_eq!(&text[usize::try_from(starts(1)).unwrap()..], "{\"torn\":");
        assert_eq!(starts(3), 23);
        assert_eq!(starts(4), 8);
        assert_eq!(starts(9), 0);
    }

    #[test]
    fn records_of_one_message_stay_together() {
        let row = |id: &str, text: &str| {
            format!(r#"{{"type":"assistant","message":{{"id":"{id}","content":"{text}"}}}}"#)
        };
        let rows = [row("a", "1"), row("a", "2"), row("b", "3"), row("b", "4")];
        let text = rows.join("\n") + "\n";
        let mut messages = BackwardMessages::new(Agent::Claude.format());
        let start = find_start_of_last(&mut fixed(&text), 1, &mut |line| messages.count_line(line))
            .unwrap();
        for count in 0..4 {
            let last = read_last_messages(&mut fixed(&text), count, Agent::Claude.format(), false);
            let texts: Vec<String> = last.unwrap().unwrap().iter().map(Message::text).collect();
            let expected = ["1", "2", "3", "4"];
            let skipped = [4, 2, 0, 0][usize::try_from(count).unwrap()];
            assert_eq!(texts, expected[skipped..], "{count}");
        }
        assert_eq!(start, (rows[0].len() + rows[1].len() + 2) as u64);
    }

    #[test]
    fn lines_that_are_too_long_together_are_not_held() {
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(MAX_HELD_SIZE / 2));
        let last = |lines: usize| {
            read_last_messages(
                &mut fixed(&line.repeat(lines)),
                1,
                Agent::Claude.format(),
                false,
            )
            .unwrap()
        };
        assert_eq!((last(1).is_some(), last(2).is_some()), (true, false));
    }

    #[test]
    fn a_row_that_is_written_again_yields_what_is_new() {
        let mut lines = MessageLines::new(None);
        let head = br#"{"sessionId":"s","projectHash":"h"}"#;
        assert!(lines.parse_line(head).is_empty());
        let first = br#"{"id":"1","type":"gemini","content":"hi"}"#;
        assert_eq!(lines.parse_line(first).len(), 1);
        assert_eq!(lines.parse_line(first).len(), 0);
        let again = br#"{"id":"1","type":"gemini","content":"hi","toolCalls":[{"id":"c","name":"x","args":{},"result":[{"text":"y"}]}]}"#;
        let messages = lines.parse_line(again);
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0].blocks.len(), 1);
        assert_eq!(messages[0].calls().count(), 1);
    }
}
