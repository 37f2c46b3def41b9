use proptest::prelude::*;

use super::*;

fn excerpt_of(text: &str, limit: usize) -> String {
    let mut excerpt = HeadAndTail::new(limit);
    excerpt.push(text);
    excerpt.finish()
}

#[test]
fn a_short_text_is_kept_whole() {
    for text in ["", "a", "abcd", "äöü🚀"] {
        assert_eq!(excerpt_of(text, 10), text);
    }
}

#[test]
fn the_middle_of_a_long_text_is_omitted() {
    assert_eq!(
        excerpt_of("aaaa-middle-zzzz", 8),
        "aaaa\n\n... [8 characters omitted] ...\n\nzzzz"
    );
}

#[test]
fn no_character_is_split() {
    // Each rocket is two units; the first half of ten fits two of them, the second half three.
    let cut = excerpt_of(&"🚀".repeat(10), 10);
    assert_eq!(cut, "🚀🚀\n\n... [10 characters omitted] ...\n\n🚀🚀🚀");
}

#[test]
fn lost_text_separates_head_and_tail() {
    let mut excerpt = HeadAndTail::new(10);
    excerpt.push("ab");
    excerpt.push_omitted(7);
    assert!(excerpt.is_partial());
    excerpt.push("yz");
    assert_eq!(
        excerpt.finish(),
        "ab\n\n... [7 characters omitted] ...\n\nyz"
    );
}

proptest! {
    #[test]
    fn chunk_boundaries_do_not_matter(pieces in prop::collection::vec(".{0,12}", 0..12), limit in 0_usize..60) {
        let whole = pieces.concat();
        let mut excerpt = HeadAndTail::new(limit);
        for piece in &pieces {
            excerpt.push(piece);
        }
        let partial = excerpt.is_partial();
        let text = excerpt.finish();
        prop_assert_eq!(&text, &excerpt_of(&whole, limit));
        prop_assert_eq!(partial, text != whole);
        prop_assert_eq!(partial, utf16_length(&whole) > limit);
    }

    #[test]
    fn head_and_tail_come_from_the_text(text in "\\PC{0,80}", limit in 2_usize..40) {
        let cut = excerpt_of(&text, limit);
        if let Some((head, rest)) = cut.split_once("\n\n... [") {
            let (count, tail) = rest.split_once(" characters omitted] ...\n\n").unwrap();
            prop_assert!(text.starts_with(head));
            prop_assert!(text.ends_with(tail));
            prop_assert_eq!(count.parse::<usize>().unwrap() + utf16_length(head) + utf16_length(tail), utf16_length(&text));
        } else {
            prop_assert_eq!(cut, text);
        }
    }
}
