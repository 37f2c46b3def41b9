use proptest::prelude::*;
use serde_json::json;

use super::*;

fn replace_all(text: &str, old: &str, new: &str) -> String {
    let haystack = Haystack::new(text.as_bytes(), Quotes::AsTheyAre);
    let (old, new) = (folded(old), folded(new));
    let replaced = haystack
        .replaced(haystack.matches(&old), &new, usize::MAX)
        .unwrap();
    String::from_utf8(replaced.bytes).unwrap()
}

#[test]
fn line_ends_are_kept() {
    let table = [
        ("a\r\nb\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\n"),
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\r\nb\na\nb\r\n", "a\nb", "1\n2", "1\r\n2\n1\n2\r\n"),
        ("a\r\n\r\nb", "\n\n", "\n", "a\r\nb"),
        ("a\r\nb", "a", "x", "x\r\nb"),
        ("a\r\nb", "\nb", "", "a"),
        ("a\r\r\nb", "\n", ";", "a\r;b"),
        ("a\rb\n", "a\rb", "c", "c\n"),
    ];
    for (text, old, new, expected) in table {
        assert_eq!(
            replace_all(text, old, new),
            expected,
            "{text:?} {old:?} {new:?}"
        );
    }
}

#[test]
fn invalid_bytes_are_kept() {
    let haystack = Haystack::new(b"\xff\xfea\r\n\xc3", Quotes::AsTheyAre);
    let replaced = haystack
        .replaced(haystack.matches("a"), "\u{e4}", 100)
        .unwrap();
    assert_eq!(replaced.bytes, b"\xff\xfe\xc3\xa4\r\n\xc3");
    assert_eq!(replaced.first, 2..4);
}

#[test]
fn the_result_has_a_limit() {
    let haystack = Haystack::new(b"aaaa", Quotes::AsTheyAre);
    assert!(haystack.replaced(haystack.matches("a"), "bb", 8).is_some());
    assert!(haystack.replaced(haystack.matches("a"), "bb", 7).is_none());
}

proptest! {
    #[test]
    fn without_crlf_it_is_plain_replacement(
        text in "[ab\nä]{0,40}",
        old in "[ab\nä]{1,3}",
        new in "[abc\nä]{0,4}",
    ) {
        let haystack = Haystack::new(text.as_bytes(), Quotes::AsTheyAre);
        let count = haystack.matches(&old).count();
        prop_assert_eq!(count, text.matches(&old).count());
        prop_assert_eq!(replace_all(&text, &old, &new), text.replace(&old, &new));
        let once = haystack.replaced(haystack.matches(&old).take(1), &new, usize::MAX).unwrap();
        prop_assert_eq!(String::from_utf8(once.bytes).unwrap(), text.replacen(&old, &new, 1));
    }

    #[test]
    fn with_crlf_it_is_replacement_in_the_folded_text(
        text in "[ab\n]{0,40}",
        old in "[ab\n]{1,3}",
        new in "[abc\n]{0,4}",
    ) {
        let crlf = |text: &str| text.replace('\n', "\r\n");
        prop_assert_eq!(replace_all(&crlf(&text), &old, &new), {
            if text.contains('\n') { crlf(&text.replace(&old, &new)) } else { text.replace(&old, &new) }
        });
    }

    #[test]
    fn unmatched_text_is_kept(text in "[ab\r\n]{0,30}", old in "[ab\n]{1,3}") {
        let haystack = Haystack::new(text.as_bytes(), Quotes::AsTheyAre);
        let mut kept = String::new();
        let mut rest = 0;
        for found in haystack.matches(&old) {
            let matched = &text[found.clone()];
            prop_assert_eq!(folded(matched), old.as_str());
            kept.push_str(&text[rest..found.start]);
            rest = found.end;
        }
        kept.push_str(&text[rest..]);
        prop_assert_eq!(replace_all(&text, &old, ""), kept);
    }
}

/// Applies a patch as `patch` would.
fn applied(old: &str, hunks: &[Hunk]) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut result = String::new();
    let mut next = 0;
    for hunk in hunks {
        result.extend(old[next..hunk.old_start - 1].iter().copied());
        next = hunk.old_start - 1;
        assert_eq!(result.split_inclusive('\n').count(), hunk.new_start - 1);
        let new_before = result.split_inclusive('\n').count();
        for (index, line) in hunk.lines.iter().enumerate() {
            let (mark, text) = line.split_at(1);
            let cut_off = hunk
                .lines
                .get(index + 1)
                .is_some_and(|line| line == NO_NEWLINE);
            let end = if cut_off { "" } else { "\n" };
            match mark {
                " " | "-" => {
                    assert_eq!(old[next], format!("{text}{end}"));
                    next += 1;
                    if mark == " " {
                        result.push_str(old[next - 1]);
                    }
                }
                "+" => {
                    result.push_str(text);
                    result.push_str(end);
                }
                _ => assert_eq!(line, NO_NEWLINE),
            }
        }
        assert_eq!(next - (hunk.old_start - 1), hunk.old_lines);
        assert_eq!(
            result.split_inclusive('\n').count() - new_before,
            hunk.new_lines
        );
    }
    result.extend(old[next..].iter().copied());
    result
}

fn numbers(prefix: &str, count: usize) -> String {
    let lines: Vec<String> = (0..count)
        .map(|number| format!("{prefix}{number}\n"))
        .collect();
    lines.concat()
}

#[test]
fn a_change_has_three_lines_of_context() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let hunks = hunks(old, &old.replace('5', "five"));
    assert_eq!(
        serde_json::to_value(hunks).unwrap(),
        json!([{ "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 7,
            "lines": [" 2", " 3", " 4", "-5", "+five", " 6", " 7", " 8"] }])
    );
}

#[test]
fn distant_changes_have_separate_hunks() {
    let old = numbers("", 40);
    let new = old.replace("5\n", "five\n");
    let starts: Vec<_> = hunks(&old, &new)
        .iter()
        .map(|hunk| hunk.old_start)
        .collect();
    assert_eq!(starts, [3, 13, 23, 33]);
}

#[test]
fn a_missing_last_line_feed_is_marked() {
    assert_eq!(
        hunks("a", "a\n")[0].lines,
        ["-a", "\\ No newline at end of file", "+a"]
    );
    assert_eq!(hunks("", "x\n")[0].lines, ["+x"]);
    assert_eq!(hunks("same\n", "same\n"), []);
    assert_eq!(hunks("", ""), []);
}

#[test]
fn large_different_texts_are_replaced_as_a_whole() {
    let (old, new) = (
        format!("head\n{}", numbers("a", 15_000)),
        format!("head\n{}", numbers("b", 15_000)),
    );
    let hunks = hunks(&old, &new);
    assert_eq!(hunks.len(), 1);
    assert_eq!(applied(&old, &hunks), new);
}

#[test]
fn a_patch_that_is_too_large_is_omitted() {
    let (old, new) = ("a".repeat(3 << 20), "b".repeat(3 << 20));
    assert_eq!(hunks(&old, &new), []);
}

proptest! {
    #[test]
    fn a_patch_applies(
        old in "([abc]{0,2}\n){0,30}[abc]{0,2}",
        new in "([abc]{0,2}\n){0,30}[abc]{0,2}",
    ) {
        prop_assert_eq!(applied(&old, &hunks(&old, &new)), new);
    }
}
