//! Blocks of 64 bytes turned into bit masks: bit `n` of a mask says something about byte `n`.
//!
//! This knows bytes, not JSON.

/// As many bytes as a mask has bits.
pub(super) type Block = [u8; 64];

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
    pub(super) newline: u64,
    /// `0` to `9`
    pub(super) digit: u64,
    /// `0`
    pub(super) zero: u64,
}

/// The masks that a scan of string contents needs.
#[inline(always)]
pub(super) fn string_masks(block: &Block) -> StringMasks {
    let lanes = lanes::Lanes::load(block);
    StringMasks {
        quote: lanes.equal(b'"'),
        backslash: lanes.equal(b'\\'),
        control: lanes.at_most(0x1f),
    }
}

/// The masks that a scan of tokens needs.
#[inline(always)]
pub(super) fn token_masks(block: &Block) -> TokenMasks {
    let lanes = lanes::Lanes::load(block);
    // `{` and `[`, and `}` and `]`, differ in bit 5 only.
    let curly = lanes.with_bit_5();
    TokenMasks {
        open: curly.equal(b'{'),
        close: curly.equal(b'}'),
        curly: lanes.bit_5(),
        colon: lanes.equal(b':'),
        comma: lanes.equal(b','),
        space: lanes.equal(b' '),
        newline: lanes.equal(b'\n'),
        digit: lanes.minus(b'0').at_most(9),
        zero: lanes.equal(b'0'),
    }
}

/// SSE2, which every x86-64 processor has.
#[cfg(target_arch = "x86_64")]
mod lanes {
    use std::arch::x86_64::{
        __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_slli_epi16, _mm_sub_epi8,
    };

    use super::Block;

    #[derive(Clone, Copy)]
    pub(super) struct Lanes([__m128i; 4]);

    impl Lanes {
        #[inline(always)]
        pub(super) fn load(block: &Block) -> Self {
            let load = |from: usize| {
                let quarter = &block[from..from + 16];
                // SAFETY: the pointer is to 16 readable bytes; the load needs no alignment.
                unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) }
            };
            Self([load(0), load(16), load(32), load(48)])
        }

        #[inline(always)]
        pub(super) fn equal(self, byte: u8) -> u64 {
            let all = all(byte);
            // SAFETY: every x86-64 processor has SSE2.
            self.map(|lane| unsafe { _mm_cmpeq_epi8(lane, all) })
                .highest_bits()
        }

        #[inline(always)]
        pub(super) fn at_most(self, byte: u8) -> u64 {
            let all = all(byte);
            // SAFETY: every x86-64 processor has SSE2.
            self.map(|lane| unsafe { _mm_cmpeq_epi8(_mm_min_epu8(lane, all), lane) })
                .highest_bits()
        }

        #[inline(always)]
        pub(super) fn bit_5(self) -> u64 {
            // SAFETY: every x86-64 processor has SSE2.
            self.map(|lane| unsafe { _mm_slli_epi16::<2>(lane) })
                .highest_bits()
        }

        #[inline(always)]
        pub(super) fn with_bit_5(self) -> Self {
            let bit = all(0x20);
            // SAFETY: every x86-64 processor has SSE2.
            self.map(|lane| unsafe { _mm_or_si128(lane, bit) })
        }

        #[inline(always)]
        pub(super) fn minus(self, byte: u8) -> Self {
            let all = all(byte);
            // SAFETY: every x86-64 processor has SSE2.
            self.map(|lane| unsafe { _mm_sub_epi8(lane, all) })
        }

        #[inline(always)]
        fn map(self, change: impl Fn(__m128i) -> __m128i) -> Self {
            Self(self.0.map(change))
        }

        #[inline(always)]
        fn highest_bits(self) -> u64 {
            // SAFETY: every x86-64 processor has SSE2.
            let bits = self.0.map(|lane| unsafe { _mm_movemask_epi8(lane) });
            let [a, b, c, d] = bits.map(|bits| u64::from(bits.cast_unsigned()));
            a | b << 16 | c << 32 | d << 48
        }
    }

    #[inline(always)]
    fn all(byte: u8) -> __m128i {
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }
}

/// Any other processor.
#[cfg(not(target_arch = "x86_64"))]
mod lanes {
    pub(super) use super::plain_lanes::Lanes;
}

/// The same without special instructions.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain_lanes {
    use super::Block;

    #[derive(Clone, Copy)]
    pub(super) struct Lanes(Block);

    impl Lanes {
        #[inline(always)]
        pub(super) fn load(block: &Block) -> Self {
            Self(*block)
        }

        #[inline(always)]
        pub(super) fn equal(self, byte: u8) -> u64 {
            self.mask(|lane| lane == byte)
        }

        #[inline(always)]
        pub(super) fn at_most(self, byte: u8) -> u64 {
            self.mask(|lane| lane <= byte)
        }

        #[inline(always)]
        pub(super) fn bit_5(self) -> u64 {
            self.mask(|lane| lane & 0x20 != 0)
        }

        #[inline(always)]
        pub(super) fn with_bit_5(self) -> Self {
            Self(self.0.map(|lane| lane | 0x20))
        }

        #[inline(always)]
        pub(super) fn minus(self, byte: u8) -> Self {
            Self(self.0.map(|lane| lane.wrapping_sub(byte)))
        }

        #[inline(always)]
        fn mask(self, test: impl Fn(u8) -> bool) -> u64 {
            let bits = self.0.iter().enumerate();
            bits.fold(0, |mask, (index, lane)| {
                mask | u64::from(test(*lane)) << index
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, lanes, plain_lanes};

    /// Both kinds of lanes, on every byte value in every position of a 16-byte lane.
    #[test]
    fn special_instructions_and_plain_code_agree() {
        for first in 0..=255_u8 {
            let mut next = first;
            let block: Block = std::array::from_fn(|_| {
                next = next.wrapping_mul(5).wrapping_add(89);
                next
            });
            let (fast, plain) = (lanes::Lanes::load(&block), plain_lanes::Lanes::load(&block));
            for byte in 0..=255 {
                assert_eq!(fast.equal(byte), plain.equal(byte));
                assert_eq!(fast.at_most(byte), plain.at_most(byte));
                assert_eq!(fast.minus(byte).at_most(9), plain.minus(byte).at_most(9));
            }
            assert_eq!(fast.bit_5(), plain.bit_5());
            assert_eq!(
                fast.with_bit_5().equal(b'{'),
                plain.with_bit_5().equal(b'{')
            );
        }
    }
}
