use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::jsonl::Mapping;

fn fixed_file(text: &[u8]) -> FixedFile {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text).unwrap();
    FixedFile::new(file, text.len() as u64, Mapping::Allowed)
}

fn hits(text: &[u8], needle: &str) -> Vec<(u64, String)> {
    hits_of_any(text, &[needle])
}

fn hits_of_any(text: &[u8], needles: &[&str]) -> Vec<(u64, String)> {
    let mut found = Vec::new();
    search_backward(&mut fixed_file(text), needles, &mut |hit| {
        found.push((hit.offset, String::from_utf8_lossy(hit.line).into_owned()));
        SearchControl::Continue
    })
    .unwrap();
    found
}

#[test]
fn lines_with_the_needle_are_visited_once_last_first() {
    let text = b"xx needle\nno\nneedle needle\nneedle";
    let expected = [(27, "needle"), (13, "needle needle"), (0, "xx needle")];
    assert_eq!(
        hits(text, "needle"),
        expected.map(|(at, line)| (at, line.to_owned()))
    );
    assert!(hits(b"", "needle").is_empty());
}

#[test]
fn long_lines_are_skipped_even_inside_a_window() {
    let longest = usize::try_from(MAX_HIT_BYTES).unwrap();
    for (size, expected) in [(longest, 1), (longest + 1, 0)] {
        let tail = usize::try_from(LARGE_WINDOW_AFTER + SMALL_WINDOW).unwrap();
        let long = ["needle", &"x".repeat(size - 6)].concat();
        let text = format!("\n{long}\n{}", "x\n".repeat(tail / 2));
        assert_eq!(hits(text.as_bytes(), "needle").len(), expected, "{size}");
    }
}

/// The needle and the line are on either side of every kind of window boundary.
#[test]
fn boundaries_of_windows_hide_nothing() {
    for back in [
        FIRST_WINDOW,
        SECOND_WINDOW_START,
        SECOND_WINDOW_START + SMALL_WINDOW,
        LARGE_WINDOW_AFTER,
        LARGE_WINDOW,
        LARGE_WINDOW_AFTER + LARGE_WINDOW,
    ] {
        for shift in 0..12 {
            let mut text = b"h\n".repeat(300);
            let line_at = text.len();
            text.extend_from_slice(b"{ needle }\n");
            let rest = usize::try_from(back).unwrap() + 6 - shift;
            text.resize(text.len() + rest - 7, b'z');
            text.push(b'\n');
            let found = hits(&text, "needle");
            assert_eq!(
                found,
                [(line_at as u64, "{ needle }".to_owned())],
                "{shift}"
            );
        }
    }
}

#[test]
fn lines_may_be_longer_than_windows_up_to_a_limit() {
    let long = |length: usize| format!("{} needle {}", "a".repeat(length), "b".repeat(length));
    let text = format!("needle 1\n{}\nneedle 2\n", long(1_000_000));
    let lengths = |text: &str| -> Vec<usize> {
        let found = hits(text.as_bytes(), "needle");
        found.iter().map(|(_, line)| line.len()).collect()
    };
    assert_eq!(lengths(&text), [8, 2_000_008, 8]);
    let text = format!("needle 1\n{0}{0}\nneedle 2\n", long(3_000_000));
    assert_eq!(lengths(&text), [8, 8]);
}

#[test]
fn a_search_stops_at_the_given_offset() {
    let text = b"needle 1\nneedle 2\nneedle 3\n";
    let run = |answers: &[SearchControl]| {
        let mut answers = answers.iter();
        let mut seen = 0;
        search_backward(&mut fixed_file(text), &["needle"], &mut |_| {
            seen += 1;
            *answers.next().unwrap_or(&SearchControl::Continue)
        })
        .unwrap();
        seen
    };
    assert_eq!(run(&[]), 3);
    assert_eq!(run(&[SearchControl::Stop]), 1);
    assert_eq!(run(&[SearchControl::DownTo(9)]), 2);
    assert_eq!(run(&[SearchControl::DownTo(10)]), 1);
    assert_eq!(run(&[SearchControl::DownTo(0)]), 3);
}

#[test]
fn lines_are_whole_in_all_windows() {
    let long = usize::try_from(3 * SMALL_WINDOW).unwrap();
    for length in [10, 20_000, 60_000, 140_000, long, MAX_LINE_BYTES + 1] {
        let text = format!(
            "first\n{}\n{}\nlast",
            "a".repeat(length),
            "b".repeat(40_000)
        );
        let mut seen = Vec::new();
        visit_lines_backward(&mut fixed_file(text.as_bytes()), &mut |place, line| {
            seen.push((place.end - place.start, line.map(<[u8]>::to_vec)));
            true
        })
        .unwrap();
        seen.reverse();
        let lines = text.split_inclusive('\n').map(|line| {
            let line = line.as_bytes();
            (
                line.len() as u64,
                (line.len() <= MAX_LINE_BYTES).then(|| line.to_vec()),
            )
        });
        assert!(seen == lines.collect::<Vec<_>>(), "{length}");
    }
}

proptest! {
    #[test]
    fn ranges_of_lines_match_those_of_a_split(text in "[ab\\n]{0,60}") {
        let mut places = Vec::new();
        visit_lines_backward(&mut fixed_file(text.as_bytes()), &mut |place, line| {
            let range = usize::try_from(place.start).unwrap()..usize::try_from(place.end).unwrap();
            assert_eq!(line.unwrap(), &text.as_bytes()[range]);
            places.push(place);
            true
        })
        .unwrap();
        places.reverse();
        let mut expected = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            expected.push(start..start + line.len() as u64);
            start += line.len() as u64;
        }
        prop_assert_eq!(places, expected);
    }

    #[test]
    fn a_search_finds_what_a_scan_of_lines_finds(
        text in "[an\\n]{0,80}",
        needles in prop::sample::subsequence(vec!["an", "nan", "aaa", "n"], 1..=4),
    ) {
        let found = hits_of_any(text.as_bytes(), &needles);
        let found: Vec<u64> = found.iter().map(|(at, _)| *at).collect();
        let mut expected = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            if needles.iter().any(|needle| line.contains(needle)) {
                expected.push(start);
            }
            start += line.len() as u64;
        }
        expected.reverse();
        prop_assert_eq!(found, expected);
    }
}
