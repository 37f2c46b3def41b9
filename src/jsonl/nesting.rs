//! Open brackets of ordinary lines, followed block by block on bit masks.
//!
//! Nothing here branches on what a bracket is: that is hard to predict, and mispredictions would
//! cost more than all the rest.
#![expect(
    clippy::inline_always,
    reason = "the caller is compiled for several processors"
)]

/// Nesting of some thirty levels at least, 63 at most.
pub(super) struct ShallowNesting {
    /// A one, then a bit for each open container, the innermost lowest; set means object.
    kinds: u64,
}

/// The brackets and line ends of a block, and the evidence for what is between them.
pub(super) struct Brackets {
    pub(super) open: u64,
    pub(super) close: u64,
    /// Among the brackets: the curly ones.
    pub(super) curly: u64,
    /// The newlines, and the brackets that come first on a line. All others must be nested.
    pub(super) at_top: u64,
    pub(super) newline: u64,
    /// Bytes that can only stand in an object. One that is a bracket itself is evidence of what
    /// that bracket stands in, or ends.
    pub(super) in_object: u64,
    /// The same for arrays.
    pub(super) in_array: u64,
}

/// Whether all of a block fits together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// It does.
    Fits,
    /// Something does not, or is nested too deeply; nothing more can be followed.
    Misfits,
}

/// Nothing is open.
const TOP: u64 = 1;

impl Default for ShallowNesting {
    fn default() -> Self {
        Self { kinds: TOP }
    }
}

impl ShallowNesting {
    /// Follows the brackets of the next block.
    #[inline(always)]
    pub(super) fn follow(&mut self, brackets: &Brackets) -> Fit {
        let mut kinds = self.kinds;
        // However many brackets open, no bit may fall off the upper end.
        let mut wrong = u64::from(kinds.leading_zeros() <= brackets.open.count_ones());
        // Whether each byte stands in an object; as if no bracket came, to begin with.
        let mut in_object = all_if(kinds);
        let mut events = brackets.open | brackets.close | brackets.newline;
        while events != 0 {
            let at = events.trailing_zeros();
            let up_to = events ^ (events - 1);
            events &= events - 1;
            let opens = brackets.open >> at & 1;
            let closes = brackets.close >> at & 1;
            let curly = brackets.curly >> at;
            wrong |= (brackets.at_top >> at & 1) ^ u64::from(kinds == TOP);
            wrong |= closes & (kinds ^ curly);
            let after = (kinds << opens | opens & curly) >> closes;
            in_object ^= all_if(kinds ^ after) & !up_to;
            kinds = after;
        }
        self.kinds = kinds;
        let misplaced = brackets.in_array & in_object | brackets.in_object & !in_object;
        if wrong | misplaced == 0 {
            Fit::Fits
        } else {
            Fit::Misfits
        }
    }
}

/// All bits set if the lowest one is, else none.
#[inline(always)]
fn all_if(bits: u64) -> u64 {
    0_u64.wrapping_sub(bits & 1)
}
