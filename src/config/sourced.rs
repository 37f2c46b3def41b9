//! Values with their sources.

use std::fmt;
use std::path::PathBuf;

/// Origin of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueSource {
    /// The default.
    Default,
    /// An option of the command line, e.g. `--config`.
    Flag(&'static str),
    /// An environment variable.
    Variable(String),
    /// The configuration file.
    File {
        /// Its path.
        path: PathBuf,
        /// The line of the value, from 1.
        line: usize,
    },
}

impl fmt::Display for ValueSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::Flag(flag) => formatter.write_str(flag),
            Self::Variable(name) => formatter.write_str(name),
            Self::File { path, line } => write!(formatter, "{}:{line}", path.display()),
        }
    }
}

/// A value and its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sourced<T> {
    pub(super) value: T,
    pub(super) source: ValueSource,
}

impl<T> Sourced<T> {
    /// The value of a flag, if it is given.
    pub(super) fn flag(flag: &'static str, value: Option<T>) -> Option<Self> {
        let source = ValueSource::Flag(flag);
        value.map(|value| Self { value, source })
    }

    /// The value, or a default one.
    pub(super) fn or_default(found: Option<Self>, default: T) -> Self {
        found.unwrap_or(Self {
            value: default,
            source: ValueSource::Default,
        })
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Sourced<U> {
        Sourced {
            value: change(self.value),
            source: self.source,
        }
    }

    /// Adds the value to `settings` as `shown`, and returns it.
    pub(super) fn listed(
        self,
        name: &str,
        shown: impl FnOnce(&T) -> String,
        settings: &mut Vec<Setting>,
    ) -> T {
        settings.push(Setting {
            name: name.to_owned(),
            value: shown(&self.value),
            source: self.source,
        });
        self.value
    }
}

/// A setting as `doctor` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// A key of the configuration file, or a variable.
    pub name: String,
    /// The value as text, without secrets.
    pub value: String,
    /// Origin of the value.
    pub source: ValueSource,
}
