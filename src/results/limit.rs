//! How large a result may be before it is persisted.

use std::collections::BTreeMap;

use crate::tools::ResultLimit;

/// The largest result of any tool that stays inline, in UTF-16 units.
pub const DEFAULT_LIMIT: usize = 50_000;

/// What stays inline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InlineLimit {
    /// Everything.
    Unlimited,
    /// Up to this many UTF-16 units.
    Units(usize),
}

/// Limits that the configuration sets for single tools, by name. They override what the tool
/// declares.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolLimits {
    configured: BTreeMap<String, InlineLimit>,
}

impl ToolLimits {
    /// Sets the limit of one tool.
    pub fn set(&mut self, tool: impl Into<String>, limit: InlineLimit) {
        self.configured.insert(tool.into(), limit);
    }

    /// The limit of a tool: configured, else what it declares, but at most the global ceiling
    /// unless it declares none.
    pub fn of(&self, tool: &str, declared: ResultLimit) -> InlineLimit {
        if let Some(limit) = self.configured.get(tool) {
            return *limit;
        }
        match declared {
            ResultLimit::Unlimited => InlineLimit::Unlimited,
            ResultLimit::Default => InlineLimit::Units(DEFAULT_LIMIT),
            ResultLimit::Characters(units) => InlineLimit::Units(units.min(DEFAULT_LIMIT)),
        }
    }
}

impl InlineLimit {
    /// Whether a text of this length stays inline.
    pub fn admits(self, units: usize) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Units(limit) => units <= limit,
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
        assert_eq!(of(ResultLimit::Default), InlineLimit::Units(50_000));
        assert_eq!(
            of(ResultLimit::Characters(20_000)),
            InlineLimit::Units(20_000)
        );
        assert_eq!(
            of(ResultLimit::Characters(100_000)),
            InlineLimit::Units(50_000)
        );
        assert_eq!(of(ResultLimit::Unlimited), InlineLimit::Unlimited);
    }

    #[test]
    fn configuration_stands_above_the_tool() {
        let mut limits = ToolLimits::default();
        limits.set("Read", InlineLimit::Units(10));
        assert_eq!(
            limits.of("Read", ResultLimit::Unlimited),
            InlineLimit::Units(10)
        );
        assert!(limits.of("Read", ResultLimit::Unlimited).admits(10));
        assert!(!limits.of("Read", ResultLimit::Unlimited).admits(11));
    }
}
