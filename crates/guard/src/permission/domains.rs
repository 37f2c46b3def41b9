//! The hosts that rules name, for enforcement on any program.

use super::rule::Specifier;
use super::{Behavior, Rules};

impl Rules {
    /// Returns the patterns of `WebFetch(domain:…)` rules with a behavior.
    pub fn domains(&self, behavior: Behavior) -> impl Iterator<Item = String> {
        self.of(behavior).filter_map(|rule| match &rule.specifier {
            Specifier::Domain(pattern) => Some(pattern.text.clone()),
            _ => None,
        })
    }
}
