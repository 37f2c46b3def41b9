//! Instructions that work on 64 bytes at once and answer with bit masks: bit `n` of a mask says
//! something about byte `n`.
//!
//! A [`Processor`] is a set of instructions; a value of such a type is the proof that this machine
//! has them. What the bytes mean is not known here.
#![expect(
    clippy::inline_always,
    reason = "instructions of a processor must end up in functions compiled for it"
)]

/// As many bytes as a mask has bits.
pub(super) type Block = [u8; 64];

/// Instructions on all bytes of a block at once.
pub(super) trait Processor: Copy {
    /// A block in registers.
    type Lanes: Copy;
    fn load(self, block: &Block) -> Self::Lanes;
    /// Which bytes are `byte`.
    fn equal(self, lanes: Self::Lanes, byte: u8) -> u64;
    /// Which bytes are `byte` or less.
    fn at_most(self, lanes: Self::Lanes, byte: u8) -> u64;
    /// Which bytes have bit 5 (0x20) set.
    fn bit_5(self, lanes: Self::Lanes) -> u64;
    /// All bytes with bit 5 set.
    fn with_bit_5(self, lanes: Self::Lanes) -> Self::Lanes;
    /// All bytes less `byte`, wrapping.
    fn minus(self, lanes: Self::Lanes, byte: u8) -> Self::Lanes;
    /// Each bit: whether an odd number of bits is set from the lowest up to this one.
    fn parity(self, bits: u64) -> u64;
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Sse2};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_clmulepi64_si128, _mm_cmpeq_epi8, _mm_cvtsi64_si128,
        _mm_cvtsi128_si64, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128,
        _mm_set1_epi8, _mm_slli_epi16, _mm_sub_epi8, _mm256_cmpeq_epi8, _mm256_loadu_si256,
        _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8,
        _mm256_slli_epi16, _mm256_sub_epi8,
    };

    use super::{Block, Processor, parity_by_shifts};

    /// SSE2, which every x86-64 processor has.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Sse2;

    impl Sse2 {
        #[inline(always)]
        fn all(byte: u8) -> __m128i {
            // SAFETY: every x86-64 processor has SSE2.
            unsafe { _mm_set1_epi8(byte.cast_signed()) }
        }

        #[inline(always)]
        fn highest_bits(lanes: [__m128i; 4]) -> u64 {
            // SAFETY: every x86-64 processor has SSE2.
            let bits = lanes.map(|lane| unsafe { _mm_movemask_epi8(lane) });
            let [a, b, c, d] = bits.map(|bits| u64::from(bits.cast_unsigned()));
            a | b << 16 | c << 32 | d << 48
        }
    }

    impl Processor for Sse2 {
        type Lanes = [__m128i; 4];

        #[inline(always)]
        fn load(self, block: &Block) -> Self::Lanes {
            [0, 16, 32, 48].map(|from| {
                let quarter = &block[from..from + 16];
                // SAFETY: the pointer is to 16 readable bytes; the load needs no alignment.
                unsafe { _mm_loadu_si128(quarter.as_ptr().cast()) }
            })
        }

        #[inline(always)]
        fn equal(self, lanes: Self::Lanes, byte: u8) -> u64 {
            let all = Self::all(byte);
            // SAFETY: every x86-64 processor has SSE2.
            Self::highest_bits(lanes.map(|lane| unsafe { _mm_cmpeq_epi8(lane, all) }))
        }

        #[inline(always)]
        fn at_most(self, lanes: Self::Lanes, byte: u8) -> u64 {
            let all = Self::all(byte);
            let lesser =
                // SAFETY: every x86-64 processor has SSE2.
                |lane| unsafe { _mm_cmpeq_epi8(_mm_min_epu8(lane, all), lane) };
            Self::highest_bits(lanes.map(lesser))
        }

        #[inline(always)]
        fn bit_5(self, lanes: Self::Lanes) -> u64 {
            // SAFETY: every x86-64 processor has SSE2.
            Self::highest_bits(lanes.map(|lane| unsafe { _mm_slli_epi16::<2>(lane) }))
        }

        #[inline(always)]
        fn with_bit_5(self, lanes: Self::Lanes) -> Self::Lanes {
            let bit = Self::all(0x20);
            // SAFETY: every x86-64 processor has SSE2.
            lanes.map(|lane| unsafe { _mm_or_si128(lane, bit) })
        }

        #[inline(always)]
        fn minus(self, lanes: Self::Lanes, byte: u8) -> Self::Lanes {
            let all = Self::all(byte);
            // SAFETY: every x86-64 processor has SSE2.
            lanes.map(|lane| unsafe { _mm_sub_epi8(lane, all) })
        }

        #[inline(always)]
        fn parity(self, bits: u64) -> u64 {
            parity_by_shifts(bits)
        }
    }

    /// AVX2 and the carry-less multiplication. Exists only where the processor has both.
    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(());

    impl Avx2 {
        /// Asks the processor.
        pub(in super::super) fn detect() -> Option<Self> {
            let found = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2");
            found.then_some(Self(()))
        }

        #[inline(always)]
        fn all(Self(()): Self, byte: u8) -> __m256i {
            // SAFETY: the argument proves that the processor has AVX2.
            unsafe { _mm256_set1_epi8(byte.cast_signed()) }
        }

        #[inline(always)]
        fn highest_bits(Self(()): Self, lanes: [__m256i; 2]) -> u64 {
            // SAFETY: the argument proves that the processor has AVX2.
            let bits = lanes.map(|lane| unsafe { _mm256_movemask_epi8(lane) });
            let [low, high] = bits.map(|bits| u64::from(bits.cast_unsigned()));
            low | high << 32
        }
    }

    impl Processor for Avx2 {
        type Lanes = [__m256i; 2];

        #[inline(always)]
        fn load(self, block: &Block) -> Self::Lanes {
            [0, 32].map(|from| {
                let half = &block[from..from + 32];
                // SAFETY: the pointer is to 32 readable bytes; the load needs no alignment;
                // `self` proves that the processor has AVX2.
                unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
            })
        }

        #[inline(always)]
        fn equal(self, lanes: Self::Lanes, byte: u8) -> u64 {
            let all = Self::all(self, byte);
            // SAFETY: `self` proves that the processor has AVX2.
            Self::highest_bits(
                self,
                lanes.map(|lane| unsafe { _mm256_cmpeq_epi8(lane, all) }),
            )
        }

        #[inline(always)]
        fn at_most(self, lanes: Self::Lanes, byte: u8) -> u64 {
            let all = Self::all(self, byte);
            let lesser =
                // SAFETY: `self` proves that the processor has AVX2.
                |lane| unsafe { _mm256_cmpeq_epi8(_mm256_min_epu8(lane, all), lane) };
            Self::highest_bits(self, lanes.map(lesser))
        }

        #[inline(always)]
        fn bit_5(self, lanes: Self::Lanes) -> u64 {
            // SAFETY: `self` proves that the processor has AVX2.
            Self::highest_bits(
                self,
                lanes.map(|lane| unsafe { _mm256_slli_epi16::<2>(lane) }),
            )
        }

        #[inline(always)]
        fn with_bit_5(self, lanes: Self::Lanes) -> Self::Lanes {
            let bit = Self::all(self, 0x20);
            // SAFETY: `self` proves that the processor has AVX2.
            lanes.map(|lane| unsafe { _mm256_or_si256(lane, bit) })
        }

        #[inline(always)]
        fn minus(self, lanes: Self::Lanes, byte: u8) -> Self::Lanes {
            let all = Self::all(self, byte);
            // SAFETY: `self` proves that the processor has AVX2.
            lanes.map(|lane| unsafe { _mm256_sub_epi8(lane, all) })
        }

        #[inline(always)]
        fn parity(self, bits: u64) -> u64 {
            // A product without carries by all ones adds up, without carries, all lower bits.
            // SAFETY: `self` proves that the processor has the multiplication.
            let product = unsafe {
                let bits = _mm_cvtsi64_si128(bits.cast_signed());
                _mm_cvtsi128_si64(_mm_clmulepi64_si128::<0>(bits, _mm_set1_epi8(-1)))
            };
            product.cast_unsigned()
        }
    }
}

/// Plain code for any other processor.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[derive(Clone, Copy)]
pub(super) struct Plain;

#[cfg(any(test, not(target_arch = "x86_64")))]
impl Plain {
    #[inline(always)]
    fn mask(lanes: Block, test: impl Fn(u8) -> bool) -> u64 {
        let bits = lanes.iter().enumerate();
        bits.fold(0, |mask, (index, lane)| {
            mask | u64::from(test(*lane)) << index
        })
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
impl Processor for Plain {
    type Lanes = Block;

    #[inline(always)]
    fn load(self, block: &Block) -> Block {
        *block
    }

    #[inline(always)]
    fn equal(self, lanes: Block, byte: u8) -> u64 {
        Self::mask(lanes, |lane| lane == byte)
    }

    #[inline(always)]
    fn at_most(self, lanes: Block, byte: u8) -> u64 {
        Self::mask(lanes, |lane| lane <= byte)
    }

    #[inline(always)]
    fn bit_5(self, lanes: Block) -> u64 {
        Self::mask(lanes, |lane| lane & 0x20 != 0)
    }

    #[inline(always)]
    fn with_bit_5(self, lanes: Block) -> Block {
        lanes.map(|lane| lane | 0x20)
    }

    #[inline(always)]
    fn minus(self, lanes: Block, byte: u8) -> Block {
        lanes.map(|lane| lane.wrapping_sub(byte))
    }

    #[inline(always)]
    fn parity(self, bits: u64) -> u64 {
        parity_by_shifts(bits)
    }
}

#[inline(always)]
fn parity_by_shifts(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::{Block, Plain, Processor};

    /// A processor against plain code, on every byte value in every position of its lanes.
    fn compare(processor: impl Processor) {
        for first in 0..=255_u8 {
            let mut next = first;
            let block: Block = std::array::from_fn(|_| {
                next = next.wrapping_mul(5).wrapping_add(89);
                next
            });
            let fast = processor.load(&block);
            let plain = Plain.load(&block);
            for byte in 0..=255 {
                assert_eq!(processor.equal(fast, byte), Plain.equal(plain, byte));
                assert_eq!(processor.at_most(fast, byte), Plain.at_most(plain, byte));
                assert_eq!(
                    processor.at_most(processor.minus(fast, byte), 9),
                    Plain.at_most(Plain.minus(plain, byte), 9)
                );
            }
            assert_eq!(processor.bit_5(fast), Plain.bit_5(plain));
            assert_eq!(
                processor.equal(processor.with_bit_5(fast), b'{'),
                Plain.equal(Plain.with_bit_5(plain), b'{')
            );
            let bits = u64::from_le_bytes(*block.first_chunk().unwrap());
            let mut odd = false;
            let parity = (0..64).fold(0, |parity, index| {
                odd ^= bits >> index & 1 == 1;
                parity | u64::from(odd) << index
            });
            assert_eq!(processor.parity(bits), parity);
            assert_eq!(Plain.parity(bits), parity);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn special_instructions_and_plain_code_agree() {
        compare(super::Sse2);
        if let Some(avx2) = super::Avx2::detect() {
            compare(avx2);
        }
    }

    #[test]
    fn plain_code_agrees_with_itself() {
        compare(Plain);
    }
}
