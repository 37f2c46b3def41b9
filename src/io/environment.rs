//! A snapshot of the environment variables, taken once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The environment variables of this process as they were at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Returns the raw value of a variable.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// Returns the value of a variable that is set, not empty and valid UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)
            .and_then(OsStr::to_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns a copy with these variables set.
    #[must_use]
    pub fn with<Name, Value>(&self, set: impl IntoIterator<Item = (Name, Value)>) -> Self
    where
        Name: Into<OsString>,
        Value: Into<OsString>,
    {
        let mut variables = self.variables.clone();
        variables.extend(
            set.into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        Self { variables }
    }

    /// Returns all variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl<Name: Into<OsString>, Value: Into<OsString>> FromIterator<(Name, Value)> for Environment {
    fn from_iter<Pairs: IntoIterator<Item = (Name, Value)>>(pairs: Pairs) -> Self {
        let variables = pairs
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        Self { variables }
    }
}
