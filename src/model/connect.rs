//! From a model's name to a model that can be asked.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use super::key::{Key, KeySource};
use super::presets::{KeyScheme, Preset, known_providers, preset};
use super::recording::{Recorder, Recording, Replayed, UnusableRecording};
use super::remote::{Remote, Shared};
use super::retry::RetryPolicy;
use super::settings::{ModelSettings, ProviderSettings};
use super::transport::{Asker, Transport};
use super::{Dialect, Model, ModelName, Provider, RemoteModel};
use crate::http::{Address, Client, Engine, Header, PlainText, UnusableAddress};
use crate::io::{Clock, Environment, Ids};

/// A model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum Unconnectable {
    /// Nobody knows the provider.
    #[error("unknown model provider `{name}`: neither known nor in the configuration")]
    UnknownProvider {
        /// Its name.
        name: String,
        /// A known one that is spelled like it.
        suggestion: Option<String>,
    },
    /// A provider of the configuration is like none that is known.
    #[error("model provider `{name}`: {reason}")]
    UnusableProvider {
        /// Its name.
        name: String,
        /// What is wrong.
        reason: String,
    },
    /// There is no key.
    #[error("no key for {provider}: set {variable}, or `api_key_cmd` in the configuration")]
    NoKey {
        /// The provider.
        provider: String,
        /// The variable that could hold one.
        variable: String,
    },
    /// The address is of no use.
    #[error("address of {provider}: {source}")]
    Address {
        /// The provider.
        provider: String,
        /// What is wrong with it.
        source: UnusableAddress,
    },
    /// The recording is of no use.
    #[error(transparent)]
    Recording(#[from] UnusableRecording),
}

/// Whether models are connected to that have no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCheck {
    /// No: requests would be refused.
    Demanded,
    /// Yes: nothing will be sent.
    Waived,
}

/// What the outside gives to models.
#[derive(Clone)]
pub struct ModelWorld {
    /// The environment of key commands.
    pub environment: Environment,
    /// The time that waits are held against.
    pub clock: Arc<dyn Clock>,
    /// Ids of calls that have none, and chance.
    pub ids: Arc<dyn Ids>,
}

/// Connects to models. All of them share a client and a thread for requests, which are made when
/// the first one is.
pub struct Connector {
    settings: ModelSettings,
    world: ModelWorld,
    engine: Engine,
    client: Arc<Client>,
    recorder: Option<Arc<Recorder>>,
    keys: KeyCheck,
    policy: RetryPolicy,
}

impl Connector {
    /// A connector; nothing is opened yet.
    pub fn new(settings: ModelSettings, world: ModelWorld, keys: KeyCheck) -> Self {
        let client = Arc::new(Client::new(settings.http.clone()));
        Self {
            settings,
            world,
            engine: Engine::default(),
            client,
            recorder: None,
            keys,
            policy: RetryPolicy::default(),
        }
    }

    /// Every exchange is written down as well.
    #[must_use]
    pub fn recording_to(self, recorder: Recorder) -> Self {
        Self {
            recorder: Some(Arc::new(recorder)),
            ..self
        }
    }

    /// Requests are tried again by this policy.
    #[must_use]
    pub fn with_policy(self, policy: RetryPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The model of this name. Nothing is sent.
    ///
    /// # Errors
    /// There is no such provider, it has no key, or a file is of no use.
    pub fn connect(&self, name: &ModelName) -> Result<Model, Unconnectable> {
        Ok(match name {
            ModelName::Nothing => Model::Nothing,
            ModelName::Builtin => Model::Builtin,
            ModelName::Replay(path) => Model::Provider(self.replay(path)?),
            ModelName::Remote(remote) => Model::Provider(Arc::new(self.remote(remote)?)),
        })
    }

    fn remote(&self, model: &RemoteModel) -> Result<Remote, Unconnectable> {
        let (preset, settings) = self.provider(&model.provider)?;
        let base = settings.base_url.as_deref().unwrap_or(&preset.base_url);
        let base = Address::parse(base).map_err(|source| Unconnectable::Address {
            provider: model.provider.clone(),
            source,
        })?;
        let needs_key = match preset.key {
            KeyScheme::Bearer | KeyScheme::Header(_) => settings.base_url.is_none(),
            KeyScheme::BearerIfAny => false,
        };
        if needs_key && settings.key == KeySource::None && self.keys == KeyCheck::Demanded {
            return Err(Unconnectable::NoKey {
                provider: model.provider.clone(),
                variable: format!("{}_API_KEY", model.provider.to_uppercase()),
            });
        }
        let transport = match &self.recorder {
            Some(recorder) => Transport::Recorded(Arc::clone(&self.client), Arc::clone(recorder)),
            None => Transport::Network(Arc::clone(&self.client)),
        };
        let fixed = preset
            .headers
            .iter()
            .map(|(name, value)| Header::open(name, value));
        let given = |name: &str| {
            settings
                .headers
                .iter()
                .any(|header| header.name.eq_ignore_ascii_case(name))
        };
        let mut headers: Vec<Header> = fixed.filter(|header| !given(&header.name)).collect();
        headers.extend(settings.headers.iter().cloned());
        let dialect = preset.dialect(&model.model).with(&settings.dialect);
        let key = Key {
            source: settings.key.clone(),
            scheme: preset.key.clone(),
            environment: self.world.environment.clone(),
            fetched: OnceLock::new(),
        };
        Ok(self.assemble(Parts {
            model: model.clone(),
            base,
            dialect,
            headers,
            key,
            plain_text: settings.plain_text,
            transport,
        }))
    }

    /// A provider: the known one that it is or is like, and what the configuration says.
    fn provider(&self, name: &str) -> Result<(&'static Preset, ProviderSettings), Unconnectable> {
        let settings = self.settings.providers.get(name);
        let like = settings.and_then(|settings| settings.preset.as_deref());
        if let Some(preset) = preset(like.unwrap_or(name)) {
            let settings = settings.cloned().unwrap_or_default();
            if preset.name != name && settings.base_url.is_none() {
                return Err(Unconnectable::UnusableProvider {
                    name: name.to_owned(),
                    reason: "it has no `base_url`".to_owned(),
                });
            }
            return Ok((preset, settings));
        }
        match (settings, like) {
            (Some(_), Some(like)) => Err(Unconnectable::UnusableProvider {
                name: name.to_owned(),
                reason: format!("there is no preset `{like}`"),
            }),
            (Some(_), None) => Err(Unconnectable::UnusableProvider {
                name: name.to_owned(),
                reason: "a `preset` has to say which known provider it is like".to_owned(),
            }),
            (None, _) => Err(Unconnectable::UnknownProvider {
                name: name.to_owned(),
                suggestion: suggestion(name),
            }),
        }
    }

    fn replay(&self, path: &Path) -> Result<Arc<dyn Provider>, Unconnectable> {
        let recording = Arc::new(Recording::read(path)?);
        let mut models: Vec<Remote> = Vec::new();
        for exchange in recording.models() {
            let known = |model: &Remote| {
                let asker = &model.shared.asker;
                asker.provider == exchange.provider
                    && asker.model == exchange.model
                    && asker.base == exchange.base_url
            };
            // One that was adapted appears in two dialects; the first one it began with.
            if models.iter().any(known) {
                continue;
            }
            let base =
                Address::parse(&exchange.base_url).map_err(|source| Unconnectable::Address {
                    provider: exchange.provider.clone(),
                    source,
                })?;
            models.push(self.assemble(Parts {
                model: RemoteModel {
                    provider: exchange.provider,
                    model: exchange.model,
                },
                base,
                dialect: exchange.dialect,
                headers: Vec::new(),
                key: Key {
                    source: KeySource::None,
                    scheme: KeyScheme::BearerIfAny,
                    environment: Environment::default(),
                    fetched: OnceLock::new(),
                },
                plain_text: PlainText::Nearby,
                transport: Transport::Replayed(Arc::clone(&recording)),
            }));
        }
        let mut models = models.into_iter();
        let Some(first) = models.next() else {
            return Err(UnusableRecording::Empty {
                path: path.to_owned(),
            }
            .into());
        };
        Ok(Arc::new(Replayed {
            recording,
            first,
            others: models.collect(),
        }))
    }

    fn assemble(&self, parts: Parts) -> Remote {
        let shared = Shared {
            name: parts.model.to_string(),
            asker: Asker {
                provider: parts.model.provider,
                model: parts.model.model,
                base: parts.base.to_string(),
            },
            base: parts.base,
            plain_text: parts.plain_text,
            headers: parts.headers,
            key: parts.key,
            dialect: Mutex::new(parts.dialect),
            transport: parts.transport,
            limits: self.settings.http.limits,
            policy: self.policy,
            clock: Arc::clone(&self.world.clock),
            ids: Arc::clone(&self.world.ids),
        };
        Remote {
            engine: self.engine.clone(),
            shared: Arc::new(shared),
        }
    }
}

/// What a model is made of.
struct Parts {
    model: RemoteModel,
    base: Address,
    dialect: Dialect,
    headers: Vec<Header>,
    key: Key,
    plain_text: PlainText,
    transport: Transport,
}

/// A known provider whose name is spelled like `name`.
fn suggestion(name: &str) -> Option<String> {
    known_providers()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= 2)
        .map(|(_, known)| known.to_owned())
}
