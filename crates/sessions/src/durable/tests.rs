//! Appends under all faults of files.

use std::io::ErrorKind;

use proptest::prelude::*;

use super::test_disk::{Simulated, Trouble};
use super::{AppendError, append_record};

const OLD: &str = r#"{"type":"user","n":1}"#;
const OURS: &str = r#"{"type":"custom-title","customTitle":"a title with é and 😀"}"#;
const THEIRS: &str = r#"{"type":"assistant","text":"meanwhile"}"#;

fn lines(records: &[&str]) -> Vec<u8> {
    records
        .iter()
        .flat_map(|record| [record.as_bytes(), b"\n"].concat())
        .collect()
}

#[test]
fn a_record_is_a_separate_line() {
    let file = Simulated::with_content(&lines(&[OLD]));
    let offset = append_record(&file, OURS).unwrap();
    assert_eq!(*file.content.borrow(), lines(&[OLD, OURS]));
    assert_eq!(offset, OLD.len() as u64 + 1);
}

#[test]
fn records_that_are_not_one_line_of_json_are_refused() {
    let file = Simulated::with_content(b"");
    for record in ["{\"a\":\n1}", "{", "", "{} {}"] {
        assert!(
            matches!(append_record(&file, record), Err(AppendError::NotALine)),
            "{record}"
        );
    }
    assert!(file.content.borrow().is_empty());
}

/// Every prefix of a record, even if cut inside a character; zero bytes; no newline.
#[test]
fn after_any_torn_tail_both_neighbours_are_readable() {
    let mut tails: Vec<Vec<u8>> = (0..=OURS.len())
        .map(|end| OURS.as_bytes()[..end].to_vec())
        .collect();
    tails.push(vec![0; 300]);
    tails.push([OURS.as_bytes(), b"\n", &[0; 700]].concat());
    tails.push([OURS.as_bytes(), b"\r\n"].concat());
    for tail in tails {
        let file = Simulated::with_content(&[lines(&[OLD]), tail.clone()].concat());
        append_record(&file, THEIRS).unwrap();
        let records = file.records();
        assert_eq!(records.first().map(String::as_str), Some(OLD), "{tail:?}");
        assert_eq!(records.last().map(String::as_str), Some(THEIRS), "{tail:?}");
    }
}

/// A short write at every possible length.
#[test]
fn a_short_write_is_continued() {
    for split in 1..OURS.len() {
        // Operation 0 is the size, 1 reads the tail, 2 is the write.
        let file = Simulated::with_content(&lines(&[OLD])).with_trouble(2, Trouble::Short(split));
        append_record(&file, OURS).unwrap();
        assert_eq!(file.records(), [OLD, OURS], "split at {split}");
    }
}

/// A short write, and another writer appends in between: both records must be readable.
#[test]
fn a_short_write_followed_by_another_writer_is_repeated() {
    for split in 1..OURS.len() {
        let foreign = [b"\n".as_slice(), &lines(&[THEIRS])].concat();
        let file = Simulated::with_content(&lines(&[OLD]))
            .with_trouble(2, Trouble::Short(split))
            .with_trouble(3, Trouble::Foreign(foreign));
        append_record(&file, OURS).unwrap();
        assert_eq!(file.records(), [OLD, THEIRS, OURS], "split at {split}");
    }
}

/// Any operation fails or is interrupted: a record only counts as appended if it is readable.
#[test]
fn a_failing_operation_is_never_reported_as_success() {
    let kinds = [
        ErrorKind::Interrupted,
        ErrorKind::StorageFull,
        ErrorKind::PermissionDenied,
        ErrorKind::WouldBlock,
        ErrorKind::Other,
    ];
    for operation in 0..10 {
        for kind in kinds {
            let file = Simulated::with_content(&lines(&[OLD]))
                .with_trouble(operation, Trouble::Fails(kind));
            match append_record(&file, OURS) {
                Ok(_) => assert!(file.records().iter().any(|record| record == OURS)),
                Err(AppendError::Failed { .. }) => assert_ne!(kind, ErrorKind::Interrupted),
                Err(other) => panic!("{other}"),
            }
            assert_eq!(file.records()[0], OLD);
        }
    }
}

/// The disk is full after any number of bytes. The next append starts on a new line.
#[test]
fn a_full_disk_glues_no_records() {
    let before = lines(&[OLD]);
    for room in 0..=OURS.len() {
        let file = Simulated::with_content(&before);
        file.capacity.set(Some(before.len() + room));
        let error = append_record(&file, OURS).unwrap_err();
        assert!(matches!(error, AppendError::Failed { written, .. } if written == room as u64));
        file.capacity.set(None);
        append_record(&file, THEIRS).unwrap();
        let records = file.records();
        assert_eq!(records[0], OLD);
        assert_eq!(records.last().unwrap(), THEIRS, "after {room} bytes");
    }
}

proptest! {
    #[test]
    fn no_acknowledged_record_and_no_foreign_record_is_lost(
        sizes in prop::collection::vec(0..3000_usize, 1..12),
        foreign_at in prop::collection::vec(0..40_usize, 0..6),
        shorts in prop::collection::vec((0..40_usize, 1..200_usize), 0..6),
    ) {
        let mut file = Simulated::with_content(&lines(&[OLD]));
        for (index, at) in foreign_at.iter().enumerate() {
            // A careful foreign writer starts a new line.
            let record = format!("\n{{\"foreign\":{index}}}\n");
            file = file.with_trouble(*at, Trouble::Foreign(record.into_bytes()));
        }
        for (at, bytes) in &shorts {
            file = file.with_trouble(*at, Trouble::Short(*bytes));
        }
        let mut acknowledged = Vec::new();
        for (index, size) in sizes.iter().enumerate() {
            let record = format!("{{\"ours\":{index},\"text\":\"{}\"}}", "x".repeat(*size));
            if append_record(&file, &record).is_ok() {
                acknowledged.push(record);
            }
        }
        let records = file.records();
        let mut ours = records.iter().filter(|record| record.contains("\"ours\""));
        for record in &acknowledged {
            prop_assert!(ours.any(|found| found == record), "lost or out of order");
        }
        let foreign = records.iter().filter(|record| record.contains("\"foreign\"")).count();
        prop_assert_eq!(foreign, file.foreign_writes.get(), "a record of another writer is gone");
    }
}
