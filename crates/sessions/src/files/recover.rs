//! Recovers the records on a damaged line.
//!
//! Reading can be more lenient than the line reader: records may be separated by arbitrary text. A
//! record inside a torn record stays lost, because it may be only a part of the torn record.

use turnpipe_core::jsonl::{
    Damage, FirstValue, Record, first_value, only_record, split_line, undamaged_text,
};
use turnpipe_formats::agent::{Detail, Entry, EntryReader};

/// Returns the complete records on a line, in order, and its defect. Offsets are bytes from the start of
/// the line.
pub(crate) fn find_records_on(line: &[u8]) -> (Vec<Record>, Vec<Damage>) {
    let (records, damage) = split_line(line);
    if damage.is_empty() {
        return (records, damage);
    }
    let recovered = recover_records(line);
    if recovered.len() > records.len() {
        (recovered, damage)
    } else {
        (records, damage)
    }
}

/// Calls `visit` with each complete record on a line, in order. Returns their number.
pub(crate) fn visit_records_on(line: &[u8], visit: &mut dyn FnMut(&str)) -> usize {
    if let Some(record) = only_record(line) {
        visit(record);
        return 1;
    }
    let (records, _) = find_records_on(line);
    for record in &records {
        visit(record.text(line));
    }
    records.len()
}

/// Calls `visit` with the entry of each complete record on a line, in order. A format rejects text
/// that is not one record, so most lines are parsed only once.
pub(crate) fn visit_entries_on(
    reader: &mut EntryReader,
    line: &[u8],
    detail: Detail,
    visit: &mut dyn FnMut(u32, Entry),
) {
    if let Some(entry) = undamaged_text(line).and_then(|text| reader.read(text, detail)) {
        return visit(0, entry);
    }
    for (index, record) in (0..).zip(&find_records_on(line).0) {
        if let Some(entry) = reader.read(record.text(line), detail) {
            visit(index, entry);
        }
    }
}

/// Returns the beginning of a JSON document that is cut off, up to the last whole member or element of its outer two
/// levels. `None` if it is not cut off, or has none.
pub(crate) fn close_cut_json(json: &str) -> Option<String> {
    let (mut open, mut last_whole) = (Vec::new(), None);
    let (mut is_in_string, mut is_escaped) = (false, false);
    for (at, byte) in json.bytes().enumerate() {
        if is_in_string {
            is_in_string = byte != b'"' || is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            continue;
        }
        let mut end = at;
        match byte {
            b'"' => is_in_string = true,
            b'{' => open.push('}'),
            b'[' => open.push(']'),
            b'}' | b']' => {
                open.pop()?;
                end += 1;
            }
            _ => {}
        }
        if matches!(byte, b'[' | b',' | b'}' | b']') && open.len() <= 2 {
            let start = if byte == b'[' { at + 1 } else { end };
            last_whole = Some((start, open.clone()));
        }
        if open.is_empty() {
            return None;
        }
    }
    let (end, open) = last_whole?;
    let ends: String = open.iter().rev().collect();
    Some(json[..end].to_owned() + &ends)
}

fn recover_records(line: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut at = 0;
    while let Some(start) = find_next_object(line, at, records.is_empty()) {
        let rest = &line[start..];
        match first_value(rest) {
            FirstValue::Object(span) => {
                let (found, _) = split_line(&rest[span.clone()]);
                records.extend(shift_records(found, start + span.start));
                at = start + span.end;
            }
            FirstValue::Broken { .. } => {
                let (found, _) = split_line(rest);
                records.extend(shift_records(found, start));
                break;
            }
            FirstValue::NotAnObject(_) | FirstValue::CutOff | FirstValue::Missing => break,
        }
    }
    records
}

/// Returns the offset at which the next object may start. Only closing delimiters of a lost record and
/// blanks may precede the first one. After any other text it may be part of an object.
fn find_next_object(line: &[u8], from: usize, is_first: bool) -> Option<usize> {
    let start = from + memchr::memchr(b'{', &line[from..])?;
    let is_end = |byte: &u8| matches!(byte, b'}' | b']' | b',' | b' ' | b'\t' | b'\r' | 0);
    (!is_first || line[from..start].iter().all(is_end)).then_some(start)
}

fn shift_records(records: Vec<Record>, offset: usize) -> impl Iterator<Item = Record> {
    records.into_iter().map(move |record| match record {
        Record::Range(range) => Record::Range(range.start + offset..range.end + offset),
        repaired @ Record::Repaired(_) => repaired,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str) -> Vec<String> {
        let (records, _) = find_records_on(line.as_bytes());
        let texts = records.iter();
        texts
            .map(|record| record.text(line.as_bytes()).to_owned())
            .collect()
    }

    #[test]
    fn whole_records_survive_text_between_them() {
        let table: [(&str, &[&str]); 12] = [
            (r#"{"a":1}"#, &[r#"{"a":1}"#]),
            (r#"{"a":"}{"}{"b":2}"#, &[r#"{"a":"}{"}"#, r#"{"b":2}"#]),
            (r#"{"a":1}garbage{"b":2}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
            (r#"{"a":1"#, &[]),
            (r#"{"a":1}{"b":"#, &[r#"{"a":1}"#]),
            (r#""str""#, &[]),
            ("null", &[]),
            (r#"}{"a":1}"#, &[r#"{"a":1}"#]),
            (r#"{"a":1},{"b":2}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]),
            // The object is part of a record whose start is lost.
            (r#"tle":"x","y":{"a":1}}"#, &[]),
            (r#"{"torn":{"in":1},"x{"b":2}"#, &[r#"{"b":2}"#]),
            (r#"[{"a":1}]"#, &[]),
        ];
        for (line, expected) in table {
            assert_eq!(texts(line), expected, "{line}");
        }
    }

    #[test]
    fn documents_end_after_the_last_whole_element() {
        let table = [
            (
                r#"{"a":"x","m":[{"b":[1]},{"c":"]","#,
                Some(r#"{"a":"x","m":[{"b":[1]}]}"#),
            ),
            (
                r#"{"a":"x","m":[{"b":[1]}"#,
                Some(r#"{"a":"x","m":[{"b":[1]}]}"#),
            ),
            (r#"{"a":"x","m":[{"b":"#, Some(r#"{"a":"x","m":[]}"#)),
            (r#"{"a":"x","m":[],"s":"y"#, Some(r#"{"a":"x","m":[]}"#)),
            (r#"{"a":"x,{\"","m"#, Some(r#"{"a":"x,{\""}"#)),
            (r#"{"a":"x"#, None),
            (r#"{"a":[1]}"#, None),
            ("7", None),
        ];
        for (json, expected) in table {
            assert_eq!(close_cut_json(json).as_deref(), expected, "{json}");
        }
    }

    proptest! {
        #[test]
        fn every_recovered_record_is_a_whole_object(line in "[{}\"a:1,\\[\\] ]{0,24}") {
            for text in texts(&line) {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                prop_assert!(value.is_object());
            }
        }
    }
}
