//! The reader loses no bytes, and its output does not depend on chunk boundaries.

use std::collections::BTreeMap;
use std::io::{self, Read};

use serde_json::value::RawValue;
use turnpipe_core::jsonl::{
    Damage, FirstValue, Piece, Prefilter, Reader, UnwantedLines, first_value,
};

/// Checks the reader. The first byte of `data` is the size of the reads, the rest is the input. Panics if an
/// invariant is violated.
pub(crate) fn check(data: &[u8]) {
    let Some((size, input)) = data.split_first() else {
        return;
    };
    for unwanted in [UnwantedLines::Unread, UnwantedLines::Checked] {
        let at_once = summary(input, unwanted, input);
        let parts = Parts {
            rest: input,
            size: usize::from(*size) + 1,
        };
        assert_eq!(at_once, summary(parts, unwanted, input));
    }
}

/// Reads of a fixed size.
struct Parts<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Parts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.size.min(buffer.len());
        self.rest.read(&mut buffer[..length])
    }
}

fn prefilter() -> Prefilter {
    Prefilter::new(&["\"w\"", "tool", "{}"]).expect("short needles")
}

/// By line number: the records and the damage.
type Summary = BTreeMap<u64, (Vec<String>, Vec<Damage>)>;

fn summary(source: impl Read, unwanted: UnwantedLines, input: &[u8]) -> Summary {
    let mut reader = Reader::new(source, prefilter()).with_unwanted(unwanted);
    let mut output = Vec::new();
    let mut lines = Summary::new();
    while let Some(piece) = reader.next_piece().expect("reading from memory") {
        output.extend_from_slice(piece.raw());
        match &piece {
            Piece::Plain { raw } => check_plain(raw, unwanted),
            Piece::Line { raw, number, .. } => {
                let (records, damage) = piece.records();
                let texts = records.iter().map(|record| record.text(raw).to_owned());
                let texts: Vec<String> = texts.collect();
                for text in &texts {
                    check_record(text);
                }
                assert!(!texts.is_empty() || !damage.is_empty() || has_no_record(raw));
                assert_eq!(lines.insert(*number, (texts, damage)), None);
            }
            Piece::LongLine { .. } => {}
        }
    }
    assert_eq!(output, input);
    lines
}

/// Whether a line belongs to an event stream or to a list of objects, but has no record.
fn has_no_record(line: &[u8]) -> bool {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let fields: [&[u8]; 5] = [b":", b"event:", b"id:", b"retry:", b"data:"];
    fields.iter().any(|field| line.starts_with(field)) || matches!(line.trim_ascii(), b"," | b"]")
}

fn check_plain(raw: &[u8], unwanted: UnwantedLines) {
    assert!(!raw.is_empty());
    assert_eq!(prefilter().find(raw, 0), None);
    if unwanted == UnwantedLines::Unread {
        return;
    }
    let text = std::str::from_utf8(raw).expect("plain lines are UTF-8");
    // An object or a list over several lines is one piece.
    let whole = text.trim_start_matches('\u{feff}').trim_ascii();
    let object = whole.strip_prefix('[').unwrap_or(whole);
    if serde_json::from_str::<BTreeMap<String, &RawValue>>(object).is_ok()
        || serde_json::from_str::<Vec<BTreeMap<String, &RawValue>>>(whole).is_ok()
    {
        return;
    }
    for line in text.split('\n') {
        let line = line.trim_start_matches('\u{feff}').trim_ascii();
        // The list may go on below.
        let object = line.strip_prefix('[').unwrap_or(line);
        let is_object =
            || object.starts_with('{') && serde_json::from_str::<&RawValue>(object).is_ok();
        let is_list = || serde_json::from_str::<Vec<BTreeMap<String, &RawValue>>>(line).is_ok();
        let is_sound =
            line.is_empty() || has_no_record(line.as_bytes()) || is_object() || is_list();
        assert!(is_sound, "{line:?} of {text:?}");
    }
}

fn check_record(text: &str) {
    assert_eq!(
        first_value(text.as_bytes()),
        FirstValue::Object(0..text.len())
    );
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        let reason = error.to_string();
        let is_known = ["number out of range", "recursion limit exceeded"];
        assert!(is_known.iter().any(|known| reason.starts_with(known)));
    }
}
