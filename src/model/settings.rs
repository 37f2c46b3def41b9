//! What can be configured about models.

use std::collections::BTreeMap;

use super::key::KeySource;
use crate::api::DialectOverrides;
use crate::http::{Header, HttpSettings, PlainText};

/// The settings of models.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelSettings {
    /// The model for labels, titles and recaps.
    pub fast: Option<ChosenModel>,
    /// The model for the conversation itself.
    pub main: Option<ChosenModel>,
    /// The settings of providers, known ones and others.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// How requests are made.
    pub http: HttpSettings,
}

/// A model that was chosen. The name is checked when it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenModel {
    /// Its name.
    pub name: String,
    /// What chose it: a flag, a variable, or `fast_model` or `model` in the configuration file.
    pub by: &'static str,
}

/// The settings of a provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProviderSettings {
    /// The known provider that it resembles; without, the one of the same name.
    pub preset: Option<String>,
    /// Its address.
    pub base_url: Option<String>,
    /// Its key.
    pub key: KeySource,
    /// Headers of every request.
    pub headers: Vec<Header>,
    /// Where keys may be sent to without encryption.
    pub plain_text: PlainText,
    /// The differences of its API.
    pub dialect: DialectOverrides,
}
