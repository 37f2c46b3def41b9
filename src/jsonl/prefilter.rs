//! Decides cheaply which lines must be looked into at all.

use aho_corasick::{AhoCorasick, BuildError};

/// Finds the lines that may matter.
pub trait Prefilter: Send {
    /// Finds the first needle at or after `from` and returns its position. It may report too much
    /// (a needle inside of a string), never too little. A needle never holds a newline.
    fn find(&self, haystack: &[u8], from: usize) -> Option<usize>;
}

/// Looks for a handful of fixed byte sequences, all at once.
#[derive(Debug)]
pub struct AhoCorasickPrefilter {
    needles: AhoCorasick,
}

impl AhoCorasickPrefilter {
    /// A prefilter for `needles`: a few characters each, at best ones that seldom start a word of
    /// JSON. An empty needle wants every line.
    ///
    /// # Errors
    /// Needles of many megabytes do not fit.
    pub fn new(needles: &[&str]) -> Result<Self, BuildError> {
        Ok(Self {
            needles: AhoCorasick::new(needles)?,
        })
    }
}

impl Prefilter for AhoCorasickPrefilter {
    fn find(&self, haystack: &[u8], from: usize) -> Option<usize> {
        self.needles
            .find(haystack.get(from..)?)
            .map(|found| from + found.start())
    }
}

#[cfg(test)]
mod tests {
    use super::{AhoCorasickPrefilter, Prefilter};

    #[test]
    fn finds_the_first_needle_from_a_position() {
        let prefilter = AhoCorasickPrefilter::new(&["tool_use", "functionCall"]).unwrap();
        let haystack = b"a tool_use, a functionCall";
        assert_eq!(prefilter.find(haystack, 0), Some(2));
        assert_eq!(prefilter.find(haystack, 2), Some(2));
        assert_eq!(prefilter.find(haystack, 3), Some(14));
        assert_eq!(prefilter.find(haystack, 15), None);
        assert_eq!(prefilter.find(haystack, haystack.len() + 1), None);
    }

    #[test]
    fn no_needle_wants_nothing() {
        let prefilter = AhoCorasickPrefilter::new(&[]).unwrap();
        assert_eq!(prefilter.find(b"anything", 0), None);
    }
}
