//! Finds the lines that must be parsed.

use aho_corasick::packed::Searcher;
use aho_corasick::{AhoCorasick, BuildError};
use memchr::memmem::Finder;

/// Searches for several fixed strings at once.
#[derive(Debug, Clone)]
pub struct Prefilter {
    search: Search,
}

/// The automaton reads a byte at a time. Vector instructions are more than ten times as fast, but need few needles
/// and are not available on all processors. A single needle takes half the time.
#[derive(Debug, Clone)]
enum Search {
    One(Finder<'static>),
    Packed(Searcher),
    Automaton(AhoCorasick),
}

impl Prefilter {
    /// Creates a prefilter for `needles`: at most a hundred, ideally of four bytes or more. An empty needle matches
    /// every line.
    ///
    /// # Errors
    /// The needles are too large (many megabytes).
    pub fn new(needles: &[&str]) -> Result<Self, BuildError> {
        let search = match (needles, Searcher::new(needles)) {
            ([needle], _) => Search::One(Finder::new(needle).into_owned()),
            (_, Some(packed)) => Search::Packed(packed),
            (_, None) => Search::Automaton(AhoCorasick::new(needles)?),
        };
        Ok(Self { search })
    }

    /// Returns the position of the first needle at or after `from`. It may be inside a JSON string. Needles never
    /// contain a newline.
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

    /// More needles than vector instructions support, and an empty one.
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
    fn no_needles_match_nothing() {
        let prefilter = Prefilter::new(&[]).unwrap();
        assert_eq!(prefilter.find(b"anything", 0), None);
    }
}
