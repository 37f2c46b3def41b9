//! An object that is taken apart field by field, so that every mistake names its field.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What is wrong with one field.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) field: String,
    pub(super) reason: String,
}

impl Problem {
    pub(super) fn new(field: &str, reason: impl Into<String>) -> Self {
        Self {
            field: field.to_owned(),
            reason: reason.into(),
        }
    }
}

/// The fields of a tool that nobody has asked for yet.
pub(super) struct Fields {
    fields: Map<String, Value>,
}

impl Fields {
    pub(super) fn new(fields: Map<String, Value>) -> Self {
        Self { fields }
    }

    pub(super) fn optional<Field: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Option<Field>, Problem> {
        self.fields
            .shift_remove(name)
            .map(|value| {
                serde_json::from_value(value).map_err(|error| Problem::new(name, error.to_string()))
            })
            .transpose()
    }

    pub(super) fn required<Field: DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Result<Field, Problem> {
        self.optional(name)?
            .ok_or_else(|| Problem::new(name, "is missing"))
    }

    /// One of a few words.
    pub(super) fn word<Meaning: Copy>(
        &mut self,
        name: &str,
        meanings: &[(&str, Meaning)],
    ) -> Result<Option<Meaning>, Problem> {
        let Some(word) = self.optional::<String>(name)? else {
            return Ok(None);
        };
        let meaning = meanings.iter().find(|(known, _)| *known == word);
        meaning.map(|(_, meaning)| Some(*meaning)).ok_or_else(|| {
            let known: Vec<String> = meanings
                .iter()
                .map(|(word, _)| format!("\"{word}\""))
                .collect();
            Problem::new(name, format!("\"{word}\" is not {}", known.join(" or ")))
        })
    }

    /// A number from 1 on.
    pub(super) fn positive(&mut self, name: &str) -> Result<Option<u64>, Problem> {
        match self.optional::<u64>(name)? {
            Some(0) => Err(Problem::new(name, "must be at least 1")),
            other => Ok(other),
        }
    }

    /// Nobody asks for more: what is left is unknown.
    pub(super) fn finish(self) -> Result<(), Problem> {
        match self.fields.keys().next() {
            Some(key) => Err(Problem::new(key, "unknown key")),
            None => Ok(()),
        }
    }
}
