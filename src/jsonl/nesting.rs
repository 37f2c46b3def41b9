//! Open brackets, kept as single bits.

/// Nesting of up to 63 levels, followed block by block on bit masks.
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
    pub(super) newline: u64,
    /// Bytes that can only stand in an object. One that is a bracket itself is evidence of what
    /// that bracket stands in, or ends.
    pub(super) in_object: u64,
    /// The same for arrays.
    pub(super) in_array: u64,
}

/// Nothing is open.
const TOP: u64 = 1;

impl Default for ShallowNesting {
    fn default() -> Self {
        Self { kinds: TOP }
    }
}

impl ShallowNesting {
    /// Follows the brackets of the next block, and returns the first bracket, line end or evidence
    /// that does not fit, after which nothing more can be followed.
    #[inline(always)]
    pub(super) fn misfit(&mut self, brackets: &Brackets) -> u64 {
        let mut kinds = self.kinds;
        let mut unseen = u64::MAX;
        let mut events = brackets.open | brackets.close | brackets.newline;
        while events != 0 {
            let bit = events & events.wrapping_neg();
            let up_to = bit | (bit - 1);
            let evidence = wrong_evidence(brackets, kinds) & unseen & up_to;
            unseen = !up_to;
            events &= unseen;
            // No branch on the kind of bracket: it is hard to predict.
            let is_open = brackets.open & bit != 0;
            let is_close = brackets.close & bit != 0;
            let curly = u64::from(brackets.curly & bit != 0);
            let opens = is_open & (kinds >> 63 == 0);
            let closes = is_close & (kinds != TOP) & (kinds & 1 == curly);
            let ends_line = !is_open & !is_close & (kinds == TOP);
            if evidence != 0 || !(opens | closes | ends_line) {
                return evidence | bit;
            }
            let outer = if closes { kinds >> 1 } else { kinds };
            kinds = if opens { kinds << 1 | curly } else { outer };
        }
        self.kinds = kinds;
        wrong_evidence(brackets, kinds) & unseen
    }
}

/// The evidence that does not fit the innermost container.
#[inline(always)]
fn wrong_evidence(brackets: &Brackets, kinds: u64) -> u64 {
    let object = 0_u64.wrapping_sub(kinds & 1);
    let top = 0_u64.wrapping_sub(u64::from(kinds == TOP));
    (brackets.in_array & (object | top)) | (brackets.in_object & (!object | top))
}
