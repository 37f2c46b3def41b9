//! API keys and their sources.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use super::Failure;
use super::presets::KeyScheme;
use crate::http::{Header, Secret};
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
    Given(Secret),
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
    pub(super) fn header(&self, limit: Duration) -> Result<Option<Header>, Failure> {
        self.fetched.get_or_init(|| self.fetch(limit)).clone()
    }

    fn fetch(&self, limit: Duration) -> Result<Option<Header>, Failure> {
        let secret = match &self.source {
            KeySource::None => return Ok(None),
            KeySource::Given(secret) => usable(secret.expose(), "the key in the environment")?,
            KeySource::Token(secret) => {
                let secret = usable(secret.expose(), "the token in the environment")?;
                return Ok(Some(bearer(&secret)));
            }
            KeySource::File(path) => {
                let source_name = format!("the key file {}", path.display());
                let text = std::fs::read_to_string(path)
                    .map_err(|error| unusable(format!("{source_name}: {error}")))?;
                usable(&text, &source_name)?
            }
            KeySource::Command(words) => usable(
                &self.printed(words, limit)?,
                "the output of the key command",
            )?,
        };
        Ok(Some(match &self.scheme {
            KeyScheme::Bearer | KeyScheme::BearerIfAny => bearer(&secret),
            KeyScheme::Header(name) => Header::secret(name.clone(), secret),
        }))
    }

    fn printed(&self, words: &[String], limit: Duration) -> Result<String, Failure> {
        let limit = limit.min(KEY_COMMAND_TIMEOUT);
        let Some((program, arguments)) = words.split_first() else {
            return Err(unusable("the key command is empty".to_owned()));
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
            .map_err(|error| unusable(format!("the key command: {error}")))?;
        match (finished.ended, finished.status) {
            (Ended::Exited, ExitStatus::Code(0)) => finished
                .stdout
                .prefix_text(MAX_KEY_BYTES)
                .map_err(|error| unusable(format!("the key command: {error}"))),
            (Ended::Exited, status) => {
                let code = status.shell_code();
                Err(unusable(format!(
                    "the key command failed with status {code}"
                )))
            }
            (Ended::TimedOut | Ended::Cancelled, _) => {
                let milliseconds = limit.as_millis();
                Err(unusable(format!(
                    "the key command took more than {milliseconds} ms"
                )))
            }
        }
    }
}

fn bearer(secret: &str) -> Header {
    Header::secret("authorization", format!("Bearer {secret}"))
}

/// Returns the first line, if it can be a key. The error does not contain it.
fn usable(text: &str, source_name: &str) -> Result<String, Failure> {
    let line = text.lines().next().unwrap_or_default().trim();
    if line.is_empty() {
        return Err(unusable(format!("{source_name} is empty")));
    }
    if !line.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(unusable(format!(
            "{source_name} contains characters that are invalid in keys"
        )));
    }
    Ok(line.to_owned())
}

fn unusable(message: String) -> Failure {
    Failure::Unusable { message }
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
        key.header(Duration::from_secs(30))
    }

    #[test]
    fn keys_are_read_from_all_sources() {
        let expected = Header::secret("authorization", "Bearer sk-canary");
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("key");
        std::fs::write(&file, "sk-canary\n").unwrap();
        let command = ["sh", "-c", "echo \"$CANARY\"; echo more"].map(str::to_owned);
        for source in [
            KeySource::Given(Secret::new("sk-canary")),
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
            KeySource::Given(Secret::new("sk-canary")),
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
        let failure = key.header(Duration::from_millis(50)).unwrap_err();
        let message = "the key command took more than 50 ms";
        assert_eq!(failure.to_string(), message);
    }

    #[test]
    fn an_invalid_key_is_not_repeated() {
        let command =
            |script: &str| KeySource::Command(["sh", "-c", script].map(str::to_owned).into());
        for source in [
            KeySource::Given(Secret::new("sk canary")),
            KeySource::Given(Secret::new("canary\u{7}")),
            KeySource::Given(Secret::new("  ")),
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
