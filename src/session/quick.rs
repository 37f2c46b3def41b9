//! What a session's two ends tell, without reading what lies between.

use std::io;
use std::ops::ControlFlow;

use super::lines::for_each_line;
use super::recover::records_on_line;
use super::summaries::Summaries;
use super::transcript::{Positioned, Session};
use super::{Agent, Facts};
use crate::jsonl::{FixedFile, Mapping};

/// How much of the start is read in any case, in bytes.
const HEAD: u64 = 64 * 1024;

/// How far the first prompt is looked for, in bytes.
const LONGEST_HEAD: u64 = 1024 * 1024;

/// How much of the end is read, in bytes: it holds a time in 99 of 100 files.
const TAIL: u64 = 64 * 1024;

/// How much of the end is read if that was a part of one line only, in bytes.
const LONGEST_TAIL: u64 = 16 * 1024 * 1024;

impl Session {
    /// What the ends of the file tell, and its title, wherever that stands. The last activity is
    /// the latest time in the last 64 KiB.
    ///
    /// # Errors
    /// Reading failed.
    pub fn quick_facts(&self, mapping: Mapping) -> io::Result<Facts> {
        if self.is_document() {
            return Ok(self.facts(mapping)?.0);
        }
        let mut facts = Facts::default();
        let mut summaries = Summaries::default();
        let head = self.head(&mut facts, &mut summaries)?;
        if head < self.file.size {
            self.tail(head, mapping, &mut facts, &mut summaries)?;
        }
        facts.title = self.title(mapping)?.or_else(|| summaries.own());
        Ok(facts)
    }

    /// Reads the head; returns where it stopped.
    fn head(&self, facts: &mut Facts, summaries: &mut Summaries) -> io::Result<u64> {
        let source = Positioned {
            file: &self.file,
            at: 0,
        };
        let stopped = for_each_line(source, 0, &mut |line| {
            let wanted = if facts.first_prompt.is_some() {
                HEAD
            } else {
                LONGEST_HEAD
            };
            if line.offset > wanted {
                return ControlFlow::Break(line.offset);
            }
            for (_, record) in line.records() {
                self.note(record, facts, summaries);
            }
            ControlFlow::Continue(())
        })?;
        Ok(stopped.unwrap_or(self.file.size))
    }

    /// Reads the tail, from the first whole line that starts at `from` or later.
    fn tail(
        &self,
        from: u64,
        mapping: Mapping,
        facts: &mut Facts,
        summaries: &mut Summaries,
    ) -> io::Result<()> {
        let mut bytes: FixedFile = self.bytes(mapping)?;
        let length = bytes.length();
        let mut size = TAIL;
        loop {
            let start = length.saturating_sub(size).max(from);
            let window = bytes.window(start..length)?;
            let whole = if start == from {
                Some(0)
            } else {
                let inner = window.strip_suffix(b"\n").unwrap_or(window);
                memchr::memchr(b'\n', inner).map(|at| at + 1)
            };
            match whole {
                None if size < LONGEST_TAIL => size *= 4,
                None => return Ok(()),
                Some(whole) => {
                    for line in window[whole..].split(|byte| *byte == b'\n') {
                        let (records, _) = records_on_line(line);
                        for record in &records {
                            self.note(record.text(line), facts, summaries);
                        }
                    }
                    return Ok(());
                }
            }
        }
    }

    fn note(&self, record: &str, facts: &mut Facts, summaries: &mut Summaries) {
        let format = self.format();
        format.facts(record, facts);
        if let Some(time) = format.envelope(record).time {
            facts.note_time(&time);
        }
        let messages = format.messages(record).into_iter();
        for message in messages.chain(format.echoes(record)) {
            facts.note_message(&message);
        }
        if self.agent() == Agent::Claude {
            summaries.note(record);
        }
    }
}
