//! The instructions of x86-64 processors, from those that all have to those that new ones have.
#![expect(
    clippy::inline_always,
    reason = "instructions of a processor must end up in functions compiled for it"
)]

use std::arch::x86_64::{
    __m128i, __m256i, _mm_clmulepi64_si128, _mm_cmpeq_epi8, _mm_cvtsi64_si128, _mm_cvtsi128_si64,
    _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_slli_epi16,
    _mm_sub_epi8, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_slli_epi16, _mm256_sub_epi8,
};
use std::sync::OnceLock;

use super::processor::{Block, Processor, parity_by_shifts};

/// SSE2, which every x86-64 processor has.
#[derive(Clone, Copy)]
pub(super) struct Sse2;

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
pub(super) struct Avx2(());

impl Avx2 {
    /// Asks the processor, once: short values are passed over in less time than its answers take.
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        static FOUND: OnceLock<Option<Avx2>> = OnceLock::new();
        *FOUND.get_or_init(|| {
            let found = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("pclmulqdq")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            found.then_some(Self(()))
        })
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
