//! How large a result may be before it is persisted.

use std::collections::BTreeMap;

use crate::tools::ResultLimit;

/// The largest result of any tool that stays inline, in UTF-16 units.
pub const DEFAULT_LIMIT: usize = 50_000;

/// Limits that the configuration sets for single tools, by name, in UTF-16 units. They override what
/// the tool declares. With `None` everything stays inline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolLimits(pub BTreeMap<String, Option<usize>>);

impl ToolLimits {
    /// The limit of a tool: configured, else what it declares, but at most the global ceiling
    /// unless it declares none.
    pub fn of(&self, tool: &str, declared: ResultLimit) -> Option<usize> {
        if let Some(limit) = self.0.get(tool) {
            return *limit;
        }
        match declared {
            ResultLimit::Unlimited => None,
            ResultLimit::Default => Some(DEFAULT_LIMIT),
            ResultLimit::Characters(units) => Some(units.min(DEFAULT_LIMIT)),
            ResultLimit::Raised(units) => Some(units),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_of_tool_and_ceiling_holds() {
        let limits = ToolLimits::default();
        let of = |declared| limits.of("T", declared);
        assert_eq!(of(ResultLimit::Default), Some(50_000));
        assert_eq!(of(ResultLimit::Characters(20_000)), Some(20_000));
        assert_eq!(of(ResultLimit::Characters(100_000)), Some(50_000));
        assert_eq!(of(ResultLimit::Raised(100_000)), Some(100_000));
        assert_eq!(of(ResultLimit::Unlimited), None);
    }

    #[test]
    fn configuration_stands_above_the_tool() {
        let limits = [("Read", Some(10)), ("Bash", None)];
        let limits = limits.map(|(tool, limit)| (tool.to_owned(), limit));
        let limits = ToolLimits(limits.into());
        assert_eq!(limits.of("Read", ResultLimit::Unlimited), Some(10));
        assert_eq!(limits.of("Bash", ResultLimit::Default), None);
    }
}
