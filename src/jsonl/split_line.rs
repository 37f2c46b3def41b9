//! One line by itself: the records on it, for those who read a file from the end or by places.

use super::examine::{Defect, examine};
use super::outlook::{record, sound_object, valid_record};
use super::well_formed::well_formed_lines;
use super::{Damage, Record, replace_lone_surrogates};

/// The whole JSON objects on a line (with or without its newline), in order, and what is wrong
/// with the line. Offsets of damage are bytes from the start of the line.
pub fn split_line(line: &[u8]) -> (Vec<Record>, Vec<Damage>) {
    if let Some(text) = sound_line(line) {
        let only = sound_object(line, 0).into_iter();
        let records = only.map(|range| valid_record(text, range));
        return (records.collect(), Vec::new());
    }
    let found = examine(line);
    let records = found
        .objects
        .into_iter()
        .map(|range| record(line, range))
        .collect();
    let mut findings = found.findings;
    if let Err(error) = simdutf8::compat::from_utf8(line) {
        findings.push((Defect::InvalidUtf8, error.valid_up_to()));
        findings.sort_by_key(|(_, at)| *at);
    }
    let damage = findings
        .into_iter()
        .map(|(defect, at)| Damage {
            reason: defect.to_string(),
            offset: at as u64,
        })
        .collect();
    (records, damage)
}

/// The record on a line that holds exactly one and is in order, which nearly all are: a quicker way to
/// what [`split_line`] finds there. Of all other lines, and of those whose record must be repaired,
/// it says nothing.
pub fn only_record(line: &[u8]) -> Option<&str> {
    let record = sound_line(line)?.trim_ascii();
    (!record.is_empty() && replace_lone_surrogates(record).is_none()).then_some(record)
}

/// The line, if a quick look finds it in order: a whole line with one object on it, or blank.
fn sound_line(line: &[u8]) -> Option<&str> {
    let is_well_formed = line.ends_with(b"\n") && well_formed_lines(line) == line.len();
    let text = is_well_formed.then(|| simdutf8::basic::from_utf8(line));
    text?.ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// With a newline a line may take the quick road, without one it never does.
        #[test]
        fn both_roads_lead_to_the_same(line in "[{}\":a1,\\[\\] ]{0,20}") {
            let texts = |line: &str| {
                let (records, damage) = split_line(line.as_bytes());
                let records = records.iter();
                let texts: Vec<String> = records.map(|record| record.text(line.as_bytes()).to_owned()).collect();
                (texts, damage.is_empty())
            };
            let whole = format!("{line}\n");
            let (records, is_sound) = texts(&whole);
            if let Some(only) = only_record(whole.as_bytes()) {
                prop_assert!(is_sound);
                prop_assert_eq!(&records, &[only.to_owned()]);
            }
            prop_assert_eq!(texts(&line), (records, is_sound));
        }
    }

    #[test]
    fn records_and_damage_of_a_line() {
        let rows: [(&[u8], &[&str], usize); 6] = [
            (b"{\"a\":1}\n", &["{\"a\":1}"], 0),
            (b"{\"a\":1}{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"], 1),
            (b"{\"a\":\"\xff\"}", &["{\"a\":\"\u{FFFD}\"}"], 1),
            (b"{\"a\":\"\\ud800\"}", &["{\"a\":\"\\ufffd\"}"], 0),
            (b"{\"a\":", &[], 1),
            (b"  \r\n", &[], 0),
        ];
        for (line, expected, wrong) in rows {
            let (records, damage) = split_line(line);
            let texts: Vec<String> = records
                .iter()
                .map(|record| record.text(line).to_lowercase())
                .collect();
            assert_eq!(texts, expected, "{}", String::from_utf8_lossy(line));
            let only = only_record(line).map(str::to_owned);
            assert_eq!(only.is_some(), line == b"{\"a\":1}\n");
            assert!(only.is_none_or(|only| texts == [only]));
            assert_eq!(damage.len(), wrong, "{}", String::from_utf8_lossy(line));
        }
    }
}
