//! Connections to models, by name.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use super::key::{Key, KeyScheme, KeySource, Preset, find_preset, known_providers};
use super::provider::{ModelSettings, ProviderSettings};

use super::recording::{Recorder, Recording, RecordingError, Target};
use super::remote::{Access, Remote, Shared};
use super::retry::RetryPolicy;
use super::transport::Transport;
use super::{
    Delivery, Dialect, Failure, Model, ModelName, Pace, Provider, RemoteModel, Reply, ReplyEvent,
    Request,
};
use crate::client::http::{Address, Client, Engine, Header, Outgoing};
use crate::io::{CancelToken, Clock, Environment, Ids, Io};
use crate::process::Supervisor;
use crate::text::find_similar;

/// Error connecting to a model.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("unknown model provider `{name}`")]
    UnknownProvider {
        name: String,
        /// A similar provider that exists.
        suggestion: Option<String>,
    },
    /// A configured provider cannot be used.
    #[error("model provider `{name}`: {reason}")]
    UnusableProvider { name: String, reason: String },
    /// No API key is configured.
    #[error("no key for {provider}: set {variable}, or `api_key_cmd` in the configuration")]
    NoKey {
        provider: String,
        /// The environment variable for its key.
        variable: String,
    },
    /// The recording cannot be used.
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

/// Whether connecting requires an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCheck {
    /// A missing key is an error.
    Required,
    /// A missing key is ignored, because no request is sent.
    Optional,
}

/// Dependencies of models.
#[derive(Clone)]
pub struct ModelDeps {
    /// The environment of key commands.
    pub environment: Environment,
    pub clock: Arc<dyn Clock>,
    /// Source of call ids and random numbers.
    pub ids: Arc<dyn Ids>,
    /// Supervisor of key commands.
    pub children: Supervisor,
}

impl ModelDeps {
    /// Returns the dependencies of the process.
    pub fn from_io(io: &Io, children: &Supervisor) -> Self {
        Self {
            environment: io.environment.clone(),
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
            children: children.clone(),
        }
    }
}

/// Connects to models. They share an HTTP client and its thread, which starts with the first request.
pub struct Connector {
    settings: ModelSettings,
    deps: ModelDeps,
    engine: Engine,
    client: Arc<Client>,
    keys: KeyCheck,
    /// Records every exchange, if set.
    pub recorder: Option<Arc<Recorder>>,
    /// Retry limits.
    pub policy: RetryPolicy,
    /// Rate limit and scheduling, shared by all models.
    pub pace: Option<Arc<Pace>>,
}

impl Connector {
    /// Creates a connector. Opens no connection.
    pub fn new(settings: ModelSettings, deps: ModelDeps, keys: KeyCheck) -> Self {
        let client = Arc::new(Client::new(settings.http.clone()));
        Self {
            settings,
            deps,
            engine: Engine::default(),
            client,
            keys,
            recorder: None,
            policy: RetryPolicy::default(),
            pace: None,
        }
    }

    /// Returns the model of this name. Sends nothing.
    ///
    /// # Errors
    /// The provider is unknown or has no key, or a file cannot be used.
    pub fn connect(&self, name: &ModelName) -> Result<Model, ConnectError> {
        Ok(match name {
            ModelName::None => Model::None,
            ModelName::Builtin => Model::Builtin,
            ModelName::Replay(path) => Model::Provider(self.open_recording(path)?),
            ModelName::Remote(remote) => Model::Provider(Arc::new(self.connect_remote(remote)?)),
        })
    }

    fn connect_remote(&self, model: &RemoteModel) -> Result<Remote, ConnectError> {
        let (preset, settings) = self.find_provider(&model.provider)?;
        let base = settings.base_url.as_deref().unwrap_or(&preset.base_url);
        let target = parse_target(model.clone(), base)?;
        let needs_key = match preset.key {
            KeyScheme::Bearer | KeyScheme::Header(_) => settings.base_url.is_none(),
            KeyScheme::BearerIfAny => false,
        };
        if needs_key && settings.key == KeySource::None && self.keys == KeyCheck::Required {
            return Err(ConnectError::NoKey {
                provider: model.provider.clone(),
                variable: format!("{}_API_KEY", model.provider.to_uppercase()),
            });
        }
        let is_set = |name: &str| {
            let mut names = settings.headers.iter().map(|header| &header.name);
            names.any(|known| known.eq_ignore_ascii_case(name))
        };
        let unset = preset.headers.iter().filter(|(name, _)| !is_set(name));
        let defaults = unset.map(|(name, value)| Header::public(name, value));
        let access = Access {
            headers: defaults.chain(settings.headers.iter().cloned()).collect(),
            key: Key {
                source: settings.key.clone(),
                scheme: preset.key.clone(),
                environment: self.deps.environment.clone(),
                children: self.deps.children.clone(),
                fetched: OnceLock::new(),
            },
            plain_text: settings.plain_text,
        };
        let dialect = preset
            .dialect(&model.model)
            .with_overrides(&settings.dialect);
        let transport = Transport::Network(Arc::clone(&self.client), self.recorder.clone());
        Ok(self.build_model(target, access, dialect, transport))
    }

    /// Returns the preset of a provider and its configured settings.
    fn find_provider(
        &self,
        name: &str,
    ) -> Result<(&'static Preset, ProviderSettings), ConnectError> {
        let settings = self.settings.providers.get(name);
        let preset_name = settings.and_then(|settings| settings.preset.as_deref());
        let reason = match (
            find_preset(preset_name.unwrap_or(name)),
            settings,
            preset_name,
        ) {
            (Some(preset), settings, _) => {
                let settings = settings.cloned().unwrap_or_default();
                if preset.name == name || settings.base_url.is_some() {
                    return Ok((preset, settings));
                }
                "a `base_url` is missing".to_owned()
            }
            (None, Some(_), Some(preset_name)) => format!("unknown preset `{preset_name}`"),
            (None, Some(_), None) => {
                "a `preset` is missing: the known provider that it resembles".to_owned()
            }
            (None, None, _) => {
                return Err(ConnectError::UnknownProvider {
                    name: name.to_owned(),
                    suggestion: suggest_provider(name),
                });
            }
        };
        Err(ConnectError::UnusableProvider {
            name: name.to_owned(),
            reason,
        })
    }

    fn open_recording(&self, path: &Path) -> Result<Arc<dyn Provider>, ConnectError> {
        let recording = Arc::new(Recording::read(path)?);
        let mut models: Vec<Remote> = Vec::new();
        for exchange in recording.exchanges() {
            let model = RemoteModel {
                provider: exchange.provider.clone(),
                model: exchange.model.clone(),
            };
            let target = parse_target(model, &exchange.base_url)?;
            // An adapted model occurs in several dialects; the first is the original.
            if models.iter().all(|model| model.shared.target != target) {
                let transport = Transport::Replayed(Arc::clone(&recording));
                let dialect = exchange.dialect.clone();
                models.push(self.build_model(target, Access::default(), dialect, transport));
            }
        }
        Ok(Arc::new(Replayed { recording, models }))
    }

    fn build_model(
        &self,
        target: Target,
        access: Access,
        dialect: Dialect,
        transport: Transport,
    ) -> Remote {
        let shared = Shared {
            name: target.model.to_string(),
            target,
            access,
            dialect: Mutex::new(dialect),
            transport,
            limits: self.settings.http.limits,
            policy: self.policy,
            pace: self.pace.clone(),
            clock: Arc::clone(&self.deps.clock),
            ids: Arc::clone(&self.deps.ids),
        };
        Remote {
            engine: self.engine.clone(),
            shared: Arc::new(shared),
        }
    }
}

fn parse_target(model: RemoteModel, base: &str) -> Result<Target, ConnectError> {
    match Address::parse(base) {
        Ok(base) => Ok(Target { model, base }),
        Err(error) => Err(ConnectError::UnusableProvider {
            name: model.provider,
            reason: error.to_string(),
        }),
    }
}

/// Returns a known provider with a similar name.
fn suggest_provider(name: &str) -> Option<String> {
    find_similar(name, known_providers()).map(str::to_owned)
}

/// Replays recorded models. The first model with the same recorded request is used.
struct Replayed {
    recording: Arc<Recording>,
    /// The recorded models; at least one.
    models: Vec<Remote>,
}

impl Replayed {
    fn find_model(&self, request: &Request, delivery: Delivery) -> Result<&Remote, Failure> {
        let encode = |model: &Remote| {
            let shared = &model.shared;
            shared.encode_request(&shared.dialect(), request, delivery)
        };
        let encoded: Vec<Outgoing> = self.models.iter().map(encode).collect();
        let mut models = self.models.iter().zip(&encoded);
        let matching = models.find(|(_, encoded)| self.recording.contains(encoded));
        matching
            .map(|(model, _)| model)
            .ok_or_else(|| self.recording.unrecorded_failure(&encoded))
    }
}

impl Provider for Replayed {
    fn name(&self) -> &str {
        self.models.first().map_or("", Remote::name)
    }

    fn ask(
        &self,
        request: &Request,
        delivery: Delivery,
        stop: &CancelToken,
        sink: &mut dyn FnMut(ReplyEvent),
    ) -> Result<Reply, Failure> {
        let model = self.find_model(request, delivery)?;
        model.ask(request, delivery, stop, sink)
    }

    fn body(&self, request: &Request, delivery: Delivery) -> String {
        let model = self
            .find_model(request, delivery)
            .ok()
            .or(self.models.first());
        model.map_or_else(String::new, |model| model.body(request, delivery))
    }
}
