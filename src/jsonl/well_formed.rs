//! The fast road: how many whole lines at the start of a text are surely in order, each a single
//! well-formed JSON object or blank.
//!
//! A line is judged without looking at its bytes one by one: blocks of 64 bytes become bit masks,
//! and the grammar becomes arithmetic on them. What may follow what is local, so that it can be
//! checked for all tokens of a block at once; only brackets, escapes and unusual scalars are
//! visited one by one. A line that is refused here need not be wrong (nesting of more than 64
//! levels is refused), but an accepted one is right: [`super::validate`] has the last word on the
//! former, and property tests compare the two on the latter.

use super::masks::{Block, StringMasks, TokenMasks, string_masks, token_masks};
use super::validate::is_whole_scalar;

/// The length in bytes of the whole lines, newlines included, at the start of `text` that are in
/// order. Whether they are UTF-8 is not looked at.
pub(super) fn well_formed_lines(text: &[u8]) -> usize {
    let mut scan = Scan::new();
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
struct Scan {
    /// All ones if the boundary lies in a string.
    in_string: u64,
    /// The first byte is escaped.
    escaped: u64,
    /// The open string is the first key of an object.
    key_open: u64,
    /// The open string came after a comma: a key in an object, a value in an array.
    item_open: u64,
    /// The last byte belongs to a scalar.
    in_scalar: u64,
    /// … and is a digit.
    after_digit: u64,
    /// The last token, if the boundary lies between tokens.
    after: After,
    nesting: Nesting,
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
    /// Any other value.
    value: u64,
}

impl Scan {
    fn new() -> Self {
        Self {
            in_string: 0,
            escaped: 0,
            key_open: 0,
            item_open: 0,
            in_scalar: 0,
            after_digit: 0,
            after: After {
                line: 1,
                ..After::default()
            },
            nesting: Nesting::default(),
        }
    }

    /// Takes the next block, which stands at `start` in `text`. After trouble the scan is over.
    #[inline(always)]
    fn block(&mut self, block: &Block, text: &[u8], start: usize) -> Found {
        let StringMasks {
            quote,
            backslash,
            control,
        } = string_masks(block);
        let escaped = self.escaped_bytes(backslash);
        let quote = quote & !escaped;
        if quote == 0 && self.in_string != 0 {
            // Long texts consist of blocks like this one.
            return Found {
                newlines: 0,
                trouble: control != 0 || bad_escapes(escaped, text, start) != 0,
            };
        }
        let in_string = parity(quote) ^ self.in_string;
        self.in_string = 0_u64.wrapping_sub(in_string >> 63);
        let opening = quote & in_string;
        let closing = quote & !in_string;
        let outside = !(in_string | quote);
        let mut trouble = (control & in_string) | bad_escapes(escaped & in_string, text, start);

        let tokens = token_masks(block);
        let newline = tokens.newline & outside;
        let mut space = tokens.space & outside;
        if control & outside != newline {
            space |= tabs_and_returns(control & outside, block);
        }
        let open = tokens.open & outside;
        let close = tokens.close & outside;
        let colon = tokens.colon & outside;
        let comma = tokens.comma & outside;
        let scalar = outside & !(open | close | colon | comma | newline | space);
        let scalar_start = scalar & !(scalar << 1 | self.in_scalar);
        let scalar_over = !scalar & (scalar << 1 | self.in_scalar);
        trouble |= self.bad_scalars(scalar, scalar_start, tokens, text, start);

        // Where each kind of token is followed by the next token. Strings are classified by what
        // comes before them, which takes the other masks first.
        let carried = self.after;
        let mut next = Next { space };
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
        let ended = close | (closing & !(key_close | item_close));
        let value = next.value_after(ended, scalar_over, carried.value, &mut self.after.value);

        // What may follow what.
        let value_start = opening | scalar_start | open;
        let value_end = comma | close;
        trouble |= brace & !(opening | (close & tokens.curly))
            | bracket & !(value_start | close)
            | (after_comma | after_colon) & !value_start
            | key & !colon
            | item & !(colon | value_end)
            | value & !(value_end | newline)
            | line & !((open & tokens.curly) | newline);

        // What comes after a comma says whether we are in an object or in an array.
        let in_object = item & colon;
        let in_array = item & !colon | after_comma & !opening;
        trouble |= self.nesting.block(&Brackets {
            open,
            close,
            curly: tokens.curly,
            newline,
            in_object,
            in_array,
        });
        let before_trouble = (trouble & trouble.wrapping_neg()).wrapping_sub(1);
        Found {
            newlines: newline & before_trouble,
            trouble: trouble != 0,
        }
    }

    /// The bytes that come after an active backslash. Adding carries along runs of backslashes
    /// finds the runs of odd length.
    #[inline(always)]
    fn escaped_bytes(&mut self, backslash: u64) -> u64 {
        const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
        if backslash == 0 {
            return std::mem::take(&mut self.escaped);
        }
        let candidates = backslash & !self.escaped;
        let after_candidates = candidates << 1;
        let series = (after_candidates | ODD).wrapping_sub(candidates) ^ ODD;
        let escaped = series ^ (backslash | self.escaped);
        self.escaped = (series & backslash) >> 63;
        escaped
    }

    /// The scalars that are neither plain integers nor otherwise in order.
    #[inline(always)]
    fn bad_scalars(
        &mut self,
        scalar: u64,
        scalar_start: u64,
        tokens: TokenMasks,
        text: &[u8],
        start: usize,
    ) -> u64 {
        let digit = scalar & tokens.digit;
        let other = scalar & !digit;
        // Words and signed numbers start with something else than a digit; fractions, exponents
        // and junk follow a digit; a zero must not lead. The byte after the block is not known.
        let leading_zero = scalar_start & tokens.zero & (scalar >> 1 | 1 << 63);
        let after_digit = other & (digit << 1 | self.after_digit);
        self.in_scalar = scalar >> 63;
        self.after_digit = digit >> 63;
        let mut unusual = scalar_start & other | leading_zero | after_digit;
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
}

/// The way from the end of a token to the start of the next.
struct Next {
    space: u64,
}

impl Next {
    /// The positions right after `last` bytes of tokens, moved on over whitespace.
    #[inline(always)]
    fn after(&mut self, last: u64, carried: u64, carry: &mut u64) -> u64 {
        self.over_space(last << 1 | carried, last >> 63, carry)
    }

    /// The same for the last bytes of values and for the first bytes after scalars.
    #[inline(always)]
    fn value_after(&mut self, last: u64, after_scalar: u64, carried: u64, carry: &mut u64) -> u64 {
        self.over_space(last << 1 | after_scalar | carried, last >> 63, carry)
    }

    #[inline(always)]
    fn over_space(&mut self, first: u64, crossing: u64, carry: &mut u64) -> u64 {
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

/// Each bit: whether an odd number of bits is set from the lowest up to this one.
#[inline(always)]
fn parity(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// The first of the `escaped` bytes that makes no escape sequence.
#[inline(always)]
fn bad_escapes(mut escaped: u64, text: &[u8], start: usize) -> u64 {
    while escaped != 0 {
        let bit = escaped & escaped.wrapping_neg();
        let at = start + escaped.trailing_zeros() as usize;
        let good = match text.get(at) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
            Some(b'u') => text
                .get(at + 1..at + 5)
                .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
            _ => false,
        };
        if !good {
            return bit;
        }
        escaped ^= bit;
    }
    0
}

/// The tabs and carriage returns among the control characters.
#[cold]
fn tabs_and_returns(mut control: u64, block: &Block) -> u64 {
    let mut found = 0;
    while control != 0 {
        let bit = control & control.wrapping_neg();
        if matches!(block[control.trailing_zeros() as usize], b'\t' | b'\r') {
            found |= bit;
        }
        control ^= bit;
    }
    found
}

/// Where the number starts that goes on at `at`.
fn start_of_number(text: &[u8], at: usize) -> usize {
    let part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    let before = text[..at].iter().rev().take_while(|byte| part(byte));
    at - before.count()
}

/// The open brackets of the current line.
#[derive(Default)]
struct Nesting {
    depth: u32,
    /// The innermost in the lowest bit; set means object.
    kinds: u64,
}

/// The brackets and line ends of a block, and the evidence for what is between them.
struct Brackets {
    open: u64,
    close: u64,
    curly: u64,
    newline: u64,
    in_object: u64,
    in_array: u64,
}

impl Nesting {
    /// The first bracket, line end or evidence that does not fit.
    #[inline(always)]
    fn block(&mut self, brackets: &Brackets) -> u64 {
        let mut unseen = u64::MAX;
        let mut events = brackets.open | brackets.close | brackets.newline;
        while events != 0 {
            let bit = events & events.wrapping_neg();
            events ^= bit;
            let up_to = bit | (bit - 1);
            let evidence = self.misfit(brackets, unseen & up_to);
            unseen = !up_to;
            let curly = u64::from(brackets.curly & bit != 0);
            let fits = if brackets.open & bit != 0 {
                self.kinds = self.kinds << 1 | curly;
                self.depth += 1;
                self.depth <= 64
            } else if brackets.close & bit != 0 {
                let fits = self.depth != 0 && self.kinds & 1 == curly;
                self.kinds >>= 1;
                self.depth = self.depth.wrapping_sub(1);
                fits
            } else {
                self.depth == 0
            };
            if evidence != 0 || !fits {
                return evidence | bit;
            }
        }
        self.misfit(brackets, unseen)
    }

    /// The evidence in `range` against the current container.
    #[inline(always)]
    fn misfit(&self, brackets: &Brackets, range: u64) -> u64 {
        let wrong = if self.depth == 0 {
            brackets.in_object | brackets.in_array
        } else if self.kinds & 1 == 1 {
            brackets.in_array
        } else {
            brackets.in_object
        };
        wrong & range
    }
}

#[cfg(test)]
#[path = "well_formed_tests.rs"]
mod tests;
