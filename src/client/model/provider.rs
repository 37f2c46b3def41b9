//! Interface of models.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use super::key::KeySource;
use super::{Delivery, Failure, Reply, ReplyPart, Request};
use crate::api::DialectOverrides;
use crate::client::http::{Header, HttpSettings, PlainText};
use crate::io::CancelToken;

/// A model. Calls block until the reply is complete, and may be made from several threads.
pub trait Provider: Send + Sync {
    /// Returns the name of the model in records, e.g. `openai:gpt-5-mini`.
    fn name(&self) -> &str;

    /// Sends a request and returns the complete reply. Streams its deltas to `sink`; they are not
    /// withdrawn if the request then fails. When `stop` fires, the connection is closed at once and the
    /// failure is [`Failure::Aborted`].
    ///
    /// # Errors
    /// The reply is incomplete or unusable.
    fn ask(
        &self,
        request: &Request,
        delivery: Delivery,
        stop: &CancelToken,
        sink: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Reply, Failure>;

    /// Sends a request and returns the complete reply, without streaming.
    ///
    /// # Errors
    /// As in [`Provider::ask`].
    fn complete(&self, request: &Request, stop: &CancelToken) -> Result<Reply, Failure> {
        self.ask(request, Delivery::Whole, stop, &mut |_| ())
    }

    /// Returns the names of the models on the server; empty without a server.
    ///
    /// # Errors
    /// The server cannot list models.
    fn models(&self, _: &CancelToken) -> Result<Vec<String>, Failure> {
        Ok(Vec::new())
    }

    /// Returns the exact body of a request. Sends nothing.
    fn body(&self, request: &Request, delivery: Delivery) -> String;
}

/// Event during a request.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyEvent {
    /// The reply was cut off and starts again: discard all earlier deltas. Only sent if the request is
    /// retried.
    Restart,
    /// The request failed and is retried after a delay.
    Retry {
        /// Number of failed attempts.
        failures: u32,
        /// Delay, in milliseconds.
        wait_ms: u64,
        failure: Box<Failure>,
    },
    /// A delta of the reply.
    Part(ReplyPart),
}

/// A model chosen by name.
#[derive(Clone)]
pub enum Model {
    /// No model: no request is sent.
    None,
    /// The rules that need no model.
    Builtin,
    /// A model of a provider or recording.
    Provider(Arc<dyn Provider>),
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelSettings {
    /// The model for labels, titles and recaps.
    pub fast: Option<ChosenModel>,
    /// The model for conversations.
    pub main: Option<ChosenModel>,
    /// Settings of providers, by name.
    pub providers: BTreeMap<String, ProviderSettings>,
    pub http: HttpSettings,
}

/// A configured model. Its name is checked on first use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    pub name: String,
    /// Name of the option or variable that sets the model, or its key in the configuration file.
    pub origin: &'static str,
}

impl ChosenModel {
    /// Creates the choice of the model `name` by an option, a variable or a key.
    pub fn new(name: &str, origin: &'static str) -> Self {
        let name = name.to_owned();
        Self { name, origin }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderSettings {
    /// Name of the preset; by default the provider's own name.
    pub preset: Option<String>,
    pub base_url: Option<String>,
    /// Source of the API key.
    pub key: KeySource,
    /// Headers of all requests.
    pub headers: Vec<Header>,
    /// Hosts that may receive keys unencrypted.
    pub plain_text: PlainText,
    /// Overrides of the dialect.
    pub dialect: DialectOverrides,
}

/// Name of a model. Whether the provider exists is checked when connecting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelName {
    /// No model (`none`).
    None,
    /// The rules that need no model (`builtin`).
    Builtin,
    /// The replies of a recording (`replay:FILE`).
    Replay(PathBuf),
    Remote(RemoteModel),
}

/// Name of a provider's model.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RemoteModel {
    /// Name of the provider: a preset (`openai`) or a configured one.
    pub provider: String,
    /// Name of the model at the provider; may contain colons and slashes.
    pub model: String,
}

/// Error parsing a model name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a model: `{text}`: {reason}")]
pub struct InvalidModelName {
    text: String,
    reason: &'static str,
}

impl FromStr for ModelName {
    type Err = InvalidModelName;

    fn from_str(text: &str) -> Result<Self, InvalidModelName> {
        let invalid = |reason| InvalidModelName {
            text: text.to_owned(),
            reason,
        };
        let text = text.trim();
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            None if text == "builtin" => Ok(Self::Builtin),
            None => Err(invalid(
                "expected a provider and a colon, as in `openai:gpt-5-mini`",
            )),
            Some((_, "")) => Err(invalid("the name after the colon is missing")),
            Some(("replay", file)) => Ok(Self::Replay(file.into())),
            Some((provider, _)) if !is_provider(provider) => Err(invalid(
                "the name of a provider consists of lower-case letters, digits, `-` and `_`",
            )),
            Some((provider, model)) => Ok(Self::Remote(RemoteModel {
                provider: provider.to_owned(),
                model: model.to_owned(),
            })),
        }
    }
}

fn is_provider(name: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_allowed)
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Builtin => formatter.write_str("builtin"),
            Self::Replay(file) => write!(formatter, "replay:{}", file.display()),
            Self::Remote(remote) => remote.fmt(formatter),
        }
    }
}

impl fmt::Display for RemoteModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "none",
            "builtin",
            "replay:a b/c:d.jsonl",
            "openai:gpt-5-mini",
            "ollama:qwen3:8b",
            "openrouter:qwen/qwen3:free",
            "my_lab-2:m",
        ] {
            assert_eq!(name.parse::<ModelName>().unwrap().to_string(), name);
        }
        let remote = "ollama:qwen3:8b".parse::<ModelName>().unwrap();
        assert_eq!(
            remote,
            ModelName::Remote(RemoteModel {
                provider: "ollama".to_owned(),
                model: "qwen3:8b".to_owned(),
            })
        );
    }

    #[test]
    fn errors_about_names_give_the_reason() {
        for text in ["", "gpt-5", ":", "openai:", ":m", "Open AI:m", "replay:"] {
            assert!(text.parse::<ModelName>().is_err(), "{text}");
        }
        let error = "gpt-5".parse::<ModelName>().unwrap_err().to_string();
        assert!(error.starts_with("not a model: `gpt-5`: "), "{error}");
    }
}
