//! Numbers and words, by bit masks.
//!
//! A scalar here is any run of bytes outside of strings that are neither brackets, commas, colons
//! nor whitespace. Ordinary ones are checked all at once, unusual ones one by one.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

use super::masks::TokenMasks;
use super::processor::Processor;
use super::validate::is_whole_scalar;

/// What is known of scalars at a boundary of blocks. Both are 0 or 1.
#[derive(Default)]
pub(super) struct Scalars {
    /// The last byte belongs to a scalar.
    inside: u64,
    /// … and is a digit.
    after_digit: u64,
}

/// Where the scalars of a block are.
pub(super) struct ScalarMasks {
    /// Their first bytes, if they are in this block.
    pub(super) first: u64,
    /// The bytes right behind them.
    pub(super) behind: u64,
    /// One byte or more of each that is not known to be in order.
    pub(super) unusual: u64,
}

impl Scalars {
    /// Takes the next block: `scalar` are all the bytes of scalars in it.
    #[inline(always)]
    pub(super) fn block<P: Processor>(
        &mut self,
        scalar: u64,
        tokens: TokenMasks,
        processor: P,
        lanes: P::Lanes,
    ) -> ScalarMasks {
        let follows = scalar << 1 | self.inside;
        let first = scalar & !follows;
        let digit = scalar & tokens.digit;
        let other = scalar & !digit;
        let after = digit << 1 | self.after_digit;
        let continued = self.inside;
        self.inside = scalar >> 63;
        self.after_digit = digit >> 63;
        let unusual = if other == 0 {
            first & tokens.zero & more_digits(digit)
        } else {
            let dot = scalar & processor.equal(lanes, b'.');
            let minus = scalar & processor.equal(lanes, b'-');
            let letter = other & !(dot | minus);
            let mut words = letter & first;
            if words != 0 {
                words &= !known_words(scalar, processor, lanes);
            }
            let exponents = letter & after;
            let without_digit = (dot | minus) & !(digit >> 1) | dot & !(digit << 1);
            let inner_minus = minus & !first;
            let leading_zero = (first | minus << 1) & tokens.zero & more_digits(digit);
            // Digits that a dot comes before, and then more than digits.
            let fraction = dot << 1 & digit;
            let after_fraction = digit.wrapping_add(fraction) & !digit & scalar;
            // Of a scalar that started in the block before, the dots were not counted there.
            let head = scalar & !scalar.wrapping_add(continued);
            words
                | exponents
                | without_digit
                | inner_minus
                | leading_zero
                | after_fraction
                | head & dot
        };
        ScalarMasks {
            first,
            behind: follows & !scalar,
            unusual,
        }
    }
}

/// The bytes that a digit may follow: the one after the block is not known.
#[inline(always)]
fn more_digits(digit: u64) -> u64 {
    digit >> 1 | 1 << 63
}

/// The first bytes of the scalars that are `true`, `false` or `null` and end within the block.
#[inline(always)]
fn known_words<P: Processor>(scalar: u64, processor: P, lanes: P::Lanes) -> u64 {
    let is = |letter| processor.equal(lanes, letter);
    let (e, l, u) = (is(b'e'), is(b'l'), is(b'u'));
    let ends_true = is(b't') & is(b'r') >> 1 & u >> 2 & e >> 3;
    let ends_null = is(b'n') & u >> 1 & l >> 2 & l >> 3;
    let ends_false = is(b'f') & is(b'a') >> 1 & l >> 2 & is(b's') >> 3 & e >> 4;
    let over = !scalar;
    (ends_true | ends_null) & over >> 4 | ends_false & over >> 5
}

/// The first of the `unusual` bytes of the block at `start` whose scalar is neither a number nor
/// a word.
#[inline(always)]
pub(super) fn first_bad(mut unusual: u64, text: &[u8], start: usize) -> u64 {
    while unusual != 0 {
        let bit = unusual & unusual.wrapping_neg();
        let at = start + unusual.trailing_zeros() as usize;
        if !is_whole_scalar(text, start_of_number(text, at)) {
            return bit;
        }
        unusual ^= bit;
    }
    0
}

/// Where the number starts that goes on at `at`.
fn start_of_number(text: &[u8], at: usize) -> usize {
    let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let before = text[..at].iter().rev().take_while(|byte| part(byte));
    at - before.count()
}
