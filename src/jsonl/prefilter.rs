//! Decides cheaply which lines must be looked into at all.

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, BuildError};
use memchr::memmem::Finder;

/// Finds the lines that may matter: looks for a handful of fixed byte sequences, all at once.
#[derive(Debug, Clone)]
pub struct Prefilter {
    search: Search,
}

/// The automaton reads a byte at a time; vector instructions are more than ten times as fast, but
/// not every processor has them, and they are for few needles only. A single needle is found in half
/// the time.
#[derive(Debug, Clone)]
enum Search {
    One(Finder<'static>),
    Packed(Searcher),
    Automaton(AhoCorasick),
}

impl Prefilter {
    /// A prefilter for `needles`: no more than a hundred, at best of four bytes and more. An empty
    /// needle wants every line.
    ///
    /// # Errors
    /// Needles of many megabytes do not fit.
    pub fn new(needles: &[&str]) -> Result<Self, BuildError> {
        let search = match (needles, Searcher::new(needles)) {
            ([needle], _) => Search::One(Finder::new(needle).into_owned()),
            (_, Some(packed)) => Search::Packed(packed),
            (_, None) => Search::Automaton(AhoCorasick::new(needles)?),
        };
        Ok(Self { search })
    }

    /// Finds the first needle at or after `from` and returns its position. It may stand inside of a
    /// string. A needle never holds a newline.
    pub fn find(&self, haystack: &[u8], from: usize) -> Option<usize> {
        let rest = haystack.get(from..)?;
        let start = match &self.search {
            Search::One(finder) => finder.find(rest)?,
            Search::Packed(packed) => packed.find(rest)?.start(),
            Search::Automaton(automaton) => automaton.find(rest)?.start(),
        };
        Some(from + start)
    }
}

#[cfg(test)]
mod tests {
    use super::Prefilter;

    #[test]
    fn finds_the_first_needle_from_a_position() {
        let prefilter = Prefilter::new(&["tool_use", "functionCall"]).unwrap();
        let haystack = b"a tool_use, a functionCall";
        assert_eq!(prefilter.find(haystack, 0), Some(2));
        assert_eq!(prefilter.find(haystack, 2), Some(2));
        assert_eq!(prefilter.find(haystack, 3), Some(14));
        assert_eq!(prefilter.find(haystack, 15), None);
        assert_eq!(prefilter.find(haystack, haystack.len() + 1), None);
    }

    /// More needles than vector instructions take, and an empty one.
    #[test]
    fn any_number_of_needles() {
        let many: Vec<String> = (100..400).map(|number| format!("n{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let prefilter = Prefilter::new(&many).unwrap();
        assert_eq!(prefilter.find(b"n1 n399 n100", 0), Some(3));
        let prefilter = Prefilter::new(&["needle", ""]).unwrap();
        assert_eq!(prefilter.find(b"anything", 3), Some(3));
    }

    #[test]
    fn no_needle_wants_nothing() {
        let prefilter = Prefilter::new(&[]).unwrap();
        assert_eq!(prefilter.find(b"anything", 0), None);
    }
}
