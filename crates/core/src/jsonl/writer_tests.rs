use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

use proptest::prelude::*;
use serde_json::json;

use super::{BUFFER_SIZE, WriteError, Writer, append_record};

/// A sink that takes a few bytes at a time, is interrupted in between, and finally is full.
#[derive(Clone)]
struct SlowSink {
    taken: Rc<RefCell<Vec<u8>>>,
    at_once: usize,
    room: usize,
    interrupted: bool,
    calls: Rc<RefCell<usize>>,
}

impl SlowSink {
    fn new(at_once: usize, room: usize) -> Self {
        Self {
            taken: Rc::default(),
            at_once,
            room,
            interrupted: false,
            calls: Rc::default(),
        }
    }
}

impl Write for SlowSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        *self.calls.borrow_mut() += 1;
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        if self.room == 0 {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        let length = bytes.len().min(self.at_once).min(self.room);
        self.room -= length;
        self.taken.borrow_mut().extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_record_gets_its_own_line() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.record(&json!({"a": "x\ny"})).unwrap();
    writer.echo(b"{\"whole\":1}\n").unwrap();
    writer.record(&json!(1)).unwrap();
    writer.echo(b"{\"torn").unwrap();
    writer.echo(b"").unwrap();
    writer.record(&json!(2)).unwrap();
    writer.record(&json!(3)).unwrap();
    writer.echo(b"\xff\0").unwrap();
    writer.flush().unwrap();
    assert_eq!(writer.bytes_written(), out.len() as u64);
    assert_eq!(
        out,
        b"{\"a\":\"x\\ny\"}\n{\"whole\":1}\n1\n{\"torn\n2\n3\n\xff\0"
    );
}

#[test]
fn a_record_that_cannot_be_serialised_leaves_no_trace() {
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out);
    writer.echo(b"torn").unwrap();
    let odd = std::collections::BTreeMap::from([((1, 2), 3)]);
    let error = writer.record(&odd).unwrap_err();
    assert!(matches!(error, WriteError::Serialize(_)), "{error:?}");
    writer.echo(b" tail\n").unwrap();
    writer.flush().unwrap();
    assert_eq!(out, b"torn tail\n");
}

#[test]
fn large_echoes_are_written_directly() {
    let sink = SlowSink::new(usize::MAX, usize::MAX);
    let mut writer = Writer::new(sink.clone());
    let slab = vec![b'x'; BUFFER_SIZE];
    writer.echo(b"small").unwrap();
    assert_eq!(*sink.calls.borrow(), 0);
    writer.echo(&slab).unwrap();
    assert_eq!(sink.taken.borrow().len(), slab.len() + 5);
    assert_eq!(writer.buffer.len(), 0);
}

#[test]
fn a_full_disk_stays_full() {
    let sink = SlowSink::new(3, 7);
    let mut writer = Writer::new(sink.clone());
    writer.echo(b"0123456789").unwrap();
    for _ in 0..3 {
        let error = writer.flush().unwrap_err();
        let WriteError::Failed { written, source } = error else {
            panic!("{error:?}");
        };
        assert_eq!(written, 7);
        assert_eq!(source.raw_os_error(), Some(libc::ENOSPC));
    }
    let calls = *sink.calls.borrow();
    assert!(writer.echo(b"more").is_err());
    assert!(writer.record(&json!({})).is_err());
    assert_eq!(*sink.calls.borrow(), calls);
    assert_eq!(*sink.taken.borrow(), b"0123456");
}

#[test]
fn devices_report_their_errors() {
    let mut full = Writer::new(File::options().write(true).open("/dev/full").unwrap());
    full.record(&json!({})).unwrap();
    let error = full.flush().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("cannot write output after 0 bytes: ")
    );

    let (mut reader, pipe) = io::pipe().unwrap();
    let mut writer = Writer::new(pipe);
    writer.record(&json!({})).unwrap();
    writer.flush().unwrap();
    let mut received = [0; 3];
    reader.read_exact(&mut received).unwrap();
    assert_eq!(&received, b"{}\n");
    drop(reader);
    writer.record(&json!({})).unwrap();
    for _ in 0..2 {
        assert!(matches!(writer.flush(), Err(WriteError::BrokenPipe)));
    }
    assert_eq!(writer.bytes_written(), 3);
}

#[test]
fn a_sink_that_takes_nothing_is_an_error() {
    let mut nothing: [u8; 0] = [];
    let mut writer = Writer::new(nothing.as_mut_slice());
    writer.echo(b"x").unwrap();
    let error = writer.flush().unwrap_err();
    assert!(
        matches!(error, WriteError::Failed { written: 0, source } if source.kind() == ErrorKind::WriteZero)
    );
}

#[test]
fn line_separators_are_escaped() {
    let mut text = Vec::new();
    let value = json!({"a\u{2028}": "\u{85}\u{2029}\u{2028} é €\u{2028}"});
    append_record(&mut text, &value).unwrap();
    let text = String::from_utf8(text).unwrap();
    let expected = r#"{"a\u2028":"\u0085\u2029\u2028 é €\u2028"}"#.to_owned() + "\n";
    assert_eq!(text, expected);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&text).unwrap(),
        value
    );
}

proptest! {
    #[test]
    fn everything_arrives_in_order(
        parts in prop::collection::vec((any::<bool>(), 0..3 * BUFFER_SIZE), 0..8),
        at_once in 1..100_000_usize,
    ) {
        let sink = SlowSink::new(at_once, usize::MAX);
        let mut writer = Writer::new(sink.clone());
        let mut expected: Vec<u8> = Vec::new();
        for (own, length) in parts {
            if own {
                let text = "r".repeat(length);
                if expected.last().is_some_and(|last| *last != b'\n') {
                    expected.push(b'\n');
                }
                expected.extend_from_slice(format!("\"{text}\"\n").as_bytes());
                writer.record(&text).unwrap();
            } else {
                let raw = vec![b'e'; length];
                expected.extend_from_slice(&raw);
                writer.echo(&raw).unwrap();
            }
        }
        writer.flush().unwrap();
        prop_assert_eq!(writer.bytes_written(), expected.len() as u64);
        prop_assert!(*sink.taken.borrow() == expected);
    }
}
