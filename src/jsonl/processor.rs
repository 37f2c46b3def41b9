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

/// [`Processor::parity`] without special instructions.
#[inline(always)]
pub(super) fn parity_by_shifts(mut bits: u64) -> u64 {
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
        use super::super::x86::{Avx2, Sse2};

        compare(Sse2);
        if let Some(avx2) = Avx2::detect() {
            compare(avx2);
        }
    }

    #[test]
    fn plain_code_agrees_with_itself() {
        compare(Plain);
    }
}
