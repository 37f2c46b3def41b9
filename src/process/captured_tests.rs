use proptest::prelude::*;

use super::*;

fn capture(text: &[u8], memory_bytes: usize, total_bytes: u64) -> Captured {
    let directory = std::env::temp_dir();
    let limits = Capture {
        memory_bytes,
        total_bytes,
    };
    let mut buffer = CaptureBuffer::new(limits, &directory);
    buffer.push(text);
    buffer.finish()
}

#[test]
fn prefixes_and_suffixes_are_right_in_memory_and_in_files() {
    let text = b"0123456789";
    for memory in 0..=10 {
        let captured = capture(text, memory, 10);
        for length in 0..=12 {
            let short = length.min(10);
            let wanted = length as u64;
            assert_eq!(captured.prefix(wanted).unwrap(), &text[..short]);
            assert_eq!(captured.suffix(wanted).unwrap(), &text[10 - short..]);
        }
    }
}

#[test]
fn a_gap_ends_prefix_and_suffix() {
    let captured = capture(b"0123456789", 1, 4);
    assert_eq!(captured.text().unwrap(), "01\n[6 bytes dropped]\n89");
    assert_eq!(captured.prefix(100).unwrap(), b"01");
    assert_eq!(captured.suffix(100).unwrap(), b"89");
    assert_eq!((captured.total_bytes, captured.kept_bytes()), (10, 4));
}

#[test]
fn a_long_spill_is_streamed_whole() {
    let text: Vec<u8> = (0..300_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let captured = capture(&text, 1000, 1_000_000);
    let mut copy = Vec::new();
    assert_eq!(captured.write_to(&mut copy).unwrap(), 300_000);
    assert_eq!(copy, text);
}

#[test]
fn a_split_character_is_omitted_and_a_broken_one_is_replaced() {
    let captured = capture("aé€😀".as_bytes(), 3, 100);
    let texts: Vec<String> = (0..=10)
        .map(|max| captured.prefix_text(max).unwrap())
        .collect();
    let expected = ["", "a", "a", "aé", "aé", "aé", "aé€", "aé€", "aé€", "aé€"];
    assert_eq!(texts[..10], expected);
    assert_eq!(texts[10], "aé€😀");
    let broken = capture(b"a\xE2\x82", 100, 100);
    assert_eq!(broken.prefix_text(100).unwrap(), "a\u{FFFD}");
    assert_eq!(broken.text().unwrap(), "a\u{FFFD}");
}

#[test]
fn a_silent_child_has_an_empty_output() {
    assert!(Captured::default().is_empty());
    assert_eq!(Captured::default().text().unwrap(), "");
}

fn captured(capture: Capture, directory: &Path, chunks: &[&[u8]]) -> Captured {
    let mut buffer = CaptureBuffer::new(capture, directory);
    for chunk in chunks {
        buffer.push(chunk);
    }
    buffer.finish()
}

fn kept(captured: &Captured) -> Vec<u8> {
    let mut bytes = captured.prefix(u64::MAX).unwrap();
    if captured.dropped_bytes > 0 {
        bytes.extend(&captured.tail);
    }
    bytes
}

#[test]
fn a_head_beyond_memory_goes_to_a_file() {
    let capture = Capture {
        memory_bytes: 4,
        total_bytes: 100,
    };
    let captured = captured(capture, &std::env::temp_dir(), &[b"abcdef", b"ghij"]);
    assert_eq!(captured.head, b"abcd");
    let spilled = captured.spill.as_ref().unwrap().metadata().unwrap();
    assert_eq!(spilled.len(), 6);
    assert_eq!(captured.text().unwrap(), "abcdefghij");
}

#[test]
fn small_output_needs_no_file() {
    let nowhere = Path::new("/nonexistent/directory");
    let captured = captured(Capture::default(), nowhere, &[b"abc"]);
    assert!(captured.spill.is_none());
    assert_eq!(captured.text().unwrap(), "abc");
}

#[test]
fn without_a_spill_file_head_and_tail_stay_in_memory() {
    let capture = Capture {
        memory_bytes: 3,
        total_bytes: 10,
    };
    let nowhere = Path::new("/nonexistent/directory");
    let captured = captured(capture, nowhere, &[b"abcdefghijkl", b"mn"]);
    assert_eq!(captured.total_bytes, 14);
    assert_eq!(captured.dropped_bytes, 6);
    assert_eq!(captured.text().unwrap(), "abc\n[6 bytes dropped]\njklmn");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_the_head_without_losing_count() {
    let mut buffer = CaptureBuffer::new(
        Capture {
            memory_bytes: 2,
            total_bytes: 8,
        },
        Path::new("/"),
    );
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    buffer.spill = Some(full);
    buffer.push(b"abcdefghij");
    let captured = buffer.finish();
    assert_eq!(captured.dropped_bytes, 4);
    assert_eq!(
        (&*captured.head, &*captured.tail),
        (&b"ab"[..], &b"ghij"[..])
    );
}

#[test]
fn memory_use_stays_within_the_limit() {
    let capture = Capture {
        memory_bytes: 1000,
        total_bytes: 2000,
    };
    let mut buffer = CaptureBuffer::new(capture, Path::new("/nonexistent/directory"));
    for _ in 0..100 {
        buffer.push(&[b'x'; 77]);
        assert!(buffer.memory.capacity() <= 1000);
        assert!(buffer.tail.len() <= 1000);
    }
}

proptest! {
    /// For all chunks, limits and disks: every lost byte is counted, the head is a prefix, the tail is a
    /// suffix, and nothing is dropped that fits.
    #[test]
    fn head_gap_and_tail_add_up(
        stream in proptest::collection::vec(any::<u8>(), 0..400),
        cuts in proptest::collection::vec(0..400_usize, 0..12),
        memory_bytes in 0..200_usize,
        total_bytes in 0..400_u64,
        disk in any::<bool>(),
    ) {
        let temporary = std::env::temp_dir();
        let directory = if disk { &*temporary } else { Path::new("/nonexistent/directory") };
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
        let captured = captured(Capture { memory_bytes, total_bytes }, directory, &chunks);

        prop_assert_eq!(captured.total_bytes, stream.len() as u64);
        let kept = kept(&captured);
        prop_assert_eq!(kept.len() as u64 + captured.dropped_bytes, captured.total_bytes);
        prop_assert!(kept.len() as u64 <= total_bytes);
        let head = captured.prefix(u64::MAX).unwrap();
        prop_assert!(stream.starts_with(&head));
        prop_assert!(stream.ends_with(&captured.tail));
        prop_assert!(captured.head.len() <= memory_bytes);
        if disk || total_bytes <= memory_bytes as u64 {
            prop_assert_eq!(kept.len() as u64, captured.total_bytes.min(total_bytes));
        }
        if captured.dropped_bytes == 0 {
            prop_assert_eq!(kept, stream);
        }
    }
}
