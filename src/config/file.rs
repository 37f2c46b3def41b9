//! The configuration file, and the `settings.json` of agents, which may contain comments.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Spanned;

use super::restrictions::PermissionTable;
use super::variables::{CONFIG, CONFIG_HOME, HOME, SourcedValue, ValueSource};
use crate::agent::Root;
use crate::client::model::DialectOverrides;
use crate::io::{Environment, is_per_process_path};
use crate::permission::InvalidRule;
use crate::text::format_count;

/// The configuration file to read (`--config`, `--no-config`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ConfigSource {
    /// The file in `TURNPIPE_CONFIG`, else the default file if it exists.
    #[default]
    Default,
    /// This file, which must exist.
    Named(PathBuf),
    /// No file.
    None,
}

impl ConfigSource {
    /// Returns the path of the file, which may be missing, and the source of the path.
    pub fn path(&self, environment: &Environment) -> Option<(PathBuf, ValueSource)> {
        match self {
            Self::None => None,
            Self::Named(path) => Some((path.clone(), ValueSource::Flag("--config"))),
            Self::Default => {
                if let Some(named) = CONFIG.sourced_value(environment) {
                    return Some((named.value.into(), named.source));
                }
                // A relative path would name a file of the workspace.
                let is_trusted = |path: &PathBuf| path.is_absolute() && !is_per_process_path(path);
                let config_home = CONFIG_HOME.text(environment).map(PathBuf::from);
                let at_home = || Some(Path::new(HOME.text(environment)?).join(".config"));
                let base = config_home
                    .filter(is_trusted)
                    .or_else(at_home)
                    .filter(is_trusted)?;
                Some((base.join("turnpipe/config.toml"), ValueSource::Default))
            }
        }
    }
}

/// The reason why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file is not a valid configuration.
    #[error("{}: {reason}", path.display())]
    Invalid {
        path: PathBuf,
        /// The problem, on one line.
        reason: String,
    },
    /// A permission rule is malformed.
    #[error(transparent)]
    Rule(#[from] InvalidRule),
    /// An unknown restriction, which cannot be applied.
    #[error("{source_name}: unknown setting `{key}`, which may restrict calls")]
    UnknownRestriction {
        /// The file as given.
        source_name: String,
        key: String,
    },
    /// A permission rule contradicts its examples.
    #[error("{source_name}: {problem}")]
    RuleExample {
        /// The file as given.
        source_name: String,
        /// The rule and the example, on one line.
        problem: String,
    },
}

/// The configuration file. Unknown keys are errors, to detect misspellings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ConfigFile {
    /// The directory of session state.
    pub(super) state_dir: Option<Spanned<PathBuf>>,
    /// Maximum number of calls that run at once.
    pub(super) max_concurrency: Option<Spanned<std::num::NonZeroUsize>>,
    /// Whether batches of calls get labels.
    pub(super) emit_tool_use_summaries: Option<Spanned<bool>>,
    /// Manifests of command tools, relative to the file.
    pub(super) tools: Vec<Spanned<PathBuf>>,
    /// Maximum length of a tool's inline result, in UTF-16 units; 0 means unlimited.
    pub(super) max_result_chars: BTreeMap<String, Spanned<usize>>,
    /// The timeout of shell calls without one.
    pub(super) bash_default_timeout_ms: Option<Spanned<u64>>,
    /// Maximum timeout of a shell call.
    pub(super) bash_max_timeout_ms: Option<Spanned<u64>>,
    /// The model for labels, titles and recaps.
    pub(super) fast_model: Option<Spanned<String>>,
    /// The main model.
    pub(super) model: Option<Spanned<String>>,
    /// The model of the tool `Advisor`.
    pub(super) advisor_model: Option<Spanned<String>>,
    /// Model providers by name.
    pub(super) providers: BTreeMap<String, ProviderTable>,
    /// Agents that use the format of another one, and homes of known agents, by name.
    pub(super) agents: BTreeMap<String, Spanned<AgentTable>>,
    pub(super) http: HttpTable,
    /// Whether pages may come from this machine and private networks.
    pub(super) allow_private_addresses: Option<Spanned<bool>>,
    /// A file with prices of models, relative to the file.
    pub(super) prices: Option<Spanned<PathBuf>>,
    pub(super) permissions: PermissionTable,
    #[serde(skip)]
    pub(super) path: Option<PathBuf>,
    /// The text of the file, to find the lines of values.
    #[serde(skip)]
    text: String,
}

impl ConfigFile {
    pub(super) fn load(
        source: &ConfigSource,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let Some((path, path_source)) = source.path(environment) else {
            return Ok(Self::default());
        };
        match Self::read(&path) {
            Err(ConfigError::Unreadable { source, .. })
                if source.kind() == ErrorKind::NotFound && path_source == ValueSource::Default =>
            {
                Ok(Self::default())
            }
            other => other,
        }
    }

    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = read_text(path)?;
        let mut file: Self = parse_toml(path, &text)?;
        file.path = Some(path.to_owned());
        file.text = text;
        if let Some(base) = path.parent() {
            let keys = file
                .providers
                .values_mut()
                .map(|table| &mut table.api_key_file);
            let others = [&mut file.http.ca_file, &mut file.prices];
            let paths = keys.chain(others).flatten().chain(&mut file.tools);
            for path in paths.map(Spanned::as_mut) {
                *path = base.join(&*path);
            }
        }
        Ok(file)
    }

    /// Returns the error that the value of a key is invalid.
    pub(super) fn invalid_value<T>(
        &self,
        key: &str,
        value: &Spanned<T>,
        problem: &str,
    ) -> ConfigError {
        let line = line_at(&self.text, value.span().start);
        ConfigError::Invalid {
            path: self.path.clone().unwrap_or_default(),
            reason: format!("line {line}: {key}: {problem}"),
        }
    }

    /// Returns a value of the file with its line.
    pub(super) fn with_line<T: Clone>(
        &self,
        value: Option<&Spanned<T>>,
    ) -> Option<SourcedValue<T>> {
        let value = value?;
        Some(SourcedValue {
            value: value.as_ref().clone(),
            source: ValueSource::File {
                path: self.path.clone().unwrap_or_default(),
                line: line_at(&self.text, value.span().start),
            },
        })
    }
}

/// Returns the number of the line with this byte.
fn line_at(text: &str, position: usize) -> usize {
    let before = text.get(..position).unwrap_or(text);
    before.matches('\n').count() + 1
}

pub(super) fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    parse_toml(path, &read_text(path)?)
}

fn read_text(path: &Path) -> Result<String, ConfigError> {
    fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })
}

fn parse_toml<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(0, |span| line_at(text, span.start));
        let message = error.message().replace('\n', " ");
        ConfigError::Invalid {
            path: path.to_owned(),
            reason: format!("line {line}: {message}"),
        }
    })
}

/// `[agents.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AgentTable {
    /// The directory of its sessions, relative to the file; `~/` is the home directory.
    pub(super) root: Option<PathBuf>,
    /// The agent whose format it uses.
    pub(super) format: Option<Spanned<String>>,
    /// The homes of a known agent, by name.
    pub(super) homes: BTreeMap<String, PathBuf>,
}

/// `[providers.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ProviderTable {
    /// The known provider whose settings it uses.
    pub(super) preset: Option<String>,
    pub(super) base_url: Option<Spanned<String>>,
    /// The variable that contains the key.
    pub(super) api_key_env: Option<String>,
    /// The file whose first line is the key.
    pub(super) api_key_file: Option<Spanned<PathBuf>>,
    /// The command that prints the key.
    pub(super) api_key_cmd: Option<Spanned<CommandWords>>,
    /// Headers of every request.
    pub(super) headers: BTreeMap<String, String>,
    /// Whether keys are sent unencrypted outside private networks.
    pub(super) allow_plain_http: bool,
    /// Differences of its API from the preset.
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
    /// Returns the program and its arguments.
    pub(super) fn into_words(self) -> Vec<String> {
        match self {
            Self::Line(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
            Self::Words(words) => words,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct HttpTable {
    /// A PEM file with certificates to trust in addition to the system's.
    pub(super) ca_file: Option<Spanned<PathBuf>>,
    pub(super) connect_timeout_ms: Option<Spanned<u64>>,
    /// Maximum time between two parts of a response.
    pub(super) idle_timeout_ms: Option<Spanned<u64>>,
    /// The timeout of a request, including retries.
    pub(super) timeout_ms: Option<Spanned<u64>>,
}

/// Reads a settings file of an agent, JSON with comments.
///
/// # Errors
/// The file is missing, unreadable or invalid.
pub(super) fn read_agent_settings<T: DeserializeOwned>(path: &Path) -> Result<T, ConfigError> {
    let text = read_text(path)?;
    serde_json::from_str(&blank_comments(&text)).map_err(|error| ConfigError::Invalid {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Sessions that agents keep longer than this many days need no warning.
const MAX_RETENTION: u64 = 365;

/// Returns a warning if an agent deletes the sessions in a directory within a year.
pub fn deletion_warning(root: &Root) -> Option<String> {
    let format = root.agent?.format();
    let (name, default_days) = format.layout.retention?;
    let file = root.path.parent()?.join(format.hook_settings?.file());
    // Without readable settings, the default retention applies.
    let settings: Value = read_agent_settings(&file).unwrap_or_default();
    let days = settings
        .get(name)
        .map_or(Some(default_days), Value::as_u64)?;
    let period = (days <= MAX_RETENTION).then(|| format_count(days, "day", "days"))?;
    let file = file.display();
    Some(format!(
        "deleted after {period} (`{name}` in {file}); `turnpipe session archive DIR` keeps them"
    ))
}

/// Replaces comments with spaces, so that errors have the right line and column.
fn blank_comments(text: &str) -> String {
    let mut blanked = text.to_owned();
    let mut scanner = Scanner::new(text, &ScannerOptions::default());
    // The JSON parser reports text that the scanner refuses.
    while let Ok(Some(token)) = scanner.scan() {
        if matches!(token, Token::CommentLine(_) | Token::CommentBlock(_)) {
            let range = scanner.token_start()..scanner.token_end();
            let bytes = text.get(range.clone()).unwrap_or_default().bytes();
            let spaces = bytes.map(|byte| if byte == b'\n' { '\n' } else { ' ' });
            blanked.replace_range(range, &spaces.collect::<String>());
        }
    }
    blanked
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
    fn a_missing_default_file_is_ignored_but_not_a_named_one() {
        let home: Environment = [("HOME", "/nonexistent")].into_iter().collect();
        assert!(ConfigFile::load(&ConfigSource::Default, &home).is_ok());
        assert!(ConfigFile::load(&ConfigSource::Default, &Environment::default()).is_ok());
        for name in ["HOME", "XDG_CONFIG_HOME"] {
            for place in [".", "/proc/self/cwd"] {
                let leads_here: Environment = [(name, place)].into_iter().collect();
                assert_eq!(
                    ConfigSource::Default.path(&leads_here),
                    None,
                    "{name}={place}"
                );
            }
        }
        let named: Environment = [("TURNPIPE_CONFIG", "/nonexistent")].into_iter().collect();
        assert!(ConfigFile::load(&ConfigSource::Default, &named).is_err());
    }

    #[test]
    fn manifests_are_relative_to_the_file() {
        let file = load("tools = [\"tools.toml\"]\n").unwrap();
        assert!(file.tools[0].as_ref().is_absolute(), "{:?}", file.tools);
    }
}
