//! The fast road: how many whole lines at the start of a text are surely in order, each a single
//! well-formed JSON object or blank.
//!
//! A line is judged without looking at its bytes one by one: blocks of 64 bytes become bit masks,
//! and the grammar becomes arithmetic on them. What may follow what is local, so that it can be
//! checked for all tokens of a block at once; only brackets, escapes and unusual numbers are
//! visited one by one. A line that is refused here need not be wrong (nesting of more than 63
//! levels is refused), but an accepted one is right: [`super::validate`] has the last word on the
//! former, and property tests compare the two on both.
#![expect(
    clippy::inline_always,
    reason = "the same code is compiled for several processors"
)]

use super::escapes::{self, Escapes};
use super::masks::{StringMasks, string_masks, token_masks};
use super::nesting::{Brackets, Fit, ShallowNesting};
use super::processor::{Block, Processor};
use super::scalars::{self, ScalarMasks, Scalars};

/// The length in bytes of the whole lines, newlines included, at the start of `text` that are in
/// order. Whether they are UTF-8 is not looked at.
#[cfg(target_arch = "x86_64")]
pub(super) fn well_formed_lines(text: &[u8]) -> usize {
    use super::x86::{Avx2, Sse2};

    /// The same code, compiled for better processors.
    #[target_feature(enable = "avx2,pclmulqdq,bmi1,bmi2,popcnt")]
    fn with_avx2(avx2: Avx2, text: &[u8]) -> usize {
        scan(avx2, text)
    }

    if let Some(avx2) = Avx2::detect() {
        // SAFETY: that `avx2` exists proves that the processor has what the function needs.
        unsafe { with_avx2(avx2, text) }
    } else {
        scan(Sse2, text)
    }
}

/// The same for other processors.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn well_formed_lines(text: &[u8]) -> usize {
    scan(super::processor::Plain, text)
}

#[inline(always)]
fn scan<P: Processor>(processor: P, text: &[u8]) -> usize {
    let mut scan = Scan::new(processor);
    let mut good = 0;
    let (blocks, rest) = text.as_chunks::<64>();
    for (index, block) in blocks.iter().enumerate() {
        let start = index * 64;
        let found = scan.block(block, text, start);
        if found.newlines != 0 {
            good = start + 64 - found.newlines.leading_zeros() as usize;
        }
        if found.trouble {
            return good;
        }
    }
    if !rest.is_empty() {
        let mut block = [b' '; 64];
        block[..rest.len()].copy_from_slice(rest);
        let start = blocks.len() * 64;
        let found = scan.block(&block, text, start);
        if found.newlines != 0 {
            good = start + 64 - found.newlines.leading_zeros() as usize;
        }
    }
    good
}

/// What a block told.
struct Found {
    /// The ends of lines that are in order.
    newlines: u64,
    /// The block has something that is not in order, or not for this road.
    trouble: bool,
}

/// What is known at a boundary of blocks. Every `u64` that is not a mask is a carry: 0 or 1.
struct Scan<P> {
    processor: P,
    /// All ones if the boundary lies in a string.
    in_string: u64,
    escapes: Escapes,
    /// The open string is the first key of an object.
    key_open: u64,
    /// The open string came after a comma: a key in an object, a value in an array.
    item_open: u64,
    scalars: Scalars,
    /// The last token, if the boundary lies between tokens.
    after: After,
    nesting: ShallowNesting,
}

/// By the token before: where the next token starts, as a mask, or whether it may start right at
/// the boundary, as a carry. At any position at most one of them is set.
#[derive(Clone, Copy, Default)]
struct After {
    line: u64,
    /// `{`
    brace: u64,
    /// `[`
    bracket: u64,
    comma: u64,
    colon: u64,
    /// The first key of an object.
    key: u64,
    /// A string that came after a comma.
    item: u64,
    /// Any other string or scalar.
    value: u64,
    /// `}` or `]`
    bracket_end: u64,
}

impl<P: Processor> Scan<P> {
    #[inline(always)]
    fn new(processor: P) -> Self {
        Self {
            processor,
            in_string: 0,
            escapes: Escapes::default(),
            key_open: 0,
            item_open: 0,
            scalars: Scalars::default(),
            after: After {
                line: 1,
                ..After::default()
            },
            nesting: ShallowNesting::default(),
        }
    }

    /// Takes the next block, which stands at `start` in `text`. After trouble the scan is over.
    #[inline(always)]
    fn block(&mut self, block: &Block, text: &[u8], start: usize) -> Found {
        let lanes = self.processor.load(block);
        let StringMasks {
            quote,
            backslash,
            control,
        } = string_masks(self.processor, lanes);
        let escaped = self.escapes.escaped(backslash);
        let quote = quote & !escaped;
        if quote == 0 && self.in_string != 0 {
            // Long texts consist of blocks like this one.
            return Found {
                newlines: 0,
                trouble: control != 0 || escapes::first_bad(escaped, text, start) != 0,
            };
        }
        let in_string = self.processor.parity(quote) ^ self.in_string;
        self.in_string = 0_u64.wrapping_sub(in_string >> 63);
        let opening = quote & in_string;
        let closing = quote & !in_string;
        let outside = !(in_string | quote);
        let mut trouble =
            (control & in_string) | escapes::first_bad(escaped & in_string, text, start);

        let tokens = token_masks(self.processor, lanes);
        let (newline, other_space) = line_ends(control & outside, block);
        let space = tokens.space & outside | other_space;
        let open = tokens.open & outside;
        let close = tokens.close & outside;
        let colon = tokens.colon & outside;
        let comma = tokens.comma & outside;
        let scalar = outside & !(open | close | colon | comma | newline | space);
        let ScalarMasks {
            first,
            behind,
            unusual,
        } = self.scalars.block(scalar, tokens, self.processor, lanes);
        trouble |= scalars::first_bad(unusual, text, start);

        // Where each kind of token is followed by the next token. Strings are classified by what
        // comes before them, which takes the other masks first.
        let carried = self.after;
        let next = Next { space };
        let brace = next.after(open & tokens.curly, carried.brace, &mut self.after.brace);
        let bracket = next.after(
            open & !tokens.curly,
            carried.bracket,
            &mut self.after.bracket,
        );
        let after_comma = next.after(comma, carried.comma, &mut self.after.comma);
        let after_colon = next.after(colon, carried.colon, &mut self.after.colon);
        let line = next.after(newline, carried.line, &mut self.after.line);
        let key_close = close_of(opening & brace, in_string, &mut self.key_open);
        let item_close = close_of(opening & after_comma, in_string, &mut self.item_open);
        let key = next.after(key_close, carried.key, &mut self.after.key);
        let item = next.after(item_close, carried.item, &mut self.after.item);
        let bracket_end = next.after(close, carried.bracket_end, &mut self.after.bracket_end);
        let ended = closing & !(key_close | item_close);
        let value = next.after(ended, carried.value | behind, &mut self.after.value);

        // What may follow what.
        let value_start = opening | first | open;
        let value_end = comma | close;
        trouble |= brace & !(opening | (close & tokens.curly))
            | bracket & !(value_start | close)
            | (after_comma | after_colon) & !value_start
            | key & !colon
            | item & !(colon | value_end)
            | value & !value_end
            | bracket_end & !(value_end | newline)
            | line & !((open & tokens.curly) | newline);

        // What comes after a comma says whether we are in an object or in an array.
        let fit = self.nesting.follow(&Brackets {
            open,
            close,
            curly: tokens.curly,
            at_top: newline | line,
            newline,
            in_object: item & colon,
            in_array: item & !colon | after_comma & !opening,
        });
        if fit == Fit::Misfits {
            trouble |= 1;
        }
        let before_trouble = (trouble & trouble.wrapping_neg()).wrapping_sub(1);
        Found {
            newlines: newline & before_trouble,
            trouble: trouble != 0,
        }
    }
}

/// The way from the end of a token to the start of the next.
#[derive(Clone, Copy)]
struct Next {
    space: u64,
}

impl Next {
    /// The positions right after `last` bytes of tokens, and those `carried` from before, moved
    /// on over whitespace.
    #[inline(always)]
    fn after(self, last: u64, carried: u64, carry: &mut u64) -> u64 {
        let first = last << 1 | carried;
        let crossing = last >> 63;
        if self.space == 0 {
            *carry = crossing;
            return first;
        }
        // A bit added to a run of whitespace comes out behind it.
        let (sum, crossed) = self.space.overflowing_add(first & self.space);
        *carry = crossing | u64::from(crossed);
        (first | sum) & !self.space
    }
}

/// The closing quotes of the strings that have their opening quotes in `opening`, or that were
/// open at the start of the block if `open` says so.
#[inline(always)]
fn close_of(opening: u64, in_string: u64, open: &mut u64) -> u64 {
    let (sum, still_open) = in_string.overflowing_add(opening | *open);
    *open = u64::from(still_open);
    sum & !in_string
}

/// The newlines, and the tabs and carriage returns, among the control characters.
#[inline(always)]
fn line_ends(mut control: u64, block: &Block) -> (u64, u64) {
    let (mut newlines, mut others) = (0, 0);
    while control != 0 {
        let bit = control & control.wrapping_neg();
        match block[control.trailing_zeros() as usize] {
            b'\n' => newlines |= bit,
            b'\t' | b'\r' => others |= bit,
            _ => {}
        }
        control ^= bit;
    }
    (newlines, others)
}

#[cfg(test)]
#[path = "well_formed_tests.rs"]
mod tests;
