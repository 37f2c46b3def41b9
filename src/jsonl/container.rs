//! Where an object or array ends, in text that is known to be well formed.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

use super::escapes::Escapes;
use super::processor::{Block, Processor};

/// Behind the container whose content starts at `from`, in bytes.
#[cfg(target_arch = "x86_64")]
pub(super) fn end_of_container(text: &[u8], from: usize) -> Option<usize> {
    use super::x86::{Avx2, Sse2};

    /// The same code, compiled for better processors.
    #[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,popcnt")]
    fn with_avx2(avx2: Avx2, text: &[u8], from: usize) -> Option<usize> {
        scan(avx2, text, from)
    }

    if let Some(avx2) = Avx2::detect() {
        // SAFETY: that `avx2` exists proves that the processor has what the function needs.
        unsafe { with_avx2(avx2, text, from) }
    } else {
        scan(Sse2, text, from)
    }
}

/// The same for other processors.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn end_of_container(text: &[u8], from: usize) -> Option<usize> {
    scan(super::processor::Plain, text, from)
}

#[inline(always)]
fn scan<P: Processor>(processor: P, text: &[u8], from: usize) -> Option<usize> {
    let mut scan = Scan {
        processor,
        in_string: 0,
        escapes: Escapes::default(),
        depth: 1,
    };
    let (blocks, rest) = text.get(from..)?.as_chunks::<64>();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(end) = scan.block(block) {
            return Some(from + index * 64 + end);
        }
    }
    let mut block = [b' '; 64];
    block[..rest.len()].copy_from_slice(rest);
    let end = scan.block(&block)?;
    Some(from + blocks.len() * 64 + end)
}

/// What is known at a boundary of blocks.
struct Scan<P> {
    processor: P,
    /// All ones if the boundary lies in a string.
    in_string: u64,
    escapes: Escapes,
    /// How many brackets are open. Which of the two kinds they are is of no interest: they are in
    /// order.
    depth: u32,
}

impl<P: Processor> Scan<P> {
    /// Behind the bracket that closes the last one, if it is in this block.
    #[inline(always)]
    fn block(&mut self, block: &Block) -> Option<usize> {
        let lanes = self.processor.load(block);
        let escaped = self.escapes.escaped(self.processor.equal(lanes, b'\\'));
        let quote = self.processor.equal(lanes, b'"') & !escaped;
        if quote == 0 && self.in_string != 0 {
            return None;
        }
        let in_string = self.processor.parity(quote) ^ self.in_string;
        self.in_string = 0_u64.wrapping_sub(in_string >> 63);
        // `{` and `[`, and `}` and `]`, differ in bit 5 only.
        let curly = self.processor.with_bit_5(lanes);
        let open = self.processor.equal(curly, b'{') & !in_string;
        let close = self.processor.equal(curly, b'}') & !in_string;
        if close.count_ones() < self.depth {
            self.depth = self.depth + open.count_ones() - close.count_ones();
            return None;
        }
        let mut brackets = open | close;
        while brackets != 0 {
            let bit = brackets & brackets.wrapping_neg();
            if open & bit != 0 {
                self.depth += 1;
            } else {
                self.depth -= 1;
                if self.depth == 0 {
                    return Some(bit.trailing_zeros() as usize + 1);
                }
            }
            brackets ^= bit;
        }
        None
    }
}
