//! From the name of a model to a model that can be asked.

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use super::key::{Key, KeySource};
use super::presets::{KeyScheme, Preset, known_providers, preset};
use super::recording::{Recorder, Recording, Replayed, UnusableRecording};
use super::remote::{Access, Remote, Shared};
use super::retry::RetryPolicy;
use super::settings::{ModelSettings, ProviderSettings};
use super::transport::{Target, Transport};
use super::{Dialect, Model, ModelName, Pace, Provider, RemoteModel};
use crate::http::{Address, Client, Engine, Header};
use crate::io::{Clock, Environment, Ids, Io};
use crate::process::Supervisor;

/// A model cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum Unconnectable {
    /// The provider is unknown.
    #[error("unknown model provider `{name}`")]
    UnknownProvider {
        /// Its name.
        name: String,
        /// A known one with a similar name.
        suggestion: Option<String>,
    },
    /// A provider of the configuration cannot be used.
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
        /// The variable that may hold one.
        variable: String,
    },
    /// The recording cannot be used.
    #[error(transparent)]
    Recording(#[from] UnusableRecording),
}

/// Whether a model needs its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyCheck {
    /// Yes: without a key, requests would be refused.
    Demanded,
    /// No: nothing will be sent.
    Waived,
}

/// The dependencies of models.
#[derive(Clone)]
pub struct ModelWorld {
    /// The environment of key commands.
    pub environment: Environment,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Ids for calls without one, and random numbers.
    pub ids: Arc<dyn Ids>,
    /// Supervises key commands.
    pub children: Supervisor,
}

impl ModelWorld {
    /// That of the process.
    pub fn of(io: &Io) -> Self {
        Self {
            environment: io.environment.clone(),
            clock: Arc::clone(&io.clock),
            ids: Arc::clone(&io.ids),
            children: Supervisor::default(),
        }
    }
}

/// Connects to models. They share a client and a thread, which the first request starts.
pub struct Connector {
    settings: ModelSettings,
    world: ModelWorld,
    engine: Engine,
    client: Arc<Client>,
    keys: KeyCheck,
    /// Writes every exchange down.
    pub recorder: Option<Arc<Recorder>>,
    /// When requests are tried again.
    pub policy: RetryPolicy,
    /// When requests are sent.
    pub pace: Option<Arc<Pace>>,
}

impl Connector {
    /// A connector. Nothing is opened yet.
    pub fn new(settings: ModelSettings, world: ModelWorld, keys: KeyCheck) -> Self {
        let client = Arc::new(Client::new(settings.http.clone()));
        Self {
            settings,
            world,
            engine: Engine::default(),
            client,
            keys,
            recorder: None,
            policy: RetryPolicy::default(),
            pace: None,
        }
    }

    /// The model of this name. Nothing is sent.
    ///
    /// # Errors
    /// The provider is unknown or has no key, or a file cannot be used.
    pub fn connect(&self, name: &ModelName) -> Result<Model, Unconnectable> {
        Ok(match name {
            ModelName::None => Model::None,
            ModelName::Builtin => Model::Builtin,
            ModelName::Replay(path) => Model::Provider(self.replay(path)?),
            ModelName::Remote(remote) => Model::Provider(Arc::new(self.remote(remote)?)),
        })
    }

    fn remote(&self, model: &RemoteModel) -> Result<Remote, Unconnectable> {
        let (preset, settings) = self.provider(&model.provider)?;
        let base = settings.base_url.as_deref().unwrap_or(&preset.base_url);
        let target = target(model.clone(), base)?;
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
        let is_set = |name: &str| {
            let mut names = settings.headers.iter().map(|header| &header.name);
            names.any(|known| known.eq_ignore_ascii_case(name))
        };
        let fixed = preset.headers.iter().filter(|(name, _)| !is_set(name));
        let fixed = fixed.map(|(name, value)| Header::open(name, value));
        let access = Access {
            headers: fixed.chain(settings.headers.iter().cloned()).collect(),
            key: Key {
                source: settings.key.clone(),
                scheme: preset.key.clone(),
                environment: self.world.environment.clone(),
                children: self.world.children.clone(),
                fetched: OnceLock::new(),
            },
            plain_text: settings.plain_text,
        };
        let dialect = preset.dialect(&model.model).with(&settings.dialect);
        let transport = Transport::Network(Arc::clone(&self.client), self.recorder.clone());
        Ok(self.model(target, access, dialect, transport))
    }

    /// A provider: its preset, and its settings in the configuration.
    fn provider(&self, name: &str) -> Result<(&'static Preset, ProviderSettings), Unconnectable> {
        let settings = self.settings.providers.get(name);
        let like = settings.and_then(|settings| settings.preset.as_deref());
        let reason = match (preset(like.unwrap_or(name)), settings, like) {
            (Some(preset), settings, _) => {
                let settings = settings.cloned().unwrap_or_default();
                if preset.name == name || settings.base_url.is_some() {
                    return Ok((preset, settings));
                }
                "it needs a `base_url`".to_owned()
            }
            (None, Some(_), Some(like)) => format!("there is no preset `{like}`"),
            (None, Some(_), None) => {
                "it needs a `preset`: the known provider that it resembles".to_owned()
            }
            (None, None, _) => {
                return Err(Unconnectable::UnknownProvider {
                    name: name.to_owned(),
                    suggestion: suggestion(name),
                });
            }
        };
        Err(Unconnectable::UnusableProvider {
            name: name.to_owned(),
            reason,
        })
    }

    fn replay(&self, path: &Path) -> Result<Arc<dyn Provider>, Unconnectable> {
        let recording = Arc::new(Recording::read(path)?);
        let mut models: Vec<Remote> = Vec::new();
        for exchange in recording.exchanges() {
            let model = RemoteModel {
                provider: exchange.provider.clone(),
                model: exchange.model.clone(),
            };
            let target = target(model, &exchange.base_url)?;
            // A model that was adapted appears in several dialects; the first is the original.
            if models.iter().all(|model| model.shared.target != target) {
                let transport = Transport::Replayed(Arc::clone(&recording));
                let dialect = exchange.dialect.clone();
                models.push(self.model(target, Access::default(), dialect, transport));
            }
        }
        Ok(Arc::new(Replayed { recording, models }))
    }

    fn model(
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
            clock: Arc::clone(&self.world.clock),
            ids: Arc::clone(&self.world.ids),
        };
        Remote {
            engine: self.engine.clone(),
            shared: Arc::new(shared),
        }
    }
}

fn target(model: RemoteModel, base: &str) -> Result<Target, Unconnectable> {
    match Address::parse(base) {
        Ok(base) => Ok(Target { model, base }),
        Err(error) => Err(Unconnectable::UnusableProvider {
            name: model.provider,
            reason: error.to_string(),
        }),
    }
}

/// A known provider with a similar name.
fn suggestion(name: &str) -> Option<String> {
    known_providers()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min()
        .filter(|(distance, _)| *distance <= 2)
        .map(|(_, known)| known.to_owned())
}
