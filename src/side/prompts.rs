//! The system prompts. They are files, so that they can be read,
//! compared and replaced.

/// For labels.
pub const LABEL: &str = include_str!("../../prompts/label.md");

/// For titles.
pub const TITLE: &str = include_str!("../../prompts/title.md");

/// For titles in the form `fix-login-button`.
pub const TITLE_KEBAB: &str = include_str!("../../prompts/title-kebab.md");

/// For the judge of calls.
pub const AUTO_CLASSIFIER: &str = include_str!("../../prompts/auto-classifier.md");

/// For recaps.
pub const RECAP: &str = include_str!("../../prompts/recap.md");

/// For advice on a conversation.
pub const ADVISOR: &str = include_str!("../../prompts/advisor.md");
