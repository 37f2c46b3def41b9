//! Escape sequences in strings, by bit masks.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

/// What is known of backslashes at a boundary of blocks.
#[derive(Default)]
pub(super) struct Escapes {
    /// One if the first byte of the next block is escaped, else zero.
    carry: u64,
}

impl Escapes {
    /// The bytes of the next block that come after an active backslash. A carry that runs along a
    /// run of backslashes comes out differently behind runs of odd and of even length.
    #[inline(always)]
    pub(super) fn escaped(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        if backslash == 0 {
            return std::mem::take(&mut self.carry);
        }
        let candidates = backslash & !self.carry;
        let series = (candidates << 1 | ODD).wrapping_sub(candidates) ^ ODD;
        let escaped = series ^ (backslash | self.carry);
        self.carry = (series & backslash) >> 63;
        escaped
    }
}

/// The first of the `escaped` bytes of the block at `start` that makes no escape sequence.
#[inline(always)]
pub(super) fn first_bad(mut escaped: u64, text: &[u8], start: usize) -> u64 {
    while escaped != 0 {
        let bit = escaped & escaped.wrapping_neg();
        let at = start + escaped.trailing_zeros() as usize;
        let is_good = match text.get(at) {
            Some(b'u') => text
                .get(at + 1..at + 5)
                .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
            Some(letter) => SIMPLE[usize::from(*letter)],
            None => false,
        };
        if !is_good {
            return bit;
        }
        escaped ^= bit;
    }
    0
}

/// What may follow a backslash, apart from `u`. A table, so that there is nothing to predict.
const SIMPLE: [bool; 256] = {
    let mut table = [false; 256];
    let letters = b"\"\\/bfnrt";
    let mut index = 0;
    while index < letters.len() {
        table[letters[index] as usize] = true;
        index += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Escapes;

    proptest! {
        #[test]
        fn every_second_backslash_of_a_run_is_escaped(
            blocks in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)], 1..5)
        ) {
            let mut escapes = Escapes::default();
            let mut is_escaped = false;
            for backslash in blocks {
                let mut expected = 0;
                for bit in 0..64 {
                    expected |= u64::from(is_escaped) << bit;
                    is_escaped = !is_escaped && backslash >> bit & 1 == 1;
                }
                prop_assert_eq!(escapes.escaped(backslash), expected);
            }
        }
    }
}
