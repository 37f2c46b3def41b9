//! The tables of the configuration file that are about models.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::model::DialectOverrides;

/// `[providers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProviderTable {
    /// The known provider that it is like.
    pub(super) preset: Option<String>,
    /// Where it is.
    pub(super) base_url: Option<String>,
    /// The variable that holds the key.
    pub(super) api_key_env: Option<String>,
    /// The file whose first line is the key.
    pub(super) api_key_file: Option<PathBuf>,
    /// The command that prints the key.
    pub(super) api_key_cmd: Option<CommandWords>,
    /// Headers of every request.
    pub(super) headers: BTreeMap<String, String>,
    /// Keys are sent to it without encryption, wherever it is.
    pub(super) allow_plain_http: bool,
    /// How its API differs from the known one.
    pub(super) dialect: DialectOverrides,
}

/// A command: a line for the shell, or a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum CommandWords {
    /// A line for `sh -c`.
    Line(String),
    /// The program, and its arguments.
    Words(Vec<String>),
}

impl CommandWords {
    /// The program and its arguments.
    pub(super) fn into_words(self) -> Vec<String> {
        match self {
            Self::Line(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
            Self::Words(words) => words,
        }
    }
}

/// `[http]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HttpTable {
    /// A PEM file with certificates that are trusted besides those of the system.
    pub(super) ca_file: Option<PathBuf>,
    /// How long a connection may take to come about.
    pub(super) connect_timeout_ms: Option<u64>,
    /// How long a server may say nothing.
    pub(super) idle_timeout_ms: Option<u64>,
    /// How long a request may take in all.
    pub(super) timeout_ms: Option<u64>,
}

impl ProviderTable {
    /// Files are relative to the configuration file.
    pub(super) fn resolve_paths(&mut self, base: &Path) {
        if let Some(path) = &mut self.api_key_file {
            *path = base.join(&*path);
        }
    }
}

impl HttpTable {
    /// Files are relative to the configuration file.
    pub(super) fn resolve_paths(&mut self, base: &Path) {
        if let Some(path) = &mut self.ca_file {
            *path = base.join(&*path);
        }
    }
}
