//! Presets of providers and models, from `presets.toml`, and keys of providers.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use serde::Deserialize;

use super::Failure;
use crate::api::{Dialect, DialectOverrides};
use crate::client::http::{Header, Secret};
use crate::io::{CancelToken, Environment};
use crate::process::{Capture, Command, Ended, ExitStatus, Limits, Stdin, Supervisor};

/// Time limit of a key command, unless the request has less time.
const KEY_COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum length of a key, in bytes.
const MAX_KEY_BYTES: u64 = 16 * 1024;

/// Source of an API key. Keys are never shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KeySource {
    /// No key is used.
    #[default]
    None,
    /// A key in the environment.
    Key(Secret),
    /// A token for the `authorization` header, in the environment.
    Token(Secret),
    /// First line of a file.
    File(PathBuf),
    /// First line of a command's output; the words of the command.
    Command(Vec<String>),
}

/// A key that is read on first use.
#[derive(Debug, Default)]
pub(super) struct Key {
    pub(super) source: KeySource,
    pub(super) scheme: KeyScheme,
    pub(super) environment: Environment,
    pub(super) children: Supervisor,
    pub(super) fetched: OnceLock<Result<Option<Header>, Failure>>,
}

impl Key {
    /// Returns the header with the key. The first call may run a command for up to `limit`.
    ///
    /// # Errors
    /// No usable key was found.
    pub(super) fn load_header(&self, limit: Duration) -> Result<Option<Header>, Failure> {
        self.fetched.get_or_init(|| self.read_header(limit)).clone()
    }

    fn read_header(&self, limit: Duration) -> Result<Option<Header>, Failure> {
        let secret = match &self.source {
            KeySource::None => return Ok(None),
            KeySource::Key(secret) => check_key(secret.expose(), "the key in the environment")?,
            KeySource::Token(secret) => {
                let secret = check_key(secret.expose(), "the token in the environment")?;
                return Ok(Some(bearer(&secret)));
            }
            KeySource::File(path) => {
                let source_name = format!("the key file {}", path.display());
                let text = std::fs::read_to_string(path)
                    .map_err(|error| unusable_key(format!("{source_name}: {error}")))?;
                check_key(&text, &source_name)?
            }
            KeySource::Command(words) => check_key(
                &self.run_key_command(words, limit)?,
                "the output of the key command",
            )?,
        };
        Ok(Some(match &self.scheme {
            KeyScheme::Bearer | KeyScheme::BearerIfAny => bearer(&secret),
            KeyScheme::Header(name) => Header::secret(name.clone(), secret),
        }))
    }

    fn run_key_command(&self, words: &[String], limit: Duration) -> Result<String, Failure> {
        let limit = limit.min(KEY_COMMAND_TIMEOUT);
        let Some((program, arguments)) = words.split_first() else {
            return Err(unusable_key("the key command is empty".to_owned()));
        };
        let command = Command {
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: self
                .environment
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            directory: PathBuf::from("."),
            stdin: Stdin::Null,
            report: None,
            capture: Capture::default(),
            limits: Limits::with_timeout(limit),
        };
        let finished = self
            .children
            .spawners(1)
            .run(&command, &CancelToken::default())
            .map_err(|error| unusable_key(format!("the key command: {error}")))?;
        match (finished.ended, finished.status) {
            (Ended::Exited, ExitStatus::Code(0)) => finished
                .stdout
                .prefix_text(MAX_KEY_BYTES)
                .map_err(|error| unusable_key(format!("the key command: {error}"))),
            (Ended::Exited, status) => {
                let code = status.shell_code();
                Err(unusable_key(format!(
                    "the key command failed with status {code}"
                )))
            }
            (Ended::TimedOut | Ended::Cancelled, _) => {
                let milliseconds = limit.as_millis();
                Err(unusable_key(format!(
                    "the key command took more than {milliseconds} ms"
                )))
            }
        }
    }
}

fn bearer(secret: &str) -> Header {
    Header::secret("authorization", format!("Bearer {secret}"))
}

/// Returns the first line, if it can be a key. The error does not contain the line.
fn check_key(text: &str, source_name: &str) -> Result<String, Failure> {
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(unusable_key(format!("{source_name} is empty")));
    }
    if !line.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unusable_key(format!(
            "{source_name} contains characters that are invalid in keys"
        )));
    }
    Ok(line.to_owned())
}

fn unusable_key(message: String) -> Failure {
    Failure::Unusable { message }
}

const PRESETS_TOML: &str = include_str!("presets.toml");

/// The presets. A test checks that the file is valid.
static PRESETS: LazyLock<Presets> =
    LazyLock::new(|| toml::from_str(PRESETS_TOML).unwrap_or_default());

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Presets {
    provider: Vec<Preset>,
    /// Overrides for models of a provider, by prefix of the model name.
    models: BTreeMap<String, BTreeMap<String, DialectOverrides>>,
}

/// Preset of a provider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Preset {
    pub(super) name: String,
    /// Name prefix of the provider's best-known models.
    family: Option<String>,
    /// Base URL; the API appends a path.
    pub(super) base_url: String,
    pub(super) key: KeyScheme,
    /// Headers of all requests.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
    dialect: Dialect,
}

/// Header that carries the API key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KeyScheme {
    /// Bearer token; the key is required.
    Bearer,
    /// Bearer token, if there is a key.
    #[default]
    BearerIfAny,
    /// This header; the key is required.
    Header(String),
}

/// Returns the preset of this name.
pub(super) fn find_preset(name: &str) -> Option<&'static Preset> {
    PRESETS.provider.iter().find(|preset| preset.name == name)
}

/// Returns the names of all presets.
pub fn known_providers() -> impl Iterator<Item = &'static str> {
    PRESETS.provider.iter().map(|preset| preset.name.as_str())
}

/// Returns the name of the provider whose best-known models have names like this one.
pub fn guess_provider(model: &str) -> Option<&'static str> {
    let mut providers = PRESETS.provider.iter();
    let is_known_for = |preset: &&Preset| {
        let family = preset.family.as_deref();
        family.is_some_and(|family| model.starts_with(family))
    };
    providers
        .find(is_known_for)
        .map(|preset| preset.name.as_str())
}

impl Preset {
    /// Returns the dialect of a model.
    pub(super) fn dialect(&self, model: &str) -> Dialect {
        let rules = PRESETS.models.get(&self.name).into_iter().flatten();
        let rule = rules
            .filter(|(prefix, _)| model.starts_with(prefix.as_str()))
            .max_by_key(|(prefix, _)| prefix.len());
        let dialect = self.dialect.clone();
        match rule {
            Some((_, rule)) => dialect.with_overrides(rule),
            None => dialect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(source: KeySource, scheme: KeyScheme) -> Result<Option<Header>, Failure> {
        let key = Key {
            source,
            scheme,
            environment: [("PATH", "/usr/bin:/bin"), ("CANARY", "sk-canary")]
                .into_iter()
                .collect(),
            children: Supervisor::default(),
            fetched: OnceLock::new(),
        };
        key.load_header(Duration::from_secs(30))
    }

    #[test]
    fn keys_are_read_from_all_sources() {
        let expected = Header::secret("authorization", "Bearer sk-canary");
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        std::fs::write(&file, "sk-canary\n").unwrap();
        let command = ["sh", "-c", "echo \"$CANARY\"; echo more"].map(str::to_owned);
        for source in [
            KeySource::Key(Secret::new("sk-canary")),
            KeySource::Token(Secret::new("sk-canary")),
            KeySource::File(file),
            KeySource::Command(command.into()),
        ] {
            assert_eq!(
                header(source, KeyScheme::Bearer),
                Ok(Some(expected.clone()))
            );
        }
        assert_eq!(header(KeySource::None, KeyScheme::Bearer), Ok(None));
        let named = header(
            KeySource::Key(Secret::new("sk-canary")),
            KeyScheme::Header("x-api-key".to_owned()),
        );
        assert_eq!(named, Ok(Some(Header::secret("x-api-key", "sk-canary"))));
    }

    #[test]
    fn a_command_gets_at_most_the_time_of_the_request() {
        let key = Key {
            source: KeySource::Command(["sleep", "20"].map(str::to_owned).into()),
            scheme: KeyScheme::Bearer,
            environment: [("PATH", "/usr/bin:/bin")].into_iter().collect(),
            children: Supervisor::default(),
            fetched: OnceLock::new(),
        };
        let failure = key.load_header(Duration::from_millis(50)).unwrap_err();
        let message = "the key command took more than 50 ms";
        assert_eq!(failure.to_string(), message);
    }

    #[test]
    fn an_invalid_key_is_not_repeated() {
        let command =
            |script: &str| KeySource::Command(["sh", "-c", script].map(str::to_owned).into());
        for source in [
            KeySource::Key(Secret::new("sk canary")),
            KeySource::Key(Secret::new("canary\u{7}")),
            KeySource::Key(Secret::new("  ")),
            KeySource::File("/nonexistent/key".into()),
            command("echo canary; exit 3"),
            command(""),
            KeySource::Command(vec!["/nonexistent/program".to_owned()]),
            KeySource::Command(Vec::new()),
        ] {
            let failure = header(source, KeyScheme::Bearer).unwrap_err();
            assert!(!failure.to_string().contains("canary"), "{failure}");
            assert!(!format!("{failure:?}").contains("canary"));
        }
    }
}

#[cfg(test)]
mod presets_tests {
    use super::*;
    use crate::api::Acceptance;
    use crate::api::CacheMarks::From;

    #[test]
    fn the_file_is_sorted() {
        let presets: Presets = toml::from_str(PRESETS_TOML).unwrap();
        for provider in presets.models.keys() {
            assert!(find_preset(provider).is_some(), "{provider}");
        }
    }

    #[test]
    fn every_address_in_the_table_accepts_keys() {
        for preset in &PRESETS.provider {
            let address = crate::client::http::Address::parse(&preset.base_url).unwrap();
            address
                .check_secrets_allowed(crate::client::http::PlainText::Nearby)
                .unwrap();
        }
    }

    #[test]
    fn models_differ_by_the_longest_prefix() {
        let dialect = |provider, model| find_preset(provider).unwrap().dialect(model);
        let effort = |model| {
            dialect("openai", model)
                .thinking_off
                .get("reasoning_effort")
                .cloned()
        };
        assert_eq!(effort("gpt-5-mini"), Some("minimal".into()));
        assert_eq!(effort("gpt-5.1"), Some("none".into()));
        assert_eq!(effort("gpt-5-chat-latest"), None);
        assert_eq!(effort("gpt-4.1-mini"), None);
        assert_eq!(
            dialect("openai", "o4-mini").temperature,
            Acceptance::Refused
        );
        assert_eq!(
            dialect("openai", "gpt-4.1-mini").temperature,
            Acceptance::Sent
        );
        let marks = |model| dialect("anthropic", model).cache_marks;
        assert_eq!(marks("claude-haiku-4-5"), From(4096));
        assert_eq!(marks("claude-sonnet-4-5"), From(1024));
        assert_eq!(marks("claude-sonnet-4-6"), From(2048));
        assert_eq!(marks("claude-opus-4-5"), From(4096));
        assert_eq!(marks("claude-opus-4-20250514"), From(1024));
    }
}
