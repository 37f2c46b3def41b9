//! Settings of models.

use std::collections::BTreeMap;

use super::key::KeySource;
use crate::api::DialectOverrides;
use crate::http::{Header, HttpSettings, PlainText};

/// The settings of models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelSettings {
    /// The model for labels, titles and recaps.
    pub fast: Option<ChosenModel>,
    /// The model for conversations.
    pub main: Option<ChosenModel>,
    /// Settings of providers, by name.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// HTTP settings.
    pub http: HttpSettings,
}

/// A configured model. Its name is checked on first use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    pub name: String,
    /// Origin of the choice: an option, a variable, or `fast_model` or `model` in the configuration file.
    pub by: &'static str,
}

/// The settings of a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderSettings {
    /// Name of the preset; by default the provider's own name.
    pub preset: Option<String>,
    /// Base URL.
    pub base_url: Option<String>,
    /// Source of the API key.
    pub key: KeySource,
    /// Headers of all requests.
    pub headers: Vec<Header>,
    /// Hosts to which keys may be sent unencrypted.
    pub plain_text: PlainText,
    /// Overrides of the dialect.
    pub dialect: DialectOverrides,
}
