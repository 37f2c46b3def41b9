//! Where a kill can tear a write.
//!
//! A process that is killed inside of `write` leaves whole pages behind, so a record that does not
//! cross a page is there or not there (spec security.md section 4). Longer ones are written by a
//! process that is not killed with ours.

/// The size of a page, in bytes.
const PAGE: u64 = 4096;

/// Whether a line of this many bytes crosses a page wherever it starts.
pub(super) fn is_longer_than_a_page(length: usize) -> bool {
    length as u64 > PAGE
}

/// How many line feeds go before a record of `length` bytes (its own included) that would start at
/// `offset`, so that it crosses no page: none if it fits, or if it is too long for any page.
/// Readers skip blank lines.
pub(super) fn padding(offset: u64, length: usize) -> usize {
    let length = length as u64;
    let rest = PAGE - offset % PAGE;
    if length <= rest || length > PAGE {
        0
    } else {
        usize::try_from(rest).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_what_crosses_is_moved() {
        assert_eq!(padding(0, 4096), 0);
        assert_eq!(padding(4000, 96), 0);
        assert_eq!(padding(4000, 97), 96);
        assert_eq!(padding(4000, 5000), 0);
    }

    proptest! {
        #[test]
        fn a_padded_record_lies_in_one_page(offset in 0..100_000_u64, length in 1..4096_usize) {
            let start = offset + padding(offset, length) as u64;
            let end = start + length as u64 - 1;
            prop_assert_eq!(start / PAGE, end / PAGE);
        }
    }
}
