//! Lines with their numbers in front, as `cat -n` prints them.

use std::fmt::Write as _;

/// What a line's number and the tab after it take at least, in characters.
pub(super) const NUMBER_WIDTH: usize = 7;

/// The lines, numbered from `first`: the number right-aligned in six columns, a tab, the line.
/// No line feed at the end.
pub(super) fn numbered<'a>(first: u64, lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (number, line) in (first..).zip(lines) {
        if !text.is_empty() {
            text.push('\n');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{number:>6}\t{line}");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_are_right_aligned_in_six_columns() {
        assert_eq!(
            numbered(1, ["a", "", "\tc"]),
            "     1\ta\n     2\t\n     3\t\tc"
        );
        assert_eq!(numbered(999_999, ["x", "y"]), "999999\tx\n1000000\ty");
        assert_eq!(numbered(1, []), "");
    }

    proptest! {
        #[test]
        fn the_lines_can_be_taken_out_again(
            first in 1_u64..2_000_000,
            lines in proptest::collection::vec("[^\n]{0,12}", 1..20),
        ) {
            let text = numbered(first, lines.iter().map(String::as_str));
            let back: Vec<(u64, String)> = text
                .split('\n')
                .map(|line| {
                    let (number, rest) = line.split_once('\t').unwrap();
                    (number.trim_start().parse().unwrap(), rest.to_owned())
                })
                .collect();
            let expected: Vec<(u64, String)> = (first..).zip(lines).collect();
            prop_assert_eq!(back, expected);
        }
    }
}
