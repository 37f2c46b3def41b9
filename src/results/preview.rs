//! The first part of a text that is too large.

use crate::text::truncate_utf16;

/// Length of a preview in UTF-16 units.
pub(super) const PREVIEW_UNITS: usize = 2000;

/// The first [`PREVIEW_UNITS`] units, cut at the last line feed if that lies in the second half;
/// a surrogate pair is never split.
pub(super) fn preview(text: &str) -> &str {
    let head = truncate_utf16(text, PREVIEW_UNITS);
    let half = truncate_utf16(text, PREVIEW_UNITS / 2).len();
    match head.rfind('\n') {
        Some(line_feed) if head.len() < text.len() && line_feed >= half => &head[..line_feed],
        _ => head,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn cut_at_a_line_feed_in_the_second_half_only() {
        let early = format!("{}\n{}", "a".repeat(500), "b".repeat(3000));
        assert_eq!(preview(&early).len(), 2000);
        let late = format!("{}\n{}", "a".repeat(1500), "b".repeat(3000));
        assert_eq!(preview(&late), "a".repeat(1500));
        let short = "a\nb";
        assert_eq!(preview(short), short);
    }

    proptest! {
        #[test]
        fn a_preview_is_a_bounded_prefix(text in "[a\n😀é]{0,3000}") {
            let shown = preview(&text);
            prop_assert!(text.starts_with(shown));
            prop_assert!(shown.encode_utf16().count() <= PREVIEW_UNITS);
            if text.encode_utf16().count() > PREVIEW_UNITS {
                prop_assert!(shown.encode_utf16().count() >= PREVIEW_UNITS / 2 - 1);
            } else {
                prop_assert_eq!(shown, text.as_str());
            }
        }
    }
}
