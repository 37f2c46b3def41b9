//! The bytes of a block that matter to JSON, as bit masks.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

use super::processor::Processor;

/// What matters inside of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StringMasks {
    pub(super) quote: u64,
    pub(super) backslash: u64,
    /// Below 0x20, which includes tab, newline and carriage return.
    pub(super) control: u64,
}

/// What matters outside of strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenMasks {
    /// `{` and `[`
    pub(super) open: u64,
    /// `}` and `]`
    pub(super) close: u64,
    /// Among `open` and `close`: the curly ones. Says nothing about other bytes.
    pub(super) curly: u64,
    pub(super) colon: u64,
    pub(super) comma: u64,
    pub(super) space: u64,
    /// `0` to `9`
    pub(super) digit: u64,
    /// `0`
    pub(super) zero: u64,
}

/// The masks that a scan of string contents needs.
#[inline(always)]
pub(super) fn string_masks<P: Processor>(processor: P, lanes: P::Lanes) -> StringMasks {
    StringMasks {
        quote: processor.equal(lanes, b'"'),
        backslash: processor.equal(lanes, b'\\'),
        control: processor.at_most(lanes, 0x1f),
    }
}

/// The masks that a scan of tokens needs.
#[inline(always)]
pub(super) fn token_masks<P: Processor>(processor: P, lanes: P::Lanes) -> TokenMasks {
    // `{` and `[`, and `}` and `]`, differ in bit 5 only.
    let curly = processor.with_bit_5(lanes);
    TokenMasks {
        open: processor.equal(curly, b'{'),
        close: processor.equal(curly, b'}'),
        curly: processor.bit_5(lanes),
        colon: processor.equal(lanes, b':'),
        comma: processor.equal(lanes, b','),
        space: processor.equal(lanes, b' '),
        digit: processor.at_most(processor.minus(lanes, b'0'), 9),
        zero: processor.equal(lanes, b'0'),
    }
}
