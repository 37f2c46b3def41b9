//! The configuration file.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::permission_table::PermissionTable;
use super::variables::{CONFIG, CONFIG_HOME, HOME};
use crate::io::Environment;
use crate::model::DialectOverrides;
use crate::permission::InvalidRule;

/// Which file is read (`--config`, `--no-config`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConfigSource {
    /// The one that the environment names, else the default one if it exists.
    #[default]
    Default,
    /// This one; it must exist.
    Named(PathBuf),
    /// None at all.
    None,
}

/// What sets a value that nothing else sets.
pub(super) const DEFAULT: &str = "default";

impl ConfigSource {
    /// Where the file is or would be, and what says so.
    pub fn place(&self, environment: &Environment) -> Option<(PathBuf, &'static str)> {
        match self {
            Self::None => None,
            Self::Named(path) => Some((path.clone(), "--config")),
            Self::Default => {
                if let Some((name, path)) = CONFIG.named_text(environment) {
                    return Some((path.into(), name));
                }
                let base = match CONFIG_HOME.text(environment) {
                    Some(base) => PathBuf::from(base),
                    None => Path::new(HOME.text(environment)?).join(".config"),
                };
                Some((base.join("turnpipe/config.toml"), DEFAULT))
            }
        }
    }
}

/// The configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not a valid configuration.
    #[error("{}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, on one line.
        reason: String,
    },
    /// A permission rule is malformed.
    #[error(transparent)]
    Rule(#[from] InvalidRule),
    /// A restriction is not understood, and so cannot be applied.
    #[error("{source_name}: unknown setting `{key}`, which may restrict calls")]
    UnknownRestriction {
        /// The file as it was named.
        source_name: String,
        /// The key.
        key: String,
    },
    /// A permission rule does not match as its examples say.
    #[error("{source_name}: {problem}")]
    RuleExample {
        /// The file as it was named.
        source_name: String,
        /// The rule and the example, on one line.
        problem: String,
    },
}

/// What a file can set. Unknown keys are errors, so that a misspelt one is not silently ignored.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConfigFile {
    /// Where state is kept.
    pub(super) state_dir: Option<PathBuf>,
    /// How many calls run at once.
    pub(super) max_concurrency: Option<std::num::NonZeroUsize>,
    /// Whether batches of calls get labels.
    pub(super) emit_tool_use_summaries: Option<bool>,
    /// Manifests of command tools; relative to the file.
    pub(super) tools: Vec<PathBuf>,
    /// The largest inline result of a tool, in UTF-16 units; 0 is no limit.
    pub(super) max_result_chars: BTreeMap<String, usize>,
    /// The timeout of a shell call that sets none.
    pub(super) bash_default_timeout_ms: Option<u64>,
    /// The longest timeout that a shell call can set.
    pub(super) bash_max_timeout_ms: Option<u64>,
    /// The model for labels, titles and recaps.
    pub(super) fast_model: Option<String>,
    /// The model for the conversation itself.
    pub(super) model: Option<String>,
    /// The model that the tool `Advisor` asks.
    pub(super) advisor_model: Option<String>,
    /// Model providers, known ones and others.
    pub(super) providers: BTreeMap<String, ProviderTable>,
    /// How requests are made.
    pub(super) http: HttpTable,
    /// Whether pages may come from this machine and private networks.
    pub(super) allow_private_addresses: bool,
    /// A file with prices of models; relative to the file.
    pub(super) prices: Option<PathBuf>,
    /// Which calls may run.
    pub(super) permissions: PermissionTable,
    /// Where it was read.
    #[serde(skip)]
    pub(super) path: Option<PathBuf>,
}

impl ConfigFile {
    pub(super) fn load(
        source: &ConfigSource,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let Some((path, named_by)) = source.place(environment) else {
            return Ok(Self::default());
        };
        match Self::read(&path) {
            Err(ConfigError::Unreadable { source, .. })
                if source.kind() == ErrorKind::NotFound && named_by == DEFAULT =>
            {
                Ok(Self::default())
            }
            other => other,
        }
    }

    fn read(path: &Path) -> Result<Self, ConfigError> {
        let mut file: Self = read_toml(path)?;
        file.path = Some(path.to_owned());
        if let Some(base) = path.parent() {
            for manifest in &mut file.tools {
                *manifest = base.join(&*manifest);
            }
            let keys = file
                .providers
                .values_mut()
                .map(|table| &mut table.api_key_file);
            let others = [&mut file.http.ca_file, &mut file.prices];
            for path in keys.chain(others).flatten() {
                *path = base.join(&*path);
            }
        }
        Ok(file)
    }
}

/// Reads a file of TOML.
pub(super) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let text = fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(0, |span| {
            text[..span.start.min(text.len())].matches('\n').count() + 1
        });
        let message = error.message().replace('\n', " ");
        ConfigError::Invalid {
            path: path.to_owned(),
            reason: format!("line {line}: {message}"),
        }
    })
}

/// `[providers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProviderTable {
    /// The known provider that this one resembles.
    pub(super) preset: Option<String>,
    /// Its address.
    pub(super) base_url: Option<String>,
    /// The variable that holds the key.
    pub(super) api_key_env: Option<String>,
    /// The file whose first line is the key.
    pub(super) api_key_file: Option<PathBuf>,
    /// The command that prints the key.
    pub(super) api_key_cmd: Option<CommandWords>,
    /// Headers of every request.
    pub(super) headers: BTreeMap<String, String>,
    /// Whether keys are sent to it without encryption even outside of private networks.
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
    /// A PEM file with certificates to trust in addition to those of the system.
    pub(super) ca_file: Option<PathBuf>,
    /// The time limit for connecting.
    pub(super) connect_timeout_ms: Option<u64>,
    /// The longest silence of a server.
    pub(super) idle_timeout_ms: Option<u64>,
    /// The time limit of a request, retries included.
    pub(super) timeout_ms: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<ConfigFile, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        fs::write(&path, text).unwrap();
        ConfigFile::load(&ConfigSource::Named(path), &Environment::default())
    }

    #[test]
    fn unknown_keys_are_errors_that_name_the_line() {
        let error = load("max_concurrency = 4\nmax_concurency = 5\n")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 2") && error.contains("max_concurency"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_usual_file_is_no_error_a_named_one_is() {
        let home: Environment = [("HOME", "/nonexistent")].into_iter().collect();
        assert!(ConfigFile::load(&ConfigSource::Default, &home).is_ok());
        assert!(ConfigFile::load(&ConfigSource::Default, &Environment::default()).is_ok());
        let named: Environment = [("TURNPIPE_CONFIG", "/nonexistent")].into_iter().collect();
        assert!(ConfigFile::load(&ConfigSource::Default, &named).is_err());
    }

    #[test]
    fn manifests_are_relative_to_the_file() {
        let file = load("tools = [\"tools.toml\"]\n").unwrap();
        assert!(file.tools[0].is_absolute(), "{:?}", file.tools);
    }
}
