//! Titles of sessions.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::content::parse_time;
use turnpipe_core::text::names;

/// The source of a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TitleSource {
    /// The user, or not recorded.
    Manual,
    /// A model or a rule.
    Auto,
    /// A summary of the conversation.
    Summary,
}

names! {
    TitleSource: Manual = "manual", Auto = "auto", Summary = "summary",
}

/// A title and its source, both from one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The title, as stored in the file.
    pub text: String,
    /// Its source.
    pub source: TitleSource,
}

impl Title {
    /// Whether the user chose the title.
    pub fn is_manual(&self) -> bool {
        self.source == TitleSource::Manual && !self.text.is_empty()
    }
}

/// The effect of an automatic title on a manual one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManualTitle {
    /// The manual title stays.
    Keep,
    /// The automatic title replaces it, because the user requested that.
    Supersede,
}

impl From<bool> for ManualTitle {
    fn from(is_superseded: bool) -> Self {
        if is_superseded {
            Self::Supersede
        } else {
            Self::Keep
        }
    }
}

/// The content of a title record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTitle {
    /// The title. An empty one removes the title.
    pub title: Title,
    /// The time of the record.
    pub time: Option<Timestamp>,
    /// Whether it replaces a manual title.
    pub manual_title: ManualTitle,
}

impl StoredTitle {
    /// Creates a title with the time of its record.
    pub(super) fn new(
        text: Cow<'_, str>,
        source: TitleSource,
        time: Option<&RawValue>,
        manual_title: ManualTitle,
    ) -> Self {
        Self {
            title: Title {
                text: text.into_owned(),
                source,
            },
            time: parse_time(time),
            manual_title,
        }
    }
}

/// A rule to choose among titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The later title.
    Later,
    /// A manual title, wherever it is.
    Manual,
}
